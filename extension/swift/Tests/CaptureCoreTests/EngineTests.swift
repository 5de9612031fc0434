import Foundation
import XCTest

import CaptureCore

/// One capture from `ready` to `finished`: its order, its chunks and checkpoints, and all its ordinary ends.
final class EngineTests: XCTestCase {
    func testTheOrderOfACapture() {
        let bench = Bench()
        XCTAssertEqual(text(bench.lines.first, "type"), "ready")
        XCTAssertEqual(bench.file.claimed, 0)
        bench.begin()
        XCTAssertEqual(bench.types, ["ready", "result"], "nothing is said to have started before the first buffer")
        bench.pass(1000, sound: 0.5)
        XCTAssertEqual(bench.types[2], "started")
        XCTAssertEqual(text(bench.last("started"), "id"), "s")
        bench.command(#"{"type":"stop","id":"x"}"#)
        XCTAssertEqual(text(bench.last("finishing"), "reason"), "stop")
        bench.pass(500, sound: 0.5)
        let finished = bench.last("finished")
        XCTAssertEqual(text(finished, "reason"), "stop")
        XCTAssertEqual(int(finished, "gaps"), 0)
        // One second, the tail, and nothing else.
        XCTAssertTrue((1248...1250).contains(int(finished, "durationMs") ?? 0), "the filter holds a millisecond back")
        XCTAssertEqual(bench.engine.exitCode, 0)
        XCTAssertEqual(bench.file.claimed, bench.asset.dataBytes)
        XCTAssertEqual(bench.file.operations.last, .close)
        bench.checkBooks()
    }

    func testChunksCarryTheirTime() {
        let bench = Bench()
        bench.begin(#","chunkMs":40"#)
        bench.pass(1000, sound: 0.5)
        for (index, chunk) in bench.all("chunk").enumerated() {
            XCTAssertEqual(int(chunk, "bytes"), 40 * 48)
            XCTAssertEqual(int(chunk, "captureMs"), Int64(index) * 40)
        }
        XCTAssertGreaterThan(bench.all("chunk").count, 20)
    }

    func testCheckpointsSayWhatIsSynced() {
        let bench = Bench()
        bench.begin(#","syncMs":500"#)
        bench.pass(2200, sound: 0.5)
        XCTAssertEqual(bench.all("synced").count, 4)
        XCTAssertEqual(int(bench.last("synced"), "dataBytes"), bench.file.claimed)
    }

    func testLevelsComeTenTimesASecond() {
        let bench = Bench()
        bench.begin()
        bench.pass(3000, sound: 0.5)
        let levels = bench.all("level")
        XCTAssertTrue((28...31).contains(levels.count), "\(levels.count)")
        XCTAssertEqual(levels.last?["peakDb"] as? Double ?? 0, -6, accuracy: 0.1)
        XCTAssertEqual(levels.last?["rmsDb"] as? Double ?? 0, -6, accuracy: 0.1)
        XCTAssertEqual(levels.last?["zero"] as? Bool, false)
    }

    func testASecondStopEndsAtOnce() {
        let bench = Bench()
        bench.begin()
        bench.pass(500, sound: 0.5)
        bench.command(#"{"type":"stop","tailMs":5000}"#)
        bench.pass(100, sound: 0.5)
        XCTAssertNil(bench.engine.exitCode)
        bench.command(#"{"type":"stop"}"#)
        XCTAssertEqual(bench.engine.exitCode, 0)
        bench.checkBooks()
    }

    func testATailWithoutSoundEndsByTheClock() {
        let bench = Bench()
        bench.begin()
        bench.pass(500, sound: 0.5)
        bench.command(#"{"type":"stop"}"#)
        bench.pass(2000)
        XCTAssertEqual(bench.engine.exitCode, 0)
    }

    func testASourceThatDoesNotAnswerTheStop() {
        let bench = Bench { $1.answersStops = false }
        bench.begin()
        bench.pass(500, sound: 0.5)
        bench.command(#"{"type":"stop","tailMs":0}"#)
        bench.pass(900)
        XCTAssertNil(bench.engine.exitCode)
        bench.pass(200)
        XCTAssertEqual(bench.engine.exitCode, 0)
        XCTAssertEqual(int(bench.last("finished"), "durationMs"), 500)
    }

    func testTheEndOfStdinTheParentAndSignals() {
        for (input, reason) in [
            (CaptureEngine.Input.stdinClosed, "parent-exit"), (.parentExited, "parent-exit"), (.signal, "signal"),
        ] {
            let bench = Bench()
            bench.begin()
            bench.pass(330, sound: 0.5)
            bench.handle(input)
            XCTAssertEqual(bench.engine.exitCode, 0)
            XCTAssertEqual(text(bench.last("finished"), "reason"), reason)
            XCTAssertEqual(int(bench.last("finished"), "frames"), 330 * 24)
            bench.checkBooks()
            let early = Bench()
            early.handle(input)
            XCTAssertEqual(early.engine.exitCode, 0)
            XCTAssertEqual(int(early.last("finished"), "dataBytes"), 0)
        }
    }

    func testStopBeforeSound() {
        let bench = Bench()
        bench.begin()
        bench.command(#"{"type":"stop"}"#)
        XCTAssertEqual(text(bench.last("finished"), "reason"), "stop")
        XCTAssertEqual(bench.engine.exitCode, 0)
        XCTAssertEqual(bench.file.bytes.count, 44)
    }

    func testLinesThatAreNoCommands() {
        let bench = Bench()
        bench.command(#"{"type":"dance","id":"u"}"#)
        XCTAssertEqual(text(bench.last("error"), "code"), "bad-command")
        XCTAssertEqual(bench.last("error")?["fatal"] as? Bool, false)
        XCTAssertEqual(text(bench.last("error"), "id"), "u")
        bench.command(#"{"type":"configure","id":"c","chunkMs":1}"#)
        XCTAssertEqual(text(bench.last("result"), "code"), "bad-arguments")
        bench.begin()
        bench.pass(500, sound: 0.5)
        bench.command("{nonsense")
        XCTAssertEqual(text(bench.last("error"), "code"), "protocol")
        XCTAssertEqual(bench.last("error")?["fatal"] as? Bool, false)
        bench.command(#"{"type":"start","id":"again"}"#)
        bench.command(#"{"type":"configure","id":"late","deviceUid":null}"#)
        XCTAssertEqual(text(bench.last("result"), "code"), "protocol")
        bench.command(#"{"type":"ping","id":9}"#)
        XCTAssertEqual(int(bench.last("result"), "id"), 9)
        bench.pass(500, sound: 0.5)
        XCTAssertNil(bench.engine.exitCode)
        let early = Bench()
        early.command("{nonsense")
        XCTAssertEqual(early.engine.exitCode, 65)
    }
}
