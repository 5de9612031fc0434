import CaptureSupport
import Foundation
import XCTest

import CaptureCore

/// The ring is made for two threads.
private struct Shared: @unchecked Sendable {
    let ring: OpaquePointer
}

final class RingTests: XCTestCase {
    func testBlocksComeBackInOrderAcrossTheEdge() {
        let ring = capture_ring_create(2, 10, 4)!
        defer { capture_ring_destroy(ring) }
        var into = [Float](repeating: 0, count: 20)
        var dropped: UInt64 = 0
        for round in 0..<50 {
            let block = (0..<14).map { Float(round * 100 + $0) }
            XCTAssertTrue(capture_ring_write(ring, block, 7))
            XCTAssertEqual(capture_ring_read(ring, &into, 3, &dropped), 3)
            XCTAssertEqual(Array(into[0..<6]), Array(block[0..<6]))
            XCTAssertEqual(capture_ring_read(ring, &into, 10, &dropped), 4)
            XCTAssertEqual(Array(into[0..<8]), Array(block[6..<14]))
            XCTAssertEqual(capture_ring_read(ring, &into, 10, &dropped), 0)
            XCTAssertEqual(dropped, 0)
        }
    }

    func testAFullRingDropsWholeBlocksAndSaysWhere() {
        let ring = capture_ring_create(1, 8, 8)!
        defer { capture_ring_destroy(ring) }
        var into = [Float](repeating: 0, count: 8)
        var dropped: UInt64 = 0
        XCTAssertTrue(capture_ring_write(ring, [1, 2, 3, 4, 5], 5))
        XCTAssertFalse(capture_ring_write(ring, [6, 7, 8, 9], 4))
        XCTAssertFalse(capture_ring_write(ring, [6, 7, 8, 9], 4))
        XCTAssertEqual(capture_ring_read(ring, &into, 8, &dropped), 5)
        XCTAssertEqual(dropped, 0)
        XCTAssertTrue(capture_ring_write(ring, [10, 11], 2))
        XCTAssertEqual(capture_ring_read(ring, &into, 8, &dropped), 2)
        XCTAssertEqual(dropped, 8)
        XCTAssertFalse(capture_ring_write(ring, [Float](repeating: 0, count: 9), 9))
        XCTAssertEqual(capture_ring_dropped_tail(ring), 9)
        XCTAssertEqual(capture_ring_dropped_tail(ring), 0)
    }

    func testTheTableOfBlocksIsBoundedToo() {
        let ring = capture_ring_create(1, 100, 2)!
        defer { capture_ring_destroy(ring) }
        XCTAssertTrue(capture_ring_write(ring, [1], 1))
        XCTAssertTrue(capture_ring_write(ring, [2], 1))
        XCTAssertEqual(capture_ring_room(ring), 0)
        XCTAssertFalse(capture_ring_write(ring, [3], 1))
    }

    /// One thread writes, one reads, with a ring far too small: every frame is read in order or counted as dropped.
    func testTwoThreadsAccountForEveryFrame() {
        let ring = capture_ring_create(1, 512, 16)!
        defer { capture_ring_destroy(ring) }
        let total: Int = 2_000_000
        let done = DispatchSemaphore(value: 0)
        let shared = Shared(ring: ring)
        let writer = Thread {
            var next = 0
            var size = 1
            while next < total {
                size = (size * 13 + 5) % 97 + 1
                let count = min(size, total - next)
                // Exact in a float: the value is taken modulo 2²⁰.
                let block = (next..<(next + count)).map { Float($0 & 0xFFFFF) }
                _ = capture_ring_write(shared.ring, block, UInt32(count))
                next += count
            }
            done.signal()
        }
        writer.start()
        var into = [Float](repeating: 0, count: 64)
        var position = 0
        var dropped: UInt64 = 0
        var wrong = 0
        var finished = false
        while true {
            let count = Int(capture_ring_read(ring, &into, 64, &dropped))
            if count == 0 {
                if finished { break }
                finished = done.wait(timeout: .now()) == .success
                continue
            }
            position += Int(dropped)
            for k in 0..<count where into[k] != Float((position + k) & 0xFFFFF) { wrong += 1 }
            position += count
        }
        position += Int(capture_ring_dropped_tail(ring))
        XCTAssertEqual(wrong, 0)
        XCTAssertEqual(position, total)
    }
}
