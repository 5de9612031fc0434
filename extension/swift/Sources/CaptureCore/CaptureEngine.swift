import Foundation

/// One capture: takes commands and source reports, moves samples from the ring to the file, says what it did.
///
/// The engine runs on one thread, the writer: `handle` and `tick` are never called at the same time. It asks the clock
/// it was given and never sleeps, so a test drives it in virtual time.
public final class CaptureEngine {
    public enum Input {
        case line(ParsedLine)
        case stdinClosed
        case parentExited
        case signal
        case source(SourceEvent)
    }

    private enum Phase {
        /// The asset is ours, nothing was started.
        case ready
        /// `start` came; the user is being asked for the microphone.
        case asking(id: RequestId?, deadline: Int64)
        /// `start` came; the first buffer is awaited.
        case starting(id: RequestId?, deadline: Int64)
        case capturing
        case tail(FinishReason, deadline: Int64)
        case stopping(FinishReason, deadline: Int64)
        case ended(Int32)
    }

    /// How long the user may take to answer the question for the microphone.
    static let permissionAnswerMs: Int64 = 120_000
    static let noCallbackMs: Int64 = 2000
    static let diskCheckMs: Int64 = 1000
    static let levelMs: Int64 = 100
    static let stopAnswerMs: Int64 = 1000
    static let settleMs: Int64 = 300
    static let settleBluetoothMs: Int64 = 1000

    private let asset: WavAsset
    private let source: AudioSource
    private let clock: CaptureClock
    private let emit: (Event) -> Void
    private let maxDataBytes: Int64

    private var configuration = CaptureConfiguration()
    private var phase: Phase = .ready
    private var supervisor = DeviceSupervisor()
    private var run = 0
    private var permission: PermissionStatus = .undetermined
    private var pinnedUid: String?

    // The stream of the current run.
    private var format: SourceFormat?
    private var converter: StreamConverter?
    private var firstBlockOfRun = true
    private var gapBefore: GapReason?
    private var device: DeviceInfo?
    private var mono: [Float] = []

    // What waits to be written, and the account of all frames. A frame is 1/24000 s.
    private var pending: [Int16] = []
    private var gapMs: Int64 = 0
    private var gaps = 0
    private var overrunFrames: Int64 = 0
    private var failure: CaptureFault?
    /// Where the tail after `stop` ends; it holds to the end.
    private var endFrame: Int64?
    private var hasMore = false

    private var hasStarted = false
    private var startedAt: Int64 = 0
    private var lastSoundAt: Int64 = 0
    /// From when on missing callbacks count.
    private var watchFrom: Int64 = 0
    private var startFault: CaptureFault?
    private var lastTickAt: Int64
    private var nextSyncAt: Int64 = 0
    private var nextLevelAt: Int64 = 0
    private var nextDiskCheckAt: Int64 = 0
    private var saidLowDisk = false
    private var saidNarrowband = false
    private var meter = LevelMeter()
    private var silence = SilenceWatch()
    private var sleepAcknowledgement: (() -> Void)?

    public init(
        asset: WavAsset, source: AudioSource, clock: CaptureClock, maxDataBytes: Int64 = WavFormat.maxDataBytes,
        emit: @escaping (Event) -> Void
    ) {
        self.asset = asset
        self.source = source
        self.clock = clock
        self.maxDataBytes = maxDataBytes
        self.emit = emit
        lastTickAt = clock.nowMs()
    }

    /// The exit status, once everything is done.
    public var exitCode: Int32? {
        if case let .ended(code) = phase { return code }
        return nil
    }

    /// How long the caller may wait for inputs before the next `tick`. In ms.
    public var patienceMs: Int {
        if hasMore { return 0 }
        if case .ready = phase { return 1000 }
        return 10
    }

    /// Says `ready`. The asset is open: lock held, header durable.
    public func begin(pid: Int32) {
        permission = source.permission()
        emit(.ready(pid: pid, permission: permission, device: source.device(uid: nil)))
    }

    // MARK: Inputs

