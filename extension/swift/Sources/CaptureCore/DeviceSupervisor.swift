import Foundation

/// The life of the input device during one capture, as a pure state machine. Times in ms of the capture clock.
///
/// Every rebuild is the same: stop, wait until things have settled, start. A start that fails is tried again after
/// 0.25, 0.5, 1 and 2 s; then the device counts as lost, and for 30 s a new one is awaited while the file stays open.
public struct DeviceSupervisor {
    public enum State: Equatable {
        case idle
        /// `start` was asked for; the answer is awaited.
        case starting(since: Int64)
        case running
        /// The source is stopping; then `settle` ms pass before the next start.
        case stopping(settleMs: Int64)
        case settling(until: Int64)
        case waiting(until: Int64)
        case asleep(since: Int64, stopped: Bool)
        case ended
    }

    public enum Action: Equatable {
        case start
        case stop
        /// The device is lost: say so.
        case lost
        /// Nothing came back: end the capture.
        case giveUp
        /// The system slept too long to go on recording.
        case sleptTooLong
        /// The sound up to here is in the ring: store it, then let the system sleep.
        case readyToSleep
    }

    public static let retryDelaysMs: [Int64] = [250, 500, 1000, 2000]
    public static let awaitDeviceMs: Int64 = 30_000
    public static let maxSleepMs: Int64 = 600_000
    /// A stop that is not answered within this is taken as answered.
    public static let stopAnswerMs: Int64 = 1000
    /// A start that is not answered within this counts as failed.
    public static let startAnswerMs: Int64 = 10_000

    public private(set) var state: State = .idle
    /// Why sound is missing since the last run began; nil while nothing happened.
    public private(set) var gapReason: GapReason?
    private var failures = 0
    private var stopAsked: Int64 = 0

    public init() {}

    public mutating func begin(now: Int64) -> [Action] {
        state = .starting(since: now)
        return [.start]
    }

    /// A rebuild is wanted: the route, the format or the wish of the user changed.
    public mutating func change(_ reason: GapReason, settleMs: Int64, now: Int64) -> [Action] {
        switch state {
        case .running, .starting:
            note(reason)
            failures = 0
            return stopThen(settleMs: settleMs, now: now)
        case let .stopping(pending):
            state = .stopping(settleMs: max(pending, settleMs))
            return []
        case let .settling(until):
            // Changes come in bursts: the settling time counts from the last.
            state = .settling(until: max(until, now + settleMs))
            return []
        case .waiting:
            state = .settling(until: now + settleMs)
            return []
        case .idle, .asleep, .ended:
            return []
        }
    }

    public mutating func deviceLost(settleMs: Int64, now: Int64) -> [Action] {
        guard case .running = state else { return change(.deviceLost, settleMs: settleMs, now: now) }
        return [.lost] + change(.deviceLost, settleMs: settleMs, now: now)
    }

    public mutating func sourceRunning() {
        if case .starting = state { state = .running }
    }

    /// Sound flows again (or for the first time).
    public mutating func soundFlows() { failures = 0 }

    /// Why sound was missing before the run that now begins. What happens from here on is the next run's reason.
    public mutating func takeGapReason() -> GapReason? {
        defer { gapReason = nil }
        return gapReason
    }

    public mutating func sourceFailed(now: Int64) -> [Action] {
        guard case .starting = state else { return [] }
        note(.deviceLost)
        if failures < DeviceSupervisor.retryDelaysMs.count {
            state = .settling(until: now + DeviceSupervisor.retryDelaysMs[failures])
            failures += 1
            return []
        }
        failures = 0
        state = .waiting(until: now + DeviceSupervisor.awaitDeviceMs)
        return [.lost]
    }

    public mutating func sourceStopped(now: Int64) -> [Action] {
        switch state {
        case let .stopping(settleMs):
            state = .settling(until: now + settleMs)
            return []
        case let .asleep(since, stopped) where !stopped:
            state = .asleep(since: since, stopped: true)
            return [.readyToSleep]
        default:
            return []
        }
    }

    public mutating func willSleep(now: Int64) -> [Action] {
        switch state {
        case .running, .starting:
            gapReason = .sleep
            state = .asleep(since: now, stopped: false)
            stopAsked = now
            return [.stop]
        case .stopping, .settling, .waiting:
            gapReason = .sleep
            state = .asleep(since: now, stopped: true)
            return [.readyToSleep]
        case .idle, .asleep, .ended:
            return [.readyToSleep]
        }
    }

    public mutating func didWake(now: Int64, settleMs: Int64) -> [Action] {
        guard case let .asleep(since, _) = state else { return [] }
        if now - since > DeviceSupervisor.maxSleepMs {
            state = .ended
            return [.sleptTooLong]
        }
        failures = 0
        state = .settling(until: now + settleMs)
        return []
    }

    public mutating func tick(now: Int64) -> [Action] {
        switch state {
        case let .settling(until) where now >= until:
            state = .starting(since: now)
            return [.start]
        case .stopping where now - stopAsked >= DeviceSupervisor.stopAnswerMs:
            return sourceStopped(now: now)
        case let .asleep(_, stopped) where !stopped && now - stopAsked >= DeviceSupervisor.stopAnswerMs:
            return sourceStopped(now: now)
        case let .starting(since) where now - since >= DeviceSupervisor.startAnswerMs:
            return [.stop] + sourceFailed(now: now)
        case let .waiting(until) where now >= until:
            state = .ended
            return [.giveUp]
        default:
            return []
        }
    }

    public mutating func end() { state = .ended }

    private mutating func note(_ reason: GapReason) {
        // The first cause of a silence names it.
        if gapReason == nil { gapReason = reason }
    }

    private mutating func stopThen(settleMs: Int64, now: Int64) -> [Action] {
        state = .stopping(settleMs: settleMs)
        stopAsked = now
        return [.stop]
    }
}
