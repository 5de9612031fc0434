import CaptureSupport
import Foundation

/// A source whose sound is made or read by a thread here: a file, or a tone with faults. `pace` is the speed (1 = real
/// time); 0 = as fast as the writer takes it. The ring is never overrun, because the thread waits for room.
public class GeneratedSource: AudioSource, @unchecked Sendable {
    public let pace: Double
    let clock: CaptureClock
    private var report: (SourceEvent) -> Void = { _ in }
    private let condition = NSCondition()
    private var stopWanted = 0

    init(pace: Double, clock: CaptureClock) {
        self.pace = pace
        self.clock = clock
    }

    public var isRealtime: Bool { false }
    public func attach(_ report: @escaping (SourceEvent) -> Void) { self.report = report }
    public func permission() -> PermissionStatus { .granted }
    public func requestPermission() { report(.permission(.granted)) }
    public func device(uid: String?) -> DeviceInfo? { nil }
    public func silenceFacts() -> [(String, JSONValue)] { [] }

    public func start(uid: String?, channel: Int?, run: Int) {
        let thread = Thread { [self] in produce(uid: uid, channel: channel, run: run) }
        thread.name = "source"
        thread.start()
    }

    public func stop(run: Int) {
        condition.lock()
        stopWanted = max(stopWanted, run)
        condition.broadcast()
        condition.unlock()
    }

    func send(_ event: SourceEvent) { report(event) }

    /// Waits, but not beyond a stop. True when the run is to stop.
    func pause(ms: Double, run: Int) -> Bool {
        let deadline = Date(timeIntervalSinceNow: ms / 1000)
        condition.lock()
        defer { condition.unlock() }
        while stopWanted < run {
            if !condition.wait(until: deadline) { break }
        }
        return stopWanted >= run
    }

    func waitForStop(run: Int) {
        while !pause(ms: 3_600_000, run: run) {}
    }

    /// Body of the thread.
    func produce(uid: String?, channel: Int?, run: Int) {}

    /// Puts frames into the ring at the source's pace. True when the run is to stop.
    func deliver(_ samples: [Float], channels: Int, into ring: SampleRing, rate: Int, timing: inout Timing, run: Int) -> Bool {
        let frames = samples.count / channels
        if pace > 0 {
            timing.sent += Int64(frames)
            let dueMs = Double(timing.sent) * 1000 / Double(rate) / pace
            while true {
                let early = dueMs - Double(clock.nowMs() - timing.beganAt)
                if early <= 0 { break }
                if pause(ms: early, run: run) { return true }
            }
        }
        while Int(capture_ring_room(ring.pointer)) < frames {
            if pause(ms: 1, run: run) { return true }
        }
        _ = samples.withUnsafeBufferPointer { capture_ring_write(ring.pointer, $0.baseAddress, UInt32(frames)) }
        return pause(ms: 0, run: run)
    }

    struct Timing {
        var beganAt: Int64
        var sent: Int64 = 0
    }
}

/// Plays a WAV file as if it were a microphone, once.
public final class FileSource: GeneratedSource, @unchecked Sendable {
    private let input: WavInput

    public init(path: String, pace: Double, clock: CaptureClock) throws {
        input = try WavInput(path: path)
        super.init(pace: pace, clock: clock)
    }

    public override func device(uid: String?) -> DeviceInfo? {
        guard uid == nil || uid == "file" else { return nil }
        return DeviceInfo(
            uid: "file", name: "Audio File", transport: "virtual", rate: input.rate, channels: input.channels, isDefault: true)
    }

    override func produce(uid: String?, channel: Int?, run: Int) {
        let picked = channel.map { [min($0, input.channels - 1)] } ?? (input.channels == 1 ? [0] : [0, 1])
        guard let device = device(uid: nil), let ring = SampleRing(channels: picked.count, rate: input.rate) else {
            return send(.failed(run: run, CaptureFault(.internal, "no memory for the ring")))
        }
        send(.running(run: run, SourceFormat(device: device, rate: input.rate, ring: ring)))
        var timing = Timing(beganAt: clock.nowMs())
        // 20 ms a block, as a device would bring them; larger ones when nobody waits for them in real time.
        let block = pace > 0 ? max(1, input.rate / 50) : 8192
        do {
            while true {
                let samples = try input.read(frames: block, channels: picked)
                if samples.isEmpty { break }
                if deliver(samples, channels: picked.count, into: ring, rate: input.rate, timing: &timing, run: run) {
                    return send(.stopped(run: run))
                }
            }
            send(.ended(run: run))
        } catch {
            send(.failed(run: run, CaptureFault(.deviceLost, "reading the input file failed")))
        }
        waitForStop(run: run)
        send(.stopped(run: run))
    }
}

