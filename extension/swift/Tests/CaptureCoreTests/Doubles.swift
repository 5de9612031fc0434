import CaptureSupport
import Foundation
import XCTest

import CaptureCore

final class TestClock: CaptureClock {
    var now: Int64 = 1_000_000
    func nowMs() -> Int64 { now }
    func wallTime() -> String { "2025-01-02T03:04:05.006Z" }
}

/// A file in memory that records what was done to it, and fails where it is told to.
final class MemoryFile: AssetFile {
    enum Operation: Equatable {
        case lock
        case write(offset: Int64, count: Int)
        case sync(full: Bool)
        case truncate(Int64)
        case close
    }
    var bytes: [UInt8] = []
    var operations: [Operation] = []
    var status = FileFacts(isRegular: true, size: 0, links: 1, writable: true, appends: false)
    var lockError: PosixError?
    /// The n-th operation (from 0) of write, sync, truncate fails with this.
    var failAt: Int?
    var failWith = PosixError(EIO)
    /// Everything from the failing operation on fails.
    var failForEver = false
    /// Bytes that fit; a write beyond is partial, then fails with ENOSPC.
    var capacity = Int64.max
    var free: Int64? = Int64.max
    /// Cuts every write to this many bytes.
    var maxWrite = Int.max
    private var count = 0

    private func fails() -> Bool {
        defer { count += 1 }
        guard let failAt else { return false }
        return failForEver ? count >= failAt : count == failAt
    }

    func facts() -> Result<FileFacts, PosixError> {
        var facts = status
        facts.size = max(facts.size, Int64(bytes.count))
        return .success(facts)
    }
    func lock() -> PosixError? {
        operations.append(.lock)
        return lockError
    }
    func write(_ data: UnsafeRawBufferPointer, at offset: Int64) -> Result<Int, PosixError> {
        if fails() { return .failure(failWith) }
        let room = capacity - offset
        let count = min(data.count, maxWrite, Int(clamping: room))
        if count <= 0 { return .failure(PosixError(ENOSPC)) }
        operations.append(.write(offset: offset, count: count))
        let end = Int(offset) + count
        if bytes.count < end { bytes.append(contentsOf: repeatElement(0, count: end - bytes.count)) }
        bytes.replaceSubrange(Int(offset)..<end, with: data[0..<count])
        return .success(count)
    }
    func sync(full: Bool) -> PosixError? {
        if fails() { return failWith }
        operations.append(.sync(full: full))
        return nil
    }
    func truncate(to size: Int64) -> PosixError? {
        if fails() { return failWith }
        operations.append(.truncate(size))
        bytes.removeLast(bytes.count - Int(size))
        return nil
    }
    func freeBytes() -> Int64? { free }
    func close() { operations.append(.close) }

    /// Data size that the header claims, when the header is whole and consistent.
    var claimed: Int64? {
        guard bytes.count >= 44 else { return nil }
        let number = { (at: Int) in (0..<4).reduce(Int64(0)) { $0 | Int64(self.bytes[at + $1]) << Int64(8 * $1) } }
        guard number(4) == number(40) + 36 else { return nil }
        return number(40)
    }
    var samples: [Int16] {
        stride(from: 44, to: bytes.count - 1, by: 2).map { Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8) }
    }
}

/// A source whose every report is made by the test, at once.
final class ScriptedSource: AudioSource {
    var isRealtime = true
    var status = PermissionStatus.granted
    var devices = [
        DeviceInfo(uid: "mic", name: "Microphone", transport: "built-in", rate: 48_000, channels: 1, isDefault: true),
        DeviceInfo(uid: "usb", name: "USB", transport: "usb", rate: 44_100, channels: 2, isDefault: false),
    ]
    private(set) var starts: [(uid: String?, run: Int)] = []
    private(set) var stops: [Int] = []
    private(set) var asked = 0
    /// nil: the next start succeeds.
    var nextFailure: CaptureFault?
    var answersStops = true
    var ring: SampleRing?
    var report: (SourceEvent) -> Void = { _ in }
    var queue: [SourceEvent] = []

