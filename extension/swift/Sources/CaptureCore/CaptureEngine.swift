import Foundation

/// One capture: takes commands and source reports, moves samples from the ring to the file, says what it did.
///
/// The engine runs on one thread, the writer: `handle` and `tick` are never called at the same time. It asks the clock
/// it was given and never sleeps, so a test drives it in virtual time. Here are its phases, its sound, its watches and
/// its end; what comes from outside is in `EngineInputs.swift`.
public final class CaptureEngine {
    enum Phase {
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

    static let noCallbackMs: Int64 = 2000
    static let diskCheckMs: Int64 = 1000
    static let levelMs: Int64 = 100
    static let stopAnswerMs: Int64 = 1000
    static let settleMs: Int64 = 300
    static let settleBluetoothMs: Int64 = 1000

    let source: AudioSource
    let clock: CaptureClock
    let emit: (Event) -> Void
    let writer: SoundWriter

    var configuration = CaptureConfiguration() {
        didSet { writer.configure(configuration) }
    }
    var phase: Phase = .ready
    var supervisor = DeviceSupervisor()
    /// The number of the source's latest start.
    var run = 0
    var permission: PermissionStatus = .undetermined
    var pinnedUid: String?
    /// Why the last try to start failed.
    var startFault: CaptureFault?
    var sleepAcknowledgement: (() -> Void)?

    /// The latest run that came up; over once its sound is stored.
    private(set) var stream: SourceStream?
    private var gapBefore: GapReason?
    private var hasMore = false

    private var hasStarted = false
    private var startedAt: Int64 = 0
    private var lastSoundAt: Int64 = 0
    /// From when on missing callbacks count.
    private var watchFrom: Int64 = 0
    private var lastTickAt: Int64
    private var nextSyncAt: Int64 = 0
    private var nextLevelAt: Int64 = 0
    private var nextDiskCheckAt: Int64 = 0
    private var saidLowDisk = false
    private var saidNarrowband = false
    private var meter = LevelMeter()
    private var silence = SilenceWatch()