    public func handle(_ input: Input) {
        guard exitCode == nil else { return }
        switch input {
        case let .line(.command(command)): handle(command)
        case let .line(.refused(id, _)): emit(.result(id: id, ok: false, code: .badArguments))
        case let .line(.unknown(id, message)):
            emit(.error(CaptureFault(.badCommand, message), fatal: false, id: id))
        case let .line(.malformed(message)):
            let fault = CaptureFault(.protocolError, message)
            // A bad line must not cost a recording.
            if case .ready = phase { fail(fault) } else { emit(.error(fault, fatal: false, id: nil)) }
        case .stdinClosed, .parentExited: finish(.parentExit, tailMs: 0)
        case .signal: finish(.signal, tailMs: 0)
        case let .source(event): handle(event)
        }
    }

    private func handle(_ command: Command) {
        switch command {
        case let .ping(id): emit(.result(id: id, ok: true, code: nil))
        case let .configure(id, wanted):
            guard case .ready = phase else { return emit(.result(id: id, ok: false, code: .protocolError)) }
            configuration = wanted
            pinnedUid = wanted.deviceUid
            if let uid = wanted.deviceUid, source.device(uid: uid) == nil {
                // The rest holds, and a `start` follows the system: the host decides and says so.
                pinnedUid = nil
                return emit(.result(id: id, ok: false, code: .deviceNotFound))
            }
            emit(.result(id: id, ok: true, code: nil))
        case let .start(id):
            guard case .ready = phase else {
                return emit(.error(CaptureFault(.protocolError, "already started"), fatal: false, id: id))
            }
            start(id: id)
        case let .setDevice(id, uid):
            if let uid, source.device(uid: uid) == nil {
                return emit(.result(id: id, ok: false, code: .deviceNotFound))
            }
            let changes = uid != pinnedUid && source.device(uid: uid)?.uid != device?.uid
            pinnedUid = uid
            emit(.result(id: id, ok: true, code: nil))
            // A device that is already in use is not set again: that alone can start a loop of route changes.
            if changes, isCapturing { perform(supervisor.change(.routeChange, settleMs: 0, now: clock.nowMs())) }
        case let .stop(_, tailMs):
            switch phase {
            case .ready, .asking, .starting: finish(.stop, tailMs: 0)
            case .capturing: finish(.stop, tailMs: Int64(tailMs ?? configuration.tailMs))
            case let .tail(reason, _): stopSource(reason)
            case .stopping, .ended: break
            }
        }
    }

    private func start(id: RequestId?) {
        if let free = asset.freeBytes(), free < configuration.minFreeBytes {
            return fail(CaptureFault(.diskFull, "less free space than minFreeBytes"))
        }
        notePermission(source.permission())
        switch permission {
        case .granted: startSource(id: id)
        case .denied: fail(CaptureFault(.permissionDenied, "the microphone is not allowed"))
        case .restricted: fail(CaptureFault(.permissionRestricted, "the microphone is restricted on this machine"))
        case .undetermined:
            phase = .asking(id: id, deadline: clock.nowMs() + CaptureEngine.permissionAnswerMs)
            source.requestPermission()
        }
    }

    private func startSource(id: RequestId?) {
        guard let device = source.device(uid: pinnedUid) else {
            return fail(CaptureFault(pinnedUid == nil ? .noInputDevice : .deviceNotFound, "there is no such input device"))
        }
        let timeout = Int64(configuration.startTimeoutMs ?? (device.isBluetooth ? 10_000 : 5000))
        phase = .starting(id: id, deadline: clock.nowMs() + timeout)
        perform(supervisor.begin(now: clock.nowMs()))
    }