    func attach(_ report: @escaping (SourceEvent) -> Void) { self.report = report }
    func permission() -> PermissionStatus { status }
    func requestPermission() { asked += 1 }
    func device(uid: String?) -> DeviceInfo? {
        uid == nil ? devices.first { $0.isDefault } : devices.first { $0.uid == uid }
    }
    func start(uid: String?, channel: Int?, run: Int) {
        starts.append((uid, run))
        if let fault = nextFailure { return queue.append(.failed(run: run, fault)) }
        guard let found = device(uid: uid) else {
            return queue.append(.failed(run: run, CaptureFault(.audioUnitFailed, "away")))
        }
        let ring = SampleRing(channels: found.channels, rate: found.rate)!
        self.ring = ring
        queue.append(.running(run: run, SourceFormat(device: found, rate: found.rate, ring: ring)))
    }
    func stop(run: Int) {
        stops.append(run)
        if answersStops { queue.append(.stopped(run: run)) }
    }
    func silenceFacts() -> [(String, JSONValue)] { [("lidClosed", .bool(true))] }
}

/// An engine with everything around it in the test's hand.
final class Bench {
    let clock = TestClock()
    let file = MemoryFile()
    let source: ScriptedSource
    let asset: WavAsset
    private(set) var engine: CaptureEngine!
    private(set) var events: [Event] = []
    private(set) var lines: [[String: Any]] = []
    private var seq: Int64 = 0

    init(maxDataBytes: Int64 = WavFormat.maxDataBytes, prepare: (MemoryFile, ScriptedSource) -> Void = { _, _ in }) {
        source = ScriptedSource()
        prepare(file, source)
        asset = WavAsset(file: file)
        XCTAssertNil(asset.open())
        source.attach { [unowned self] in source.queue.append($0) }
        engine = CaptureEngine(asset: asset, source: source, clock: clock, maxDataBytes: maxDataBytes) { [unowned self] in
            seq += 1
            events.append($0)
            let line = $0.line(seq: seq, t: clock.now)
            lines.append(try! JSONSerialization.jsonObject(with: Data(line.utf8)) as! [String: Any])
        }
        engine.begin(pid: 7)
    }

    func command(_ text: String) {
        engine.handle(.line(parseCommand(Data(text.utf8))))
        settle()
    }
    func handle(_ input: CaptureEngine.Input) {
        engine.handle(input)
        settle()
    }
    /// Hands over the reports that wait.
    func settle() {
        while !source.queue.isEmpty { engine.handle(.source(source.queue.removeFirst())) }
    }
    /// Lets time pass in steps of 10 ms; with `sound`, frames of that value arrive meanwhile.
    func pass(_ ms: Int64, sound: Float? = nil) {
        for _ in 0..<(ms / 10) {
            guard engine.exitCode == nil else { return }
            clock.now += 10
            if let sound, let ring = source.ring, let format = source.devices.first(where: { $0.channels == ring.channels }) {
                let frames = format.rate / 100
                let block = [Float](repeating: sound, count: frames * ring.channels)
                _ = capture_ring_write(ring.pointer, block, UInt32(frames))
            }
            engine.tick()
            settle()
        }
    }
    func begin(_ configure: String = "") {
        command(#"{"type":"configure","id":"c","deviceUid":null\#(configure)}"#)
        command(#"{"type":"start","id":"s"}"#)
    }
    func all(_ type: String) -> [[String: Any]] { lines.filter { $0["type"] as? String == type } }
    func last(_ type: String) -> [String: Any]? { all(type).last }
    var types: [String] { lines.compactMap { $0["type"] as? String } }

    /// What must hold whatever happened: chunks lie end to end from 44 on, the file holds what was announced.
    func checkBooks(file line: UInt = #line) {
        var next: Int64 = 44
        for chunk in all("chunk") {
            XCTAssertEqual((chunk["offset"] as? NSNumber)?.int64Value, next, line: line)
            next += (chunk["bytes"] as! NSNumber).int64Value
        }
        XCTAssertEqual(next - 44, asset.dataBytes, line: line)
        if let finished = last("finished") {
            XCTAssertEqual(types.last, "finished", line: line)
            XCTAssertEqual((finished["dataBytes"] as! NSNumber).int64Value, asset.dataBytes, line: line)
        }
    }
}

func int(_ object: [String: Any]?, _ key: String) -> Int64? { (object?[key] as? NSNumber)?.int64Value }
func text(_ object: [String: Any]?, _ key: String) -> String? { object?[key] as? String }
