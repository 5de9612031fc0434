#if canImport(CoreAudio)
    // Never compiled where this was written: there was no Mac. Every name is from Apple's headers AudioHardware.h,
    // AudioHardwareBase.h and CoreAudioBaseTypes.h. `docs/helper-mac-checklist.md` says what to look at first.
    import CaptureCore
    import CoreAudio
    import Foundation

    /// Reading of audio object properties. nil when the object does not have the property, or has gone.
    enum AudioHardware {
        static let system = AudioObjectID(kAudioObjectSystemObject)

        static func address(
            _ selector: AudioObjectPropertySelector, _ scope: AudioObjectPropertyScope = kAudioObjectPropertyScopeGlobal
        ) -> AudioObjectPropertyAddress {
            AudioObjectPropertyAddress(mSelector: selector, mScope: scope, mElement: kAudioObjectPropertyElementMain)
        }

        /// A property of a plain type, such as UInt32 or Float64.
        static func value<T>(
            _ object: AudioObjectID, _ selector: AudioObjectPropertySelector,
            _ scope: AudioObjectPropertyScope = kAudioObjectPropertyScopeGlobal, initial: T
        ) -> T? {
            var at = address(selector, scope)
            var size = UInt32(MemoryLayout<T>.size)
            var value = initial
            let status = withUnsafeMutablePointer(to: &value) {
                AudioObjectGetPropertyData(object, &at, 0, nil, &size, $0)
            }
            return status == noErr ? value : nil
        }

        static func text(_ object: AudioObjectID, _ selector: AudioObjectPropertySelector) -> String? {
            let empty: Unmanaged<CFString>? = nil
            guard let found = value(object, selector, initial: empty) else { return nil }
            return found?.takeRetainedValue() as String?
        }

        static func objects(_ object: AudioObjectID, _ selector: AudioObjectPropertySelector) -> [AudioObjectID] {
            var at = address(selector)
            var size: UInt32 = 0
            guard AudioObjectGetPropertyDataSize(object, &at, 0, nil, &size) == noErr, size > 0 else { return [] }
            var ids = [AudioObjectID](repeating: 0, count: Int(size) / MemoryLayout<AudioObjectID>.size)
            guard AudioObjectGetPropertyData(object, &at, 0, nil, &size, &ids) == noErr else { return [] }
            return Array(ids.prefix(Int(size) / MemoryLayout<AudioObjectID>.size))
        }

        /// Input channels of a device over all its streams.
        static func inputChannels(_ device: AudioObjectID) -> Int {
            var at = address(kAudioDevicePropertyStreamConfiguration, kAudioObjectPropertyScopeInput)
            var size: UInt32 = 0
            guard AudioObjectGetPropertyDataSize(device, &at, 0, nil, &size) == noErr,
                Int(size) >= MemoryLayout<AudioBufferList>.size
            else { return 0 }
            let raw = UnsafeMutableRawPointer.allocate(
                byteCount: Int(size), alignment: MemoryLayout<AudioBufferList>.alignment)
            defer { raw.deallocate() }
            guard AudioObjectGetPropertyData(device, &at, 0, nil, &size, raw) == noErr else { return 0 }
            let list = UnsafeMutableAudioBufferListPointer(raw.assumingMemoryBound(to: AudioBufferList.self))
            return list.reduce(0) { $0 + Int($1.mNumberChannels) }
        }

        static func rate(_ device: AudioObjectID) -> Int {
            Int((value(device, kAudioDevicePropertyNominalSampleRate, initial: Float64(0)) ?? 0).rounded())
        }

        static func defaultInput() -> AudioObjectID? {
            let id = value(system, kAudioHardwarePropertyDefaultInputDevice, initial: AudioObjectID(kAudioObjectUnknown))
            return id == AudioObjectID(kAudioObjectUnknown) ? nil : id
        }

        static func transport(_ device: AudioObjectID) -> String {
            let kind = value(device, kAudioDevicePropertyTransportType, initial: UInt32(0)) ?? 0
            switch kind {
            case kAudioDeviceTransportTypeBuiltIn: return "built-in"
            case kAudioDeviceTransportTypeUSB: return "usb"
            case kAudioDeviceTransportTypeBluetooth: return "bluetooth"
            case kAudioDeviceTransportTypeBluetoothLE: return "bluetooth-le"
            case kAudioDeviceTransportTypeThunderbolt: return "thunderbolt"
            case kAudioDeviceTransportTypeFireWire: return "firewire"
            case kAudioDeviceTransportTypePCI: return "pci"
            case kAudioDeviceTransportTypeHDMI: return "hdmi"
            case kAudioDeviceTransportTypeDisplayPort: return "displayport"
            case kAudioDeviceTransportTypeAirPlay: return "airplay"
            case kAudioDeviceTransportTypeAVB: return "avb"
            case kAudioDeviceTransportTypeAggregate: return "aggregate"
            case kAudioDeviceTransportTypeAutoAggregate: return "auto-aggregate"
            case kAudioDeviceTransportTypeVirtual: return "virtual"
            case kAudioDeviceTransportTypeContinuityCaptureWired: return "continuity-wired"
            case kAudioDeviceTransportTypeContinuityCaptureWireless: return "continuity-wireless"
            default: return "unknown"
            }
        }

        /// The device as the protocol shows it; nil when it has no input or no UID.
        static func describe(_ device: AudioObjectID) -> DeviceInfo? {
            let channels = inputChannels(device)
            guard channels > 0, let uid = text(device, kAudioDevicePropertyDeviceUID) else { return nil }
            return DeviceInfo(
                uid: uid, name: text(device, kAudioObjectPropertyName) ?? uid, transport: transport(device),
                rate: rate(device), channels: channels, isDefault: device == defaultInput())
        }

        /// All devices with an input, nothing hidden.
        static func inputs() -> [(id: AudioObjectID, info: DeviceInfo)] {
            objects(system, kAudioHardwarePropertyDevices).compactMap { id in describe(id).map { (id, $0) } }
        }

        /// The device of a UID, looked up anew every time. For nil the system's default; but a virtual, aggregate or
        /// unknown one is never chosen by itself: then a built-in microphone, then any real one.
        static func resolve(uid: String?) -> (id: AudioObjectID, info: DeviceInfo)? {
            let all = inputs()
            if let uid { return all.first { $0.info.uid == uid } }
            let real = all.filter {
                !["virtual", "aggregate", "auto-aggregate", "unknown", "airplay"].contains($0.info.transport)
            }
            return real.first { $0.info.isDefault } ?? real.first { $0.info.transport == "built-in" } ?? real.first
        }

        /// The channels to take, from 0: the wanted one, or the device's preferred stereo pair.
        static func channels(_ device: AudioObjectID, of count: Int, wanted: Int?) -> [Int32] {
            if let wanted { return [Int32(min(wanted, count - 1))] }
            if count == 1 { return [0] }
            let first = (UInt32(1), UInt32(2))
            let pair =
                value(
                    device, kAudioDevicePropertyPreferredChannelsForStereo, kAudioObjectPropertyScopeInput, initial: first)
                ?? first
            let picked = [Int32(pair.0) - 1, Int32(pair.1) - 1]
            return picked.allSatisfy { $0 >= 0 && $0 < Int32(count) } && picked[0] != picked[1] ? picked : [0, 1]
        }
    }

    /// Listens to one property until it is told to stop.
    final class PropertyListener {
        private let object: AudioObjectID
        private var at: AudioObjectPropertyAddress
        private let queue: DispatchQueue
        private let block: AudioObjectPropertyListenerBlock

        init(
            _ object: AudioObjectID, _ selector: AudioObjectPropertySelector,
            _ scope: AudioObjectPropertyScope = kAudioObjectPropertyScopeGlobal, queue: DispatchQueue,
            changed: @escaping () -> Void
        ) {
            self.object = object
            at = AudioHardware.address(selector, scope)
            self.queue = queue
            block = { _, _ in changed() }
            // A property that the device does not have is not listened to; its changes do not exist.
            _ = AudioObjectAddPropertyListenerBlock(object, &at, queue, block)
        }

        func stop() {
            _ = AudioObjectRemovePropertyListenerBlock(object, &at, queue, block)
        }
    }

    public func inputDevices() -> [DeviceInfo] { AudioHardware.inputs().map(\.info) }
#endif