    private func handle(_ event: SourceEvent) {
        let now = clock.nowMs()
        switch event {
        case let .running(number, started):
            guard number == run, isCapturing || isStarting else { return }
            supervisor.sourceRunning()
            adopt(started, now: now)
        case let .failed(number, fault):
            guard number == run, isCapturing || isStarting else { return }
            if isStarting {
                // A unit that fails may come up on the next try; the deadline of the start is the limit.
                guard fault.code == .audioUnitFailed else { return fail(fault) }
                startFault = fault
            } else {
                emit(.error(fault, fatal: false, id: nil))
            }
            perform(supervisor.sourceFailed(now: now))
        case let .stopped(number):
            guard number == run else { return }
            switch phase {
            case let .stopping(reason, _): finalise(reason)
            default:
                closeStream()
                perform(supervisor.sourceStopped(now: now))
            }
        case let .ended(number):
            guard number == run, isCapturing || isStarting else { return }
            pump(now: now)
            if isStarting {
                // An input without a single frame: said as started and finished, so that the host can close its books.
                if let format { sayStarted(format.device, now: now) }
            }
            if isCapturing { finish(.stop, tailMs: 0) }
        case let .deviceLost(number):
            guard number == run else { return }
            // What came before is in the ring, perhaps even the very first buffer.
            pump(now: now)
            guard isCapturing || isStarting else { return }
            perform(supervisor.deviceLost(settleMs: settleMs, now: now))
        case let .formatChanged(number):
            guard number == run else { return }
            pump(now: now)
            guard isCapturing || isStarting else { return }
            perform(supervisor.change(.routeChange, settleMs: settleMs, now: now))
        case let .defaultChanged(newDefault):
            guard isCapturing || isStarting else { return }
            guard pinnedUid == nil else { return }
            if newDefault?.uid == device?.uid, case .running = supervisor.state { return }
            emit(.device(.defaultChanged, newDefault))
            perform(supervisor.change(.routeChange, settleMs: settleMs, now: now))
        case .devicesChanged:
            if case .waiting = supervisor.state, source.device(uid: pinnedUid) != nil || source.device(uid: nil) != nil {
                perform(supervisor.change(.deviceLost, settleMs: settleMs, now: now))
            }
        case let .willSleep(acknowledge):
            pump(now: now)
            guard isCapturing else { return acknowledge() }
            sleepAcknowledgement = acknowledge
            perform(supervisor.willSleep(now: now))
        case .didWake:
            guard isCapturing else { return }
            perform(supervisor.didWake(now: now, settleMs: settleMs))
        case let .permission(status):
            notePermission(status)
            guard case let .asking(id, _) = phase else { return }
            switch status {
            case .granted: startSource(id: id)
            case .denied: fail(CaptureFault(.permissionDenied, "the microphone is not allowed"))
            case .restricted: fail(CaptureFault(.permissionRestricted, "the microphone is restricted on this machine"))
            case .undetermined: break
            }
        }
    }

    // MARK: Time

    public func tick() {
        guard exitCode == nil else { return }
        let now = clock.nowMs()
        // After a pause of the whole process, the ring is read before anything is called late.
        if now - lastTickAt > 1000 { watchFrom = now }
        lastTickAt = now
        pump(now: now)
        guard exitCode == nil else { return }
        perform(supervisor.tick(now: now))
        switch phase {
        case .ready, .ended: return
        case let .asking(_, deadline):
            if now >= deadline { fail(CaptureFault(.permissionTimeout, "the question for the microphone was not answered")) }
            return
        case let .starting(_, deadline):
            if now >= deadline { fail(startFault ?? CaptureFault(.startTimeout, "no sound arrived after start")) }
            return
        case .capturing:
            watchCallbacks(now: now)
            if let limit = configuration.maxDurationMs, source.isRealtime, now - startedAt >= Int64(limit) + 1000 {
                finish(.maxDuration, tailMs: 0)
            }
        case let .tail(reason, deadline):
            if now >= deadline { stopSource(reason) }
        case let .stopping(reason, deadline):
            if now >= deadline { return finalise(reason) }
        }
        level(now: now)
        if now >= nextSyncAt { checkpoint(now: now) }
        if now >= nextDiskCheckAt { checkDisk(now: now) }
    }

    private func watchCallbacks(now: Int64) {
        guard source.isRealtime, case .running = supervisor.state else { return }
        if now - max(watchFrom, lastSoundAt) >= CaptureEngine.noCallbackMs {
            watchFrom = now
            perform(supervisor.change(.routeChange, settleMs: 0, now: now))
        }
    }

    private func level(now: Int64) {
        guard isCapturing, now >= nextLevelAt, let reading = meter.read() else { return }
        nextLevelAt = now + CaptureEngine.levelMs
        emit(.level(peakDb: reading.peakDb, rmsDb: reading.rmsDb, zero: reading.zero))
    }

