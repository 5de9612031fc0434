#if canImport(CoreAudio)
    // Never compiled where this was written: there was no Mac. Names are from AUComponent.h, AudioUnitProperties.h,
    // AudioOutputUnit.h (AudioToolbox) and AudioHardware.h (CoreAudio). Only this file touches the audio unit.
    import AudioToolbox
    import CaptureCore
    import CaptureSupport
    import CoreAudio
    import Foundation

    /// What the input callback needs: plain values, made before the unit runs and freed after it stopped.
    private struct InputContext {
        let unit: AudioUnit
        let ring: OpaquePointer
        let samples: UnsafeMutablePointer<Float>
        let maxFrames: UInt32
        let channels: UInt32
    }

    /// Runs on the audio thread: no lock, no allocation, no reference counting, no system call of its own.
    private let onInput: AURenderCallback = { refCon, flags, timeStamp, _, frames, _ in
        let context = refCon.assumingMemoryBound(to: InputContext.self)
        let channels = context.pointee.channels
        guard frames <= context.pointee.maxFrames else {
            capture_ring_count_dropped(context.pointee.ring, frames)
            return noErr
        }
        var list = AudioBufferList(
            mNumberBuffers: 1,
            mBuffers: AudioBuffer(
                mNumberChannels: channels, mDataByteSize: frames * channels * UInt32(MemoryLayout<Float>.size),
                mData: UnsafeMutableRawPointer(context.pointee.samples)))
        if AudioUnitRender(context.pointee.unit, flags, timeStamp, 1, frames, &list) == noErr {
            _ = capture_ring_write(context.pointee.ring, context.pointee.samples, frames)
        } else {
            capture_ring_count_dropped(context.pointee.ring, frames)
        }
        return noErr
    }

    /// A microphone through the HAL's output unit, input only, at the device's own rate: an exact device without
    /// touching the system's default, and errors as status codes.
    final class MicrophoneSource: AudioSource {
        private static let inputBus: AudioUnitElement = 1
        private static let outputBus: AudioUnitElement = 0

        let isRealtime = true
        private let queue = DispatchQueue(label: "persyk.capture.device")
        private var report: (SourceEvent) -> Void = { _ in }
        private var systemListeners: [PropertyListener] = []
        private let power = PowerWatch()

        // Used on the queue only.
        private var unit: AudioUnit?
        private var context: UnsafeMutablePointer<InputContext>?
        private var ring: SampleRing?
        private var deviceListeners: [PropertyListener] = []
        private var deviceId = AudioObjectID(kAudioObjectUnknown)

        func attach(_ report: @escaping (SourceEvent) -> Void) {
            self.report = report
            systemListeners = [
                PropertyListener(AudioHardware.system, kAudioHardwarePropertyDefaultInputDevice, queue: queue) {
                    report(.defaultChanged(AudioHardware.resolve(uid: nil)?.info))
                },
                PropertyListener(AudioHardware.system, kAudioHardwarePropertyDevices, queue: queue) {
                    report(.devicesChanged)
                },
            ]
            power.start(
                willSleep: { acknowledge in report(.willSleep(acknowledge: acknowledge)) }, didWake: { report(.didWake) })
        }

        func permission() -> PermissionStatus { microphonePermission(request: false) }

        func requestPermission() {
            let report = self.report
            askForMicrophone { report(.permission($0)) }
        }

        func device(uid: String?) -> DeviceInfo? { AudioHardware.resolve(uid: uid)?.info }

        func silenceFacts() -> [(String, JSONValue)] {
            var facts: [(String, JSONValue)] = []
            if let closed = lidIsClosed() { facts.append(("lidClosed", .bool(closed))) }
            let id = queue.sync { deviceId }
            if let muted = AudioHardware.value(id, kAudioDevicePropertyMute, kAudioObjectPropertyScopeInput, initial: UInt32(0)) {
                facts.append(("muted", .bool(muted != 0)))
            }
            return facts
        }

        func start(uid: String?, channel: Int?, run: Int) {
            queue.async { [self] in
                close()
                do {
                    guard let (id, info) = AudioHardware.resolve(uid: uid) else {
                        // Tried again: a device that comes back takes a moment.
                        throw CaptureFault(.audioUnitFailed, "there is no usable input device")
                    }
                    let format = try open(id, info, channel: channel)
                    listen(id, format: format, channels: info.channels, run: run)
                    report(.running(run: run, format))
                    try check(AudioOutputUnitStart(try opened()), "the audio unit does not start")
                    power.preventIdleSleep(true)
                } catch let fault as CaptureFault {
                    close()
                    report(.failed(run: run, fault))
                } catch {
                    close()
                    report(.failed(run: run, CaptureFault(.internal, "the audio unit cannot be set up")))
                }
            }
        }

        func stop(run: Int) {
            queue.async { [self] in
                close()
                report(.stopped(run: run))
            }
        }

        // MARK: The unit, on the queue

        private func opened() throws -> AudioUnit {
            guard let unit else { throw CaptureFault(.audioUnitFailed, "there is no audio unit") }
            return unit
        }

        private func check(_ status: OSStatus, _ what: String) throws {
            if status != noErr { throw CaptureFault(.audioUnitFailed, what, osStatus: status) }
        }

        private func set<T>(
            _ property: AudioUnitPropertyID, _ scope: AudioUnitScope, _ element: AudioUnitElement, _ value: T, _ what: String
        ) throws {
            let unit = try opened()
            var value = value
            try check(
                AudioUnitSetProperty(unit, property, scope, element, &value, UInt32(MemoryLayout<T>.size)), what)
        }

        private func open(_ id: AudioObjectID, _ info: DeviceInfo, channel: Int?) throws -> SourceFormat {
            var description = AudioComponentDescription(
                componentType: kAudioUnitType_Output, componentSubType: kAudioUnitSubType_HALOutput,
                componentManufacturer: kAudioUnitManufacturer_Apple, componentFlags: 0, componentFlagsMask: 0)
            guard let component = AudioComponentFindNext(nil, &description) else {
                throw CaptureFault(.audioUnitFailed, "the HAL output unit is missing")
            }
            var made: AudioComponentInstance?
            try check(AudioComponentInstanceNew(component, &made), "the audio unit cannot be made")
            unit = made
            let unit = try opened()

            // Input on, output off, in this order and before the device is set.
            try set(kAudioOutputUnitProperty_EnableIO, kAudioUnitScope_Input, Self.inputBus, UInt32(1), "input cannot be enabled")
            try set(
                kAudioOutputUnitProperty_EnableIO, kAudioUnitScope_Output, Self.outputBus, UInt32(0),
                "output cannot be disabled")
            try set(
                kAudioOutputUnitProperty_CurrentDevice, kAudioUnitScope_Global, Self.outputBus, id, "the device cannot be set")

            // The device's own format is read anew at every start: a Bluetooth device changes it while it settles.
            var hardware = AudioStreamBasicDescription()
            var size = UInt32(MemoryLayout<AudioStreamBasicDescription>.size)
            try check(
                AudioUnitGetProperty(
                    unit, kAudioUnitProperty_StreamFormat, kAudioUnitScope_Input, Self.inputBus, &hardware, &size),
                "the device's format cannot be read")
            let rate = Int(hardware.mSampleRate.rounded())
            let available = Int(hardware.mChannelsPerFrame)
            guard (1000...768_000).contains(rate), available > 0 else {
                throw CaptureFault(.audioUnitFailed, "the device has no usable format yet")
            }

            // The unit converts sample type and layout, not the rate: interleaved floats of the wanted channels.
            let map = AudioHardware.channels(id, of: available, wanted: channel)
            let channels = UInt32(map.count)
            let bytesPerFrame = channels * UInt32(MemoryLayout<Float>.size)
            let client = AudioStreamBasicDescription(
                mSampleRate: hardware.mSampleRate, mFormatID: kAudioFormatLinearPCM,
                mFormatFlags: kAudioFormatFlagIsFloat | kAudioFormatFlagsNativeEndian | kAudioFormatFlagIsPacked,
                mBytesPerPacket: bytesPerFrame, mFramesPerPacket: 1, mBytesPerFrame: bytesPerFrame,
                mChannelsPerFrame: channels, mBitsPerChannel: 32, mReserved: 0)
            try set(
                kAudioUnitProperty_StreamFormat, kAudioUnitScope_Output, Self.inputBus, client, "the format cannot be set")
            if available > map.count {
                let status = map.withUnsafeBufferPointer {
                    AudioUnitSetProperty(
                        unit, kAudioOutputUnitProperty_ChannelMap, kAudioUnitScope_Output, Self.inputBus, $0.baseAddress,
                        UInt32($0.count * MemoryLayout<Int32>.size))
                }
                try check(status, "the channels cannot be chosen")
            }

            var maxFrames: UInt32 = 0
            size = UInt32(MemoryLayout<UInt32>.size)
            if AudioUnitGetProperty(
                unit, kAudioUnitProperty_MaximumFramesPerSlice, kAudioUnitScope_Global, Self.outputBus, &maxFrames, &size)
                != noErr
            {
                maxFrames = 0
            }
            maxFrames = max(maxFrames, 8192)
            guard let ring = SampleRing(channels: Int(channels), rate: rate) else {
                throw CaptureFault(.internal, "no memory for the ring")
            }
            self.ring = ring
            let samples = UnsafeMutablePointer<Float>.allocate(capacity: Int(maxFrames * channels))
            samples.initialize(repeating: 0, count: Int(maxFrames * channels))
            let context = UnsafeMutablePointer<InputContext>.allocate(capacity: 1)
            context.initialize(
                to: InputContext(
                    unit: unit, ring: ring.pointer, samples: samples, maxFrames: maxFrames, channels: channels))
            self.context = context
            try set(
                kAudioOutputUnitProperty_SetInputCallback, kAudioUnitScope_Global, Self.outputBus,
                AURenderCallbackStruct(inputProc: onInput, inputProcRefCon: UnsafeMutableRawPointer(context)),
                "the callback cannot be set")
            try check(AudioUnitInitialize(unit), "the audio unit cannot be initialised")
            deviceId = id
            var device = info
            device.rate = rate
            return SourceFormat(device: device, rate: rate, ring: ring)
        }

        private func listen(_ id: AudioObjectID, format: SourceFormat, channels: Int, run: Int) {
            let report = self.report
            let rate = format.rate
            // Only a real change counts: starting the unit makes some devices announce what they already had.
            let formatMayDiffer = {
                if AudioHardware.rate(id) != rate || AudioHardware.inputChannels(id) != channels {
                    report(.formatChanged(run: run))
                }
            }
            deviceListeners = [
                PropertyListener(id, kAudioDevicePropertyDeviceIsAlive, queue: queue) {
                    if AudioHardware.value(id, kAudioDevicePropertyDeviceIsAlive, initial: UInt32(0)) != 1 {
                        report(.deviceLost(run: run))
                    }
                },
                PropertyListener(id, kAudioDevicePropertyNominalSampleRate, queue: queue, changed: formatMayDiffer),
                PropertyListener(
                    id, kAudioDevicePropertyStreamConfiguration, kAudioObjectPropertyScopeInput, queue: queue,
                    changed: formatMayDiffer),
                PropertyListener(id, kAudioDevicePropertyDeviceIsRunningSomewhere, queue: queue) { [weak self] in
                    // It stopped under us: a rebuild brings it back.
                    guard self?.unit != nil,
                        AudioHardware.value(id, kAudioDevicePropertyDeviceIsRunningSomewhere, initial: UInt32(1)) == 0
                    else { return }
                    report(.formatChanged(run: run))
                },
            ]
        }

        /// Stops the unit. Once `AudioOutputUnitStop` has returned, the callback does not run any more.
        private func close() {
            for listener in deviceListeners { listener.stop() }
            deviceListeners = []
            if let unit {
                AudioOutputUnitStop(unit)
                AudioUnitUninitialize(unit)
                AudioComponentInstanceDispose(unit)
            }
            unit = nil
            if let context {
                context.pointee.samples.deallocate()
                context.deallocate()
            }
            context = nil
            // The engine holds the ring as long as it reads from it.
            ring = nil
            power.preventIdleSleep(false)
        }
    }

    public func makeMicrophone() throws -> AudioSource { MicrophoneSource() }
#endif
