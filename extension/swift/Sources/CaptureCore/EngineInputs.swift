import Foundation

/// What reaches the engine from outside: commands, the end of stdin and of the parent, signals, and the source's reports;
/// and what the device's state machine wants done about them.
extension CaptureEngine {
    public enum Input {
        case line(ParsedLine)
        case stdinClosed
        case parentExited
        case signal
        case source(SourceEvent)
    }

    /// How long the user may take to answer the question for the microphone.
    static let permissionAnswerMs: Int64 = 120_000

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
        if let free = writer.freeBytes(), free < configuration.minFreeBytes {
            return fail(CaptureFault(.diskFull, "less free space than minFreeBytes"))
        }
        notePermission(source.permission())
        startIfPermitted(id: id)
    }

    private func startIfPermitted(id: RequestId?) {
        switch permission {
        case .granted: startSource(id: id)
        case .denied: fail(CaptureFault(.permissionDenied, "the microphone is not allowed"))
        case .restricted: fail(CaptureFault(.permissionRestricted, "the microphone is restricted on this machine"))
        case .undetermined:
            if case .asking = phase { return }
            phase = .asking(id: id, deadline: clock.nowMs() + CaptureEngine.permissionAnswerMs)
            source.requestPermission()
        }
    }

    func notePermission(_ status: PermissionStatus) {
        guard status != permission else { return }
        permission = status
        emit(.permission(status))
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
                if let device { sayStarted(device, now: now) }
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
            if case let .asking(id, _) = phase { startIfPermitted(id: id) }
        }
    }

    // MARK: Device

    func perform(_ actions: [DeviceSupervisor.Action]) {
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
                letSleep()
            }
        }
    }
}