    private func checkpoint(now: Int64) {
        nextSyncAt = now + Int64(configuration.syncMs)
        guard failure == nil, asset.dataBytes > asset.syncedBytes else { return }
        if let fault = asset.checkpoint() { return writeFailed(fault) }
        emit(.synced(dataBytes: asset.syncedBytes))
    }

    private func checkDisk(now: Int64) {
        nextDiskCheckAt = now + CaptureEngine.diskCheckMs
        guard case .capturing = phase, let free = asset.freeBytes() else { return }
        if free < configuration.minFreeBytes {
            finish(.diskFull, tailMs: 0)
        } else if free < configuration.minFreeBytes * 2 {
            guard !saidLowDisk else { return }
            saidLowDisk = true
            emit(.warning(.lowDisk, facts: [("freeBytes", .int(free)), ("minFreeBytes", .int(configuration.minFreeBytes))]))
        } else {
            saidLowDisk = false
        }
    }

    // MARK: Sound

    private var isCapturing: Bool {
        switch phase {
        case .capturing, .tail: return true
        default: return false
        }
    }

    private var isStarting: Bool {
        if case .starting = phase { return true }
        return false
    }

    private var settleMs: Int64 {
        device?.isBluetooth == true ? CaptureEngine.settleBluetoothMs : CaptureEngine.settleMs
    }

    private var framesTaken: Int64 { asset.dataBytes / WavFormat.bytesPerFrame + Int64(pending.count) }

    /// The frame count at which the capture ends, and why.
    private var frameLimit: (frames: Int64, reason: FinishReason) {
        var limit = (frames: maxDataBytes / WavFormat.bytesPerFrame, reason: FinishReason.maxSize)
        if let milliseconds = configuration.maxDurationMs {
            let frames = max(0, Int64(milliseconds) - gapMs) * Int64(WavFormat.rate) / 1000
            if frames < limit.frames { limit = (frames, .maxDuration) }
        }
        if let endFrame, endFrame <= limit.frames { limit = (endFrame, .stop) }
        return limit
    }

    private func adopt(_ started: SourceFormat, now: Int64) {
        let before = format
        let previous = device
        format = started
        device = started.device
        converter = StreamConverter(inputRate: started.rate)
        firstBlockOfRun = true
        let reason = supervisor.takeGapReason()
        // A run that ended without a single frame leaves its reason to the next.
        gapBefore = gapBefore ?? reason
        watchFrom = now
        if started.device.isBluetooth, started.rate <= 16_000, !saidNarrowband {
            saidNarrowband = true
            emit(.warning(.narrowbandBluetooth, facts: [("rate", .int(Int64(started.rate)))]))
        }
        guard before != nil, let previous else { return }
        if previous.uid != started.device.uid {
            emit(.device(.switched, started.device))
        } else if before?.rate != started.rate || before?.ring.channels != started.ring.channels {
            emit(.device(.format, started.device))
        }
    }

    /// Moves everything from the ring through the converter to the file.
    private func pump(now: Int64) {
        guard let format, let converter, failure == nil else { return }
        switch phase {
        case .starting, .capturing, .tail: break
        case .stopping where hasStarted: break
        default: return
        }
        hasMore = false
        var read = 0
        while let block = format.ring.read() {
            soundArrived(block, format, now: now)
            guard failure == nil else { return }
            mix(block, channels: format.ring.channels)
            let zero = !block.samples.contains { $0 != 0 }
            mono.withUnsafeBufferPointer { samples in
                meter.add(samples)
                converter.feed(samples, into: &pending)
            }
            if silence.add(zero: zero, frames: block.frames, rate: format.rate) { warnSilent(format.device) }
            if !store() { return }
            // A source that is faster than real time must not keep commands and checkpoints waiting.
            read += block.frames
            if read >= format.rate * 5 {
                hasMore = true
                break
            }
        }
    }

    private func soundArrived(_ block: SampleRing.Block, _ format: SourceFormat, now: Int64) {
        let wasFlowing = hasStarted
        if case .starting = phase { sayStarted(format.device, now: now) }
        if firstBlockOfRun {
            firstBlockOfRun = false
            if wasFlowing, let reason = gapBefore {
                noteGap(ms: format.gapMs ?? max(0, now - lastSoundAt), reason)
            }
            gapBefore = nil
            supervisor.soundFlows()
        }
        if block.droppedBefore > 0 { noteOverrun(frames: block.droppedBefore, rate: format.rate) }
        lastSoundAt = now
    }