/// A fault of the synthetic source. Times in ms of the source's own clock.
public enum SyntheticFault: Equatable {
    case silence(at: Int64, ms: Int64)
    case stall(at: Int64)
    case lost(at: Int64, ms: Int64)
    case gone(at: Int64)
    case format(at: Int64, rate: Int)
    case sleep(at: Int64, ms: Int64)
    case overrun(at: Int64, ms: Int64)

    var at: Int64 {
        switch self {
        case let .silence(at, _), let .stall(at), let .lost(at, _), let .gone(at), let .format(at, _), let .sleep(at, _),
            let .overrun(at, _):
            return at
        }
    }

    /// `name@T` or `name@T:VALUE`; nil when it is neither.
    public init?(_ text: String) {
        let parts = text.split(separator: "@", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return nil }
        let numbers = parts[1].split(separator: ":", omittingEmptySubsequences: false).map { Int64($0) }
        guard let at = numbers.first ?? nil, at >= 0, numbers.count <= 2 else { return nil }
        let value = numbers.count == 2 ? numbers[1] : nil
        if numbers.count == 2, value == nil || value! < 0 { return nil }
        switch (parts[0], value) {
        case ("silence", let ms?): self = .silence(at: at, ms: ms)
        case ("stall", nil): self = .stall(at: at)
        case ("lost", let ms?): self = .lost(at: at, ms: ms)
        case ("gone", nil): self = .gone(at: at)
        case ("format", let rate?) where (1000...768_000).contains(rate): self = .format(at: at, rate: Int(rate))
        case ("sleep", let ms?): self = .sleep(at: at, ms: ms)
        case ("overrun", let ms?): self = .overrun(at: at, ms: ms)
        default: return nil
        }
    }
}

public struct SyntheticOptions {
    public var rate = 48_000
    public var channels = 1
    public var toneHz = 440.0
    /// nil = without end.
    public var seconds: Double?
    public var faults: [SyntheticFault] = []
    public init() {}
}

/// A tone with a little noise, and on request the faults of a real device. Its clock goes on through rebuilds.
public final class SyntheticSource: GeneratedSource, @unchecked Sendable {
    private let options: SyntheticOptions
    private let lock = NSLock()
    // Guarded by the lock.
    private var rate: Int
    private var present = ["synthetic-1", "synthetic-2"]
    private var faults: [SyntheticFault]
    private var positionMs: Int64 = 0
    private var gapMs: Int64?
    private var noise: UInt32 = 1

    public init(options: SyntheticOptions, pace: Double, clock: CaptureClock) {
        self.options = options
        rate = options.rate
        faults = options.faults.sorted { $0.at < $1.at }
        super.init(pace: pace, clock: clock)
    }

    public override var isRealtime: Bool {
        // Only a source that can fall silent is watched: a busy machine is no fault of the device.
        options.faults.contains { if case .stall = $0 { return true } else { return false } }
    }

    public override func device(uid: String?) -> DeviceInfo? {
        lock.lock()
        defer { lock.unlock() }
        guard let found = uid == nil ? present.first : present.first(where: { $0 == uid }) else { return nil }
        return DeviceInfo(
            uid: found, name: found == "synthetic-1" ? "Synthetic Input 1" : "Synthetic Input 2", transport: "virtual",
            rate: rate, channels: options.channels, isDefault: found == present.first)
    }

    public override func silenceFacts() -> [(String, JSONValue)] { [("muted", .bool(false))] }

    private func nextFault(before endMs: Int64) -> SyntheticFault? {
        lock.lock()
        defer { lock.unlock() }
        guard let first = faults.first(where: { if case .silence = $0 { return false } else { return $0.at < endMs } }) else {
            return nil
        }
        faults.removeAll { $0 == first }
        return first
    }

