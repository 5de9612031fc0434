import Foundation
import XCTest

import CaptureCore

/// Filled by one thread, read by another after a semaphore.
private final class Received: @unchecked Sendable {
    var data = Data()
}

final class EventQueueTests: XCTestCase {
    private func drain(_ queue: inout EventQueue) -> [[String: Any]] {
        var lines: [[String: Any]] = []
        while let line = queue.pop() {
            lines.append(try! JSONSerialization.jsonObject(with: Data(line)) as! [String: Any])
        }
        return lines
    }

    func testASilentReaderCostsAFewEventsOfMemory() {
        var queue = EventQueue()
        for n in 0..<360_000 {
            queue.push(.chunk(offset: 44 + Int64(n) * 4800, bytes: 4800, captureMs: Int64(n) * 100), t: Int64(n))
            queue.push(.level(peakDb: -1, rmsDb: -2, zero: false), t: Int64(n))
            if n % 10 == 9 { queue.push(.synced(dataBytes: Int64(n + 1) * 4800), t: Int64(n)) }
            XCTAssertLessThan(queue.items.count, 16)
        }
        let lines = drain(&queue)
        let chunks = lines.filter { $0["type"] as? String == "chunk" }
        XCTAssertEqual(chunks.reduce(0) { $0 + (int($1, "bytes") ?? 0) }, 360_000 * 4800)
        XCTAssertEqual(int(lines.last { $0["type"] as? String == "synced" }, "dataBytes"), 360_000 * 4800)
    }

    /// Random pushes and pops: chunks stay end to end, what says something about order keeps its place, seq has no holes.
    func testMergingLosesNothingAndReordersNothing() {
        var seed: UInt64 = 7
        func random(_ bound: UInt64) -> UInt64 {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (seed >> 33) % bound
        }
        for _ in 0..<200 {
            var queue = EventQueue()
            var out: [[String: Any]] = []
            var offset: Int64 = 44
            var gapsAt: [Int64] = []
            for step in 0..<300 {
                switch random(10) {
                case 0...3:
                    queue.push(.chunk(offset: offset, bytes: 2, captureMs: offset), t: Int64(step))
                    offset += 2
                case 4, 5: queue.push(.level(peakDb: 0, rmsDb: 0, zero: true), t: Int64(step))
                case 6: queue.push(.synced(dataBytes: offset - 44), t: Int64(step))
                case 7:
                    queue.push(.gap(atOffset: offset, durationMs: 1, reason: .overrun), t: Int64(step))
                    gapsAt.append(offset)
                default:
                    if let line = queue.pop() {
                        out.append(try! JSONSerialization.jsonObject(with: Data(line)) as! [String: Any])
                    }
                }
            }
            out += drain(&queue)
            var next: Int64 = 44
            var seenGaps: [Int64] = []
            var lastT: Int64 = 0
            for (index, line) in out.enumerated() {
                XCTAssertEqual(int(line, "seq"), Int64(index + 1))
                XCTAssertGreaterThanOrEqual(int(line, "t")!, lastT)
                lastT = int(line, "t")!
                switch line["type"] as? String {
                case "chunk":
                    XCTAssertEqual(int(line, "offset"), next)
                    XCTAssertEqual(int(line, "captureMs"), next)
                    next += int(line, "bytes")!
                case "gap":
                    XCTAssertEqual(int(line, "atOffset"), next)
                    seenGaps.append(next)
                case "synced":
                    XCTAssertLessThanOrEqual(int(line, "dataBytes")! + 44, next)
                default: break
                }
            }
            XCTAssertEqual(next, offset)
            XCTAssertEqual(seenGaps, gapsAt)
        }
    }

    func testTheQueueIsBounded() {
        var queue = EventQueue()
        for n in 0..<10_000 { queue.push(.gap(atOffset: Int64(n), durationMs: 1, reason: .overrun), t: 0) }
        XCTAssertTrue(queue.overflowed)
        XCTAssertLessThanOrEqual(queue.items.count, EventQueue.limit + 1)
    }

    // MARK: The channel, on a real pipe

    func testAReaderThatStopsAndComesBackGetsEverything() {
        var ends: [Int32] = [0, 0]
        XCTAssertEqual(pipe(&ends), 0)
        let clock = SystemClock()
        let channel = EventChannel(descriptor: ends[1], clock: clock)
        for n in 0..<50_000 { channel.send(.chunk(offset: 44 + Int64(n) * 2, bytes: 2, captureMs: 0)) }
        channel.send(.finishing(.stop))
        let readEnd = ends[0]
        let received = Received()
        let got = DispatchSemaphore(value: 0)
        Thread {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while !received.data.suffix(200).contains("finishing".data(using: .utf8)!) {
                let count = read(readEnd, &buffer, buffer.count)
                if count <= 0 { break }
                received.data.append(contentsOf: buffer[0..<count])
            }
            got.signal()
        }.start()
        XCTAssertEqual(got.wait(timeout: .now() + 60), .success)
        channel.drain(timeoutMs: 60_000)
        var next: Int64 = 44
        for (index, line) in received.data.split(separator: 0x0A).enumerated() {
            let object = try! JSONSerialization.jsonObject(with: Data(line)) as! [String: Any]
            XCTAssertEqual(int(object, "seq"), Int64(index + 1))
            if object["type"] as? String == "chunk" {
                XCTAssertEqual(int(object, "offset"), next)
                next += int(object, "bytes")!
            }
        }
        XCTAssertEqual(next, 44 + 100_000)
        close(ends[0])
        close(ends[1])
    }

    func testAClosedReaderOnlyEndsTheEvents() {
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [0, 0]
        XCTAssertEqual(pipe(&ends), 0)
        close(ends[0])
        let channel = EventChannel(descriptor: ends[1], clock: SystemClock())
        for n in 0..<100 { channel.send(.synced(dataBytes: Int64(n))) }
        channel.drain(timeoutMs: 60_000)
        close(ends[1])
    }

    func testAReaderThatNeverReadsDoesNotHoldTheEndUp() {
        var ends: [Int32] = [0, 0]
        XCTAssertEqual(pipe(&ends), 0)
        let channel = EventChannel(descriptor: ends[1], clock: SystemClock())
        for n in 0..<3000 { channel.send(.gap(atOffset: Int64(n), durationMs: 1, reason: .overrun)) }
        channel.drain(timeoutMs: 50)
        // Getting here is the point: the writer is still blocked in its thread.
        close(ends[0])
    }
}