    private func sayStarted(_ device: DeviceInfo, now: Int64) {
        guard case let .starting(id, _) = phase else { return }
        phase = .capturing
        hasStarted = true
        startedAt = now
        nextSyncAt = now + Int64(configuration.syncMs)
        nextDiskCheckAt = now + CaptureEngine.diskCheckMs
        nextLevelAt = now
        emit(.started(id: id, wallTime: clock.wallTime(), device: device))
    }

    private func noteOverrun(frames: Int64, rate: Int) {
        let ms = (frames * 1000 + Int64(rate) / 2) / Int64(rate)
        overrunFrames += (frames * Int64(WavFormat.rate) + Int64(rate) / 2) / Int64(rate)
        noteGap(ms: ms, .overrun)
    }

    private func noteGap(ms: Int64, _ reason: GapReason) {
        // What came before the gap is announced before it.
        flush(all: true)
        guard failure == nil else { return }
        gaps += 1
        emit(.gap(atOffset: WavFormat.dataOffset + asset.dataBytes, durationMs: ms, reason: reason))
        gapMs += ms
    }

    /// One channel as it is, two averaged.
    private func mix(_ block: SampleRing.Block, channels: Int) {
        mono.removeAll(keepingCapacity: true)
        if channels == 1 {
            mono.append(contentsOf: block.samples)
            return
        }
        var at = 0
        for _ in 0..<block.frames {
            var sum: Float = 0
            for channel in 0..<channels { sum += block.samples[at + channel] }
            mono.append(sum / Float(channels))
            at += channels
        }
    }

    /// Writes whole chunks, up to the limit. False when the capture is over.
    private func store() -> Bool {
        let limit = frameLimit
        let excess = framesTaken - limit.frames
        let reached = excess >= 0
        if excess > 0 { pending.removeLast(Int(min(excess, Int64(pending.count)))) }
        flush(all: reached)
        guard failure == nil else { return false }
        guard reached else { return true }
        switch phase {
        case let .tail(reason, _): stopSource(reason)
        case .capturing, .starting: finish(limit.reason, tailMs: 0)
        default: break
        }
        return false
    }

    private func flush(all: Bool) {
        let chunk = WavFormat.rate * configuration.chunkMs / 1000
        var taken = 0
        while failure == nil, pending.count - taken >= chunk || (all && taken < pending.count) {
            let count = min(chunk, pending.count - taken)
            let offset = WavFormat.dataOffset + asset.dataBytes
            let captureMs = asset.dataBytes / WavFormat.bytesPerFrame * 1000 / Int64(WavFormat.rate) + gapMs
            let (bytes, fault) = asset.append(Array(pending[taken..<(taken + count)]))
            if bytes > 0 { emit(.chunk(offset: offset, bytes: bytes, captureMs: captureMs)) }
            taken += count
            if let fault { writeFailed(fault) }
        }
        pending.removeFirst(min(taken, pending.count))
    }

    private func warnSilent(_ device: DeviceInfo) {
        let now = source.permission()
        if now != permission {
            notePermission(now)
            if now != .granted { emit(.warning(.permissionLost, facts: [("permission", .string(now.rawValue))])) }
        }
        emit(
            .warning(
                .silentInput,
                facts: [("permission", .string(now.rawValue)), ("transport", .string(device.transport))]
                    + source.silenceFacts()))
    }

    private func notePermission(_ status: PermissionStatus) {
        guard status != permission else { return }
        permission = status
        emit(.permission(status))
    }

    /// The stream of this run is over: what its converter still holds belongs before the gap.
    private func closeStream() {
        pump(now: clock.nowMs())
        guard let format, let converter, failure == nil else { return }
        while let block = format.ring.read() {
            mix(block, channels: format.ring.channels)
            mono.withUnsafeBufferPointer { converter.feed($0, into: &pending) }
        }
        converter.finish(into: &pending)
        self.converter = nil
        let excess = framesTaken - frameLimit.frames
        if excess > 0 { pending.removeLast(Int(min(excess, Int64(pending.count)))) }
        flush(all: true)
        let dropped = format.ring.droppedTail()
        if dropped > 0, failure == nil { noteOverrun(frames: dropped, rate: format.rate) }
    }