    override func produce(uid: String?, channel: Int?, run: Int) {
        guard let device = device(uid: uid) else {
            return send(.failed(run: run, CaptureFault(.audioUnitFailed, "the device is away")))
        }
        let channels = channel == nil ? min(options.channels, 2) : 1
        lock.lock()
        let rate = self.rate
        let gap = gapMs
        gapMs = nil
        lock.unlock()
        guard let ring = SampleRing(channels: channels, rate: rate) else {
            return send(.failed(run: run, CaptureFault(.internal, "no memory for the ring")))
        }
        send(.running(run: run, SourceFormat(device: device, rate: rate, ring: ring, gapMs: gap)))
        var timing = Timing(beganAt: clock.nowMs())
        let startMs = positionMs
        var frame: Int64 = 0
        let lastFrame = options.seconds.map { Int64(($0 * 1000 - Double(startMs)) * Double(rate) / 1000) }
        while true {
            // Block sizes that divide nothing, as real devices have them after a rate change.
            var frames = [471, 512, 509][Int(frame % 3)]
            if let lastFrame { frames = Int(min(Int64(frames), lastFrame - frame)) }
            if frames <= 0 {
                send(.ended(run: run))
                break
            }
            let endMs = startMs + (frame + Int64(frames)) * 1000 / Int64(rate)
            if let fault = nextFault(before: endMs), act(fault, ring: ring, rate: rate, run: run) { break }
            let samples = tone(from: frame, count: frames, channels: channels, rate: rate, startMs: startMs)
            if deliver(samples, channels: channels, into: ring, rate: rate, timing: &timing, run: run) {
                positionMs = endMs
                return send(.stopped(run: run))
            }
            frame += Int64(frames)
            positionMs = endMs
        }
        waitForStop(run: run)
        send(.stopped(run: run))
    }

    /// True when no more sound comes in this run.
    private func act(_ fault: SyntheticFault, ring: SampleRing, rate: Int, run: Int) -> Bool {
        switch fault {
        case .silence: return false
        case let .overrun(_, ms):
            capture_ring_count_dropped(ring.pointer, UInt32(ms * Int64(rate) / 1000))
            return false
        case .stall: return true
        case let .format(_, newRate):
            lock.lock()
            self.rate = newRate
            if pace == 0 { gapMs = 0 }
            lock.unlock()
            send(.formatChanged(run: run))
        case let .lost(_, ms):
            lock.lock()
            present.removeAll()
            if pace == 0 { gapMs = ms }
            lock.unlock()
            send(.deviceLost(run: run))
            after(ms) {
                self.lock.lock()
                self.present = ["synthetic-2"]
                self.lock.unlock()
                self.send(.devicesChanged)
            }
        case .gone:
            lock.lock()
            present.removeAll()
            lock.unlock()
            send(.deviceLost(run: run))
        case let .sleep(_, ms):
            lock.lock()
            if pace == 0 { gapMs = ms }
            lock.unlock()
            send(.willSleep { self.after(ms) { self.send(.didWake) } })
        }
        return true
    }

    private func after(_ ms: Int64, _ body: @escaping @Sendable () -> Void) {
        let seconds = pace == 0 ? 0 : Double(ms) / 1000 / pace
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: body)
    }

    private func tone(from first: Int64, count: Int, channels: Int, rate: Int, startMs: Int64) -> [Float] {
        let silent = options.faults.compactMap { fault -> (Int64, Int64)? in
            if case let .silence(at, ms) = fault { return (at, at + ms) } else { return nil }
        }
        var samples = [Float](repeating: 0, count: count * channels)
        for index in 0..<count {
            let frame = first + Int64(index)
            let ms = startMs + frame * 1000 / Int64(rate)
            if silent.contains(where: { $0.0 <= ms && ms < $0.1 }) { continue }
            noise = noise &* 1_664_525 &+ 1_013_904_223
            let hiss = Float(noise >> 8) / 16_777_216 - 0.5
            let value = Float(sin(2 * Double.pi * options.toneHz * Double(frame) / Double(rate))) * 0.25 + hiss * 0.002
            for channel in 0..<channels { samples[index * channels + channel] = value }
        }
        return samples
    }
}
