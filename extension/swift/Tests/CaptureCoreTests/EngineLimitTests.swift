import Foundation
import XCTest

import CaptureCore

/// What a capture may not exceed and what the disk refuses: the end is visible and the file honest.
final class EngineLimitTests: XCTestCase {
    func testCaps() {
        let duration = Bench()
        duration.begin(#","maxDurationMs":777"#)
        duration.pass(2000, sound: 0.5)
        XCTAssertEqual(text(duration.last("finished"), "reason"), "max-duration")
        XCTAssertEqual(int(duration.last("finished"), "frames"), 777 * 24)
        XCTAssertEqual(duration.engine.exitCode, 0)
        duration.checkBooks()

        let size = Bench(maxDataBytes: 10_000)
        size.begin()
        size.pass(2000, sound: 0.5)
        XCTAssertEqual(text(size.last("finished"), "reason"), "max-size")
        XCTAssertEqual(int(size.last("finished"), "dataBytes"), 10_000)
        size.checkBooks()

        let silent = Bench()
        silent.begin(#","maxDurationMs":3000"#)
        silent.pass(100, sound: 0.5)
        silent.source.answersStops = false
        silent.source.nextFailure = CaptureFault(.audioUnitFailed, "x")
        silent.pass(20_000)
        XCTAssertEqual(text(silent.last("finished"), "reason"), "max-duration", "also when nothing comes any more")
    }

    func testTheDiskFloor() {
        let bench = Bench { file, _ in file.free = 1_000_000 }
        bench.begin(#","minFreeBytes":400000"#)
        bench.pass(1500, sound: 0.5)
        XCTAssertNil(bench.last("warning"))
        bench.file.free = 700_000
        bench.pass(3000, sound: 0.5)
        XCTAssertEqual(bench.all("warning").count, 1)
        XCTAssertEqual(text(bench.last("warning"), "code"), "low-disk")
        bench.file.free = 399_999
        bench.pass(1500, sound: 0.5)
        XCTAssertEqual(text(bench.last("finished"), "reason"), "disk-full")
        XCTAssertEqual(bench.engine.exitCode, 0, "the file is whole")
        bench.checkBooks()

        let early = Bench { file, _ in file.free = 10 }
        early.begin()
        XCTAssertEqual(text(early.last("error"), "code"), "disk-full")
        XCTAssertEqual(early.engine.exitCode, 74)
        XCTAssertEqual(early.source.starts.count, 0)
    }

    func testAFullDisk() {
        let bench = Bench { file, _ in file.capacity = 44 + 9_601 }
        bench.begin()
        bench.pass(1000, sound: 0.5)
        XCTAssertEqual(text(bench.last("error"), "code"), "disk-full")
        XCTAssertEqual(text(bench.last("finished"), "reason"), "disk-full")
        XCTAssertEqual(int(bench.last("finished"), "dataBytes"), 9_600)
        XCTAssertEqual(bench.file.claimed, 9_600)
        XCTAssertEqual(bench.file.bytes.count, 44 + 9_600)
        XCTAssertEqual(bench.engine.exitCode, 74)
        bench.checkBooks()
    }

    func testAnyFailingOperationEndsVisiblyWithAnHonestFile() {
        for failForEver in [false, true] {
            for k in 2..<40 {
                let bench = Bench { file, _ in
                    file.failAt = k
                    file.failForEver = failForEver
                }
                bench.begin(#","syncMs":200"#)
                bench.pass(1000, sound: 0.5)
                bench.command(#"{"type":"stop"}"#)
                bench.pass(1000, sound: 0.5)
                bench.checkBooks()
                let operations = bench.file.operations.count
                if bench.all("error").isEmpty {
                    XCTAssertEqual(bench.engine.exitCode, 0, "operation \(k) of \(operations)")
                } else {
                    XCTAssertEqual(bench.engine.exitCode, 74)
                    XCTAssertEqual(text(bench.last("finished"), "reason"), "write-failed")
                    XCTAssertEqual(bench.all("error").count, 1)
                }
                XCTAssertLessThanOrEqual(bench.file.claimed ?? 0, Int64(bench.file.bytes.count) - 44)
                XCTAssertLessThanOrEqual(bench.file.claimed ?? 0, bench.asset.dataBytes)
            }
        }
    }
}