    // MARK: Device

    private func perform(_ actions: [DeviceSupervisor.Action]) {
        for action in actions {
            switch action {
            case .start:
                guard isCapturing || isStarting else { break }
                run += 1
                var uid = pinnedUid
                // A pinned device that is away is replaced by the default one, and `switched` says so.
                if let wanted = uid, source.device(uid: wanted) == nil { uid = nil }
                source.start(uid: uid, channel: configuration.channel, run: run)
            case .stop:
                source.stop(run: run)
            case .lost:
                if isCapturing { emit(.device(.lost, device)) }
            case .giveUp:
                emit(.error(CaptureFault(.deviceLost, "no input device came back"), fatal: true, id: nil))
                finish(.deviceLost, tailMs: 0)
            case .sleptTooLong:
                finish(.sleepTimeout, tailMs: 0)
            case .readyToSleep:
                closeStream()
                checkpoint(now: clock.nowMs())
                sleepAcknowledgement?()
                sleepAcknowledgement = nil
            }
        }
    }

    // MARK: The end

    private func finish(_ reason: FinishReason, tailMs: Int64) {
        let now = clock.nowMs()
        switch phase {
        case .ready, .asking:
            emit(.finishing(reason))
            finalise(reason)
        case .starting:
            emit(.finishing(reason))
            stopSource(reason)
        case .capturing:
            pump(now: now)
            // Pumping may have met a limit or a fault, which then is the reason.
            guard case .capturing = phase else { return }
            emit(.finishing(reason))
            guard tailMs > 0, case .running = supervisor.state else { return stopSource(reason) }
            endFrame = framesTaken + tailMs * Int64(WavFormat.rate) / 1000
            phase = .tail(reason, deadline: now + tailMs + 500)
        case let .tail(asked, _):
            stopSource(reason == .stop ? asked : reason)
        case .stopping, .ended:
            break
        }
    }

    private func stopSource(_ reason: FinishReason) {
        let alreadyStopped: Bool
        switch supervisor.state {
        case .running, .starting, .stopping: alreadyStopped = false
        case let .asleep(_, stopped): alreadyStopped = stopped
        case .idle, .settling, .waiting, .ended: alreadyStopped = true
        }
        supervisor.end()
        if alreadyStopped { return finalise(reason) }
        phase = .stopping(reason, deadline: clock.nowMs() + CaptureEngine.stopAnswerMs)
        source.stop(run: run)
    }

    private func finalise(_ reason: FinishReason) {
        if case .ended = phase { return }
        supervisor.end()
        if hasStarted { closeStream() }
        var reason = reason
        if let fault = asset.finalise(), failure == nil {
            failure = fault
            emit(.error(fault, fatal: true, id: nil))
        }
        if let failure { reason = failure.code == .diskFull ? .diskFull : .writeFailed }
        sleepAcknowledgement?()
        sleepAcknowledgement = nil
        let frames = asset.dataBytes / WavFormat.bytesPerFrame
        emit(
            .finished(
                Finished(
                    reason: reason, dataBytes: asset.dataBytes, frames: frames,
                    durationMs: frames * 1000 / Int64(WavFormat.rate), gaps: gaps, overrunFrames: overrunFrames)))
        phase = .ended(failure?.code.exitCode ?? 0)
    }

    private func writeFailed(_ fault: CaptureFault) {
        guard failure == nil else { return }
        failure = fault
        emit(.error(fault, fatal: true, id: nil))
        let reason: FinishReason = fault.code == .diskFull ? .diskFull : .writeFailed
        switch phase {
        case .capturing:
            emit(.finishing(reason))
            stopSource(reason)
        case .tail: stopSource(reason)
        default: break
        }
    }

    /// A fatal error before any sound: no `finished`, the exit status says it.
    private func fail(_ fault: CaptureFault) {
        emit(.error(fault, fatal: true, id: nil))
        if case .starting = phase { source.stop(run: run) }
        supervisor.end()
        _ = asset.finalise()
        phase = .ended(fault.code.exitCode)
    }
}