    public init(
        asset: WavAsset, source: AudioSource, clock: CaptureClock, maxDataBytes: Int64 = WavFormat.maxDataBytes,
        emit: @escaping (Event) -> Void
    ) {
        self.source = source
        self.clock = clock
        self.emit = emit
        writer = SoundWriter(asset: asset, maxDataBytes: maxDataBytes, configuration: configuration, emit: emit)
        lastTickAt = clock.nowMs()
        writer.onFailure = { [unowned self] in writingFailed($0.writeReason) }
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

    var isCapturing: Bool {
        switch phase {
        case .capturing, .tail: return true
        default: return false
        }
    }

    var isStarting: Bool {
        if case .starting = phase { return true }
        return false
    }

    var device: DeviceInfo? { stream?.format.device }

    var settleMs: Int64 {
        device?.isBluetooth == true ? CaptureEngine.settleBluetoothMs : CaptureEngine.settleMs
    }

    /// Says `ready`. The asset is open: lock held, header durable.
    public func begin(pid: Int32) {
        permission = source.permission()
        emit(.ready(pid: pid, permission: permission, device: source.device(uid: nil)))
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

    func checkpoint(now: Int64) {
        nextSyncAt = now + Int64(configuration.syncMs)
        writer.checkpoint()
    }

    private func checkDisk(now: Int64) {
        nextDiskCheckAt = now + CaptureEngine.diskCheckMs
        guard case .capturing = phase, let free = writer.freeBytes() else { return }
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

    /// A run of the source came up.
    func adopt(_ started: SourceFormat, now: Int64) {
        let before = stream?.format
        stream = SourceStream(started)
        let reason = supervisor.takeGapReason()
        // A run that ended without a single frame leaves its reason to the next.
        gapBefore = gapBefore ?? reason
        watchFrom = now
        if started.device.isBluetooth, started.rate <= 16_000, !saidNarrowband {
            saidNarrowband = true
            emit(.warning(.narrowbandBluetooth, facts: [("rate", .int(Int64(started.rate)))]))
        }
        guard let before else { return }
        if before.device.uid != started.device.uid {
            emit(.device(.switched, started.device))
        } else if before.rate != started.rate || before.ring.channels != started.ring.channels {
            emit(.device(.format, started.device))
        }
    }

    /// Moves what is in the ring through the converter to the file.
    func pump(now: Int64) {
        hasMore = false
        guard let stream, !stream.isOver, writer.failure == nil else { return }
        switch phase {
        case .starting, .capturing, .tail: break
        case .stopping where hasStarted: break
        default: return
        }
        let format = stream.format
        var read = 0
        while let block = stream.read() {
            soundArrived(block, stream, now: now)
            guard writer.failure == nil else { return }
            let zero = !block.samples.contains { $0 != 0 }
            stream.convert(block, into: &writer.pending) { meter.add($0) }
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

    private func soundArrived(_ block: SampleRing.Block, _ stream: SourceStream, now: Int64) {
        let format = stream.format
        let wasFlowing = hasStarted
        sayStarted(format.device, now: now)
        if !stream.hasSound {
            if wasFlowing, let reason = gapBefore {
                writer.noteGap(ms: format.gapMs ?? max(0, now - lastSoundAt), reason)
            }
            gapBefore = nil
            supervisor.soundFlows()
        }
        if block.droppedBefore > 0 { writer.noteOverrun(frames: block.droppedBefore, rate: format.rate) }
        lastSoundAt = now
    }

    /// Says `started`, once.
    func sayStarted(_ device: DeviceInfo, now: Int64) {
        guard case let .starting(id, _) = phase else { return }
        phase = .capturing
        hasStarted = true
        startedAt = now
        nextSyncAt = now + Int64(configuration.syncMs)
        nextDiskCheckAt = now + CaptureEngine.diskCheckMs
        nextLevelAt = now
        emit(.started(id: id, wallTime: clock.wallTime(), device: device))
    }

    /// False when the capture is over.
    private func store() -> Bool {
        let reached = writer.store()
        guard writer.failure == nil else { return false }
        guard let reached else { return true }
        switch phase {
        case let .tail(reason, _): stopSource(reason)
        case .capturing, .starting: finish(reached, tailMs: 0)
        default: break
        }
        return false
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
                facts: [
                    ("atOffset", .int(writer.endOffset)), ("permission", .string(now.rawValue)),
                    ("transport", .string(device.transport)),
                ] + source.silenceFacts()))
    }

    /// The stream of this run is over: all of it, and what its converter still holds, belongs before the gap.
    func closeStream() {
        repeat { pump(now: clock.nowMs()) } while hasMore
        guard let stream, !stream.isOver, writer.failure == nil else { return }
        let dropped = stream.finish(into: &writer.pending)
        writer.storeAll()
        if dropped > 0, writer.failure == nil { writer.noteOverrun(frames: dropped, rate: stream.format.rate) }
    }

    // MARK: The end

    func finish(_ reason: FinishReason, tailMs: Int64) {
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
            writer.endAfter(tailMs: tailMs)
            phase = .tail(reason, deadline: now + tailMs + 500)
        case let .tail(asked, _):
            stopSource(reason == .stop ? asked : reason)
        case .stopping, .ended:
            break
        }
    }

    func stopSource(_ reason: FinishReason) {
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

    func finalise(_ reason: FinishReason) {
        if case .ended = phase { return }
        supervisor.end()
        // The end has begun: a fault in storing the rest does not begin another.
        phase = .stopping(reason, deadline: clock.nowMs())
        if hasStarted { closeStream() }
        let finished = writer.close(reason)
        letSleep()
        emit(.finished(finished))
        phase = .ended(writer.failure?.code.exitCode ?? 0)
    }

    private func writingFailed(_ reason: FinishReason) {
        switch phase {
        case .capturing:
            emit(.finishing(reason))
            stopSource(reason)
        case .tail: stopSource(reason)
        default: break
        }
    }

    /// A fatal error before any sound: no `finished`, the exit status says it.
    func fail(_ fault: CaptureFault) {
        emit(.error(fault, fatal: true, id: nil))
        if isStarting { source.stop(run: run) }
        supervisor.end()
        writer.abandon()
        phase = .ended(fault.code.exitCode)
    }

    func letSleep() {
        sleepAcknowledgement?()
        sleepAcknowledgement = nil
    }
}
