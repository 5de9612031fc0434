import CaptureSupport
import Foundation
import XCTest

import CaptureCore

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

    func testExactSilenceIsNoticedAfterTwoSeconds() {
        let bench = Bench()
        bench.begin()
        bench.pass(1990, sound: 0)
        XCTAssertNil(bench.last("warning"))
        bench.pass(2000, sound: 0)
        XCTAssertEqual(bench.all("warning").count, 1)
        let warning = bench.last("warning")
        XCTAssertEqual(text(warning, "code"), "silent-input")
        XCTAssertEqual(text(warning, "permission"), "granted")
        XCTAssertEqual(text(warning, "transport"), "built-in")
        XCTAssertEqual(warning?["lidClosed"] as? Bool, true)
        XCTAssertEqual(bench.last("level")?["zero"] as? Bool, true)
        bench.pass(100, sound: 1e-6)
        bench.pass(5000, sound: 0)
        XCTAssertEqual(bench.all("warning").count, 2, "once per silence")
        XCTAssertNil(bench.engine.exitCode, "the recording goes on")
    }

    func testTheLossOfThePermissionIsNamed() {
        let bench = Bench()
        bench.begin()
        bench.pass(500, sound: 0.5)
        bench.source.status = .denied
        bench.pass(2500, sound: 0)
        XCTAssertEqual(bench.all("warning").map { text($0, "code") }, ["permission-lost", "silent-input"])
        XCTAssertEqual(text(bench.last("permission"), "status"), "denied")
    }

    func testPermission() {
        for (status, code) in [(PermissionStatus.denied, "permission-denied"), (.restricted, "permission-restricted")] {
            let bench = Bench { $1.status = status }
            XCTAssertEqual(text(bench.last("ready"), "permission"), status.rawValue)
            bench.begin()
            XCTAssertEqual(text(bench.last("error"), "code"), code)
            XCTAssertEqual(bench.last("error")?["fatal"] as? Bool, true)
            XCTAssertEqual(bench.engine.exitCode, 77)
            XCTAssertTrue(bench.source.starts.isEmpty, "a capture that can only yield zeros is not started")
        }
        let asked = Bench { $1.status = .undetermined }
        asked.begin()
        XCTAssertEqual(asked.source.asked, 1)
        asked.pass(60_000)
        XCTAssertTrue(asked.source.starts.isEmpty)
        asked.handle(.source(.permission(.granted)))
        asked.pass(100, sound: 0.5)
        XCTAssertEqual(asked.types.filter { $0 == "permission" || $0 == "started" }, ["permission", "started"])
        let refused = Bench { $1.status = .undetermined }
        refused.begin()
        refused.handle(.source(.permission(.denied)))
        XCTAssertEqual(refused.engine.exitCode, 77)
        let late = Bench { $1.status = .undetermined }
        late.begin()
        late.pass(121_000)
        XCTAssertEqual(text(late.last("error"), "code"), "permission-timeout")
        XCTAssertEqual(late.engine.exitCode, 77)
    }

    func testNoDeviceAndNoSound() {
        let none = Bench { $1.devices = [] }
        none.begin()
        XCTAssertEqual(text(none.last("error"), "code"), "no-input-device")
        XCTAssertEqual(none.engine.exitCode, 69)
        let mute = Bench()
        mute.begin()
        mute.pass(4990)
        XCTAssertNil(mute.engine.exitCode)
        mute.pass(100)
        XCTAssertEqual(text(mute.last("error"), "code"), "start-timeout")
        XCTAssertEqual(mute.engine.exitCode, 69)
        let bluetooth = Bench { $1.devices[0].transport = "bluetooth" }
        bluetooth.begin()
        bluetooth.pass(9000)
        XCTAssertNil(bluetooth.engine.exitCode)
        bluetooth.pass(1100)
        XCTAssertEqual(bluetooth.engine.exitCode, 69)
        let own = Bench()
        own.begin(#","startTimeoutMs":200"#)
        own.pass(300)
        XCTAssertEqual(own.engine.exitCode, 69)
    }

    func testAUnitThatComesUpOnTheSecondTry() {
        let bench = Bench { $1.nextFailure = CaptureFault(.audioUnitFailed, "x", osStatus: -10851) }
        bench.begin()
        bench.source.nextFailure = nil
        bench.pass(400, sound: nil)
        bench.pass(200, sound: 0.5)
        XCTAssertEqual(bench.source.starts.count, 2)
        XCTAssertNotNil(bench.last("started"))
        XCTAssertEqual(bench.all("gap").count, 0, "before the first sound there is no gap")
        let never = Bench { $1.nextFailure = CaptureFault(.audioUnitFailed, "x", osStatus: -10851) }
        never.begin()
        never.pass(6000)
        XCTAssertEqual(int(never.last("error"), "osStatus"), -10851)
        XCTAssertEqual(never.engine.exitCode, 69)
    }

    func testADeviceThatIsPinnedButAway() {
        let bench = Bench()
        bench.command(#"{"type":"configure","id":"c","deviceUid":"gone","chunkMs":50}"#)
        XCTAssertEqual(text(bench.last("result"), "code"), "device-not-found")
        bench.command(#"{"type":"start","id":"s"}"#)
        bench.pass(500, sound: 0.5)
        XCTAssertEqual((bench.last("started")?["device"] as? [String: Any])?["uid"] as? String, "mic")
        XCTAssertEqual(int(bench.all("chunk").first, "bytes"), 50 * 48)
    }

    func testSetDevice() {
        let bench = Bench()
        bench.begin()
        bench.pass(1000, sound: 0.5)
        bench.command(#"{"type":"setDevice","id":"d","deviceUid":"nothing"}"#)
        XCTAssertEqual(text(bench.last("result"), "code"), "device-not-found")
        bench.command(#"{"type":"setDevice","id":"e","deviceUid":"mic"}"#)
        XCTAssertEqual(bench.last("result")?["ok"] as? Bool, true)
        bench.pass(100, sound: 0.5)
        XCTAssertEqual(bench.source.starts.count, 1, "a device in use is not set again")
        bench.command(#"{"type":"setDevice","id":"f","deviceUid":"usb"}"#)
        bench.pass(20)
        bench.pass(1000, sound: 0.5)
        XCTAssertEqual(bench.source.starts.count, 2)
        XCTAssertEqual(text(bench.last("device"), "change"), "switched")
        XCTAssertEqual((bench.last("device")?["device"] as? [String: Any])?["uid"] as? String, "usb")
        XCTAssertEqual(text(bench.last("gap"), "reason"), "route-change")
        bench.handle(.stdinClosed)
        XCTAssertEqual(int(bench.last("finished"), "gaps"), 1)
        bench.checkBooks()
    }

    func testADeviceThatGoesAndAnotherThatComes() {
        let bench = Bench()
        bench.begin()
        bench.pass(5000, sound: 0.5)
        let usb = bench.source.devices[1]
        bench.source.devices = []
        bench.handle(.source(.deviceLost(run: 1)))
        XCTAssertEqual(text(bench.last("device"), "change"), "lost")
        bench.pass(10_000)
        bench.source.devices = [usb]
        bench.source.devices[0].isDefault = true
        bench.handle(.source(.devicesChanged))
        bench.pass(350)
        bench.pass(2000, sound: 0.5)
        bench.command(#"{"type":"stop"}"#)
        bench.pass(1000, sound: 0.5)
        let gaps = bench.all("gap")
        XCTAssertEqual(gaps.count, 1)
        XCTAssertEqual(text(gaps.first, "reason"), "device-lost")
        XCTAssertEqual(int(gaps.first, "atOffset"), 44 + 5000 * 48)
        let length = int(gaps.first, "durationMs") ?? 0
        XCTAssertTrue((10_300...10_450).contains(length), "\(length)")
        let after = bench.all("chunk").first { int($0, "offset") == 44 + 5000 * 48 }
        XCTAssertEqual(int(after, "captureMs"), 5000 + length)
        XCTAssertEqual(bench.engine.exitCode, 0)
        bench.checkBooks()
    }

    /// The reports of a fast source overtake its first buffer.
    func testADeviceThatGoesBeforeItsFirstBufferIsRead() {
        let bench = Bench()
        bench.begin()
        let block = [Float](repeating: 0.5, count: 4800)
        _ = capture_ring_write(bench.source.ring!.pointer, block, 4800)
        bench.source.devices[0].isDefault = false
        bench.source.devices[1].isDefault = true
        bench.handle(.source(.deviceLost(run: 1)))
        bench.pass(310)
        bench.pass(500, sound: 0.5)
        XCTAssertEqual(bench.types.filter { ["started", "device", "gap"].contains($0) }, ["started", "device", "device", "gap"])
        bench.handle(.stdinClosed)
        XCTAssertEqual(int(bench.last("finished"), "frames"), 600 * 24)
        bench.checkBooks()

        let none = Bench()
        none.begin()
        none.handle(.source(.deviceLost(run: 1)))
        none.pass(310)
        none.pass(500, sound: 0.5)
        XCTAssertEqual(none.source.starts.count, 2)
        XCTAssertEqual(none.types.filter { ["started", "device", "gap"].contains($0) }, ["started"])
    }

    func testADeviceThatNeverComesBack() {
        let bench = Bench()
        bench.begin()
        bench.pass(1000, sound: 0.5)
        bench.source.devices = []
        bench.handle(.source(.deviceLost(run: 1)))
        bench.pass(40_000)
        XCTAssertEqual(text(bench.last("finished"), "reason"), "device-lost")
        XCTAssertEqual(bench.engine.exitCode, 0, "the file is whole")
        XCTAssertEqual(int(bench.last("finished"), "durationMs"), 1000)
        bench.checkBooks()
    }

    func testMissingCallbacksRebuildTheUnit() {
        let bench = Bench()
        bench.begin()
        bench.pass(1000, sound: 0.5)
        bench.pass(1900)
        XCTAssertEqual(bench.source.starts.count, 1)
        bench.pass(200)
        XCTAssertEqual(bench.source.starts.count, 2)
        bench.pass(1000, sound: 0.5)
        XCTAssertEqual(bench.all("gap").count, 1)
        XCTAssertTrue((2000...2200).contains(int(bench.last("gap"), "durationMs") ?? 0))
    }

    func testAPauseOfTheWholeProcessIsNoFaultOfTheDevice() {
        let bench = Bench()
        bench.begin()
        bench.pass(1000, sound: 0.5)
        bench.clock.now += 60_000
        bench.pass(500, sound: 0.5)
        XCTAssertEqual(bench.source.starts.count, 1)
    }

    func testFormatAndDefaultChanges() {
        let bench = Bench()
        bench.begin()
        bench.pass(1000, sound: 0.5)
        bench.source.devices[0].rate = 16_000
        bench.handle(.source(.formatChanged(run: 1)))
        bench.pass(320)
        bench.pass(1000, sound: 0.5)
        XCTAssertEqual(bench.all("device").map { text($0, "change") }, ["format"])
        bench.source.devices[0].isDefault = false
        bench.source.devices[1].isDefault = true
        bench.handle(.source(.defaultChanged(bench.source.devices[1])))
        bench.pass(320)
        bench.pass(1000, sound: 0.5)
        XCTAssertEqual(bench.all("device").map { text($0, "change") }, ["format", "default-changed", "switched"])
        bench.handle(.stdinClosed)
        let frames = int(bench.last("finished"), "frames") ?? 0
        XCTAssertTrue(abs(frames - 3 * 24_000) <= 3, "\(frames)")
        XCTAssertEqual(bench.all("gap").count, 2)
        bench.checkBooks()

        let pinned = Bench()
        pinned.command(#"{"type":"configure","id":"c","deviceUid":"mic"}"#)
        pinned.command(#"{"type":"start","id":"s"}"#)
        pinned.pass(500, sound: 0.5)
        pinned.handle(.source(.defaultChanged(pinned.source.devices[1])))
        pinned.pass(500, sound: 0.5)
        XCTAssertEqual(pinned.source.starts.count, 1, "a pinned device does not follow the system")
    }

    func testReportsOfAnEarlierRunAreIgnored() {
        let bench = Bench()
        bench.begin()
        bench.pass(500, sound: 0.5)
        bench.command(#"{"type":"setDevice","id":"f","deviceUid":"usb"}"#)
        bench.pass(20)
        bench.pass(500, sound: 0.5)
        bench.handle(.source(.deviceLost(run: 1)))
        bench.handle(.source(.stopped(run: 1)))
        bench.handle(.source(.failed(run: 1, CaptureFault(.audioUnitFailed, "old"))))
        bench.pass(500, sound: 0.5)
        XCTAssertEqual(bench.source.starts.count, 2)
        XCTAssertEqual(bench.all("error").count, 0)
    }

    func testSleep() {
        let bench = Bench()
        bench.begin()
        bench.pass(1000, sound: 0.5)
        var acknowledged = false
        bench.handle(.source(.willSleep { acknowledged = true }))
        XCTAssertTrue(acknowledged)
        XCTAssertEqual(bench.file.claimed, 48_000, "everything is on disk before the system sleeps")
        bench.clock.now += 300_000
        bench.handle(.source(.didWake))
        bench.pass(320)
        bench.pass(1000, sound: 0.5)
        XCTAssertEqual(text(bench.last("gap"), "reason"), "sleep")
        XCTAssertTrue((300_000...300_500).contains(int(bench.last("gap"), "durationMs") ?? 0))
        bench.handle(.source(.willSleep {}))
        bench.clock.now += 601_000
        bench.handle(.source(.didWake))
        XCTAssertEqual(text(bench.last("finished"), "reason"), "sleep-timeout")
        XCTAssertEqual(bench.engine.exitCode, 0)
        bench.checkBooks()
        let idle = Bench()
        acknowledged = false
        idle.handle(.source(.willSleep { acknowledged = true }))
        XCTAssertTrue(acknowledged)
    }

    func testOverrunIsAGapAtItsPlace() {
        let bench = Bench()
        bench.begin()
        bench.pass(1000, sound: 0.5)
        capture_ring_count_dropped(bench.source.ring!.pointer, 24_000)
        bench.pass(1000, sound: 0.5)
        XCTAssertEqual(bench.all("gap").count, 1)
        XCTAssertEqual(text(bench.last("gap"), "reason"), "overrun")
        XCTAssertEqual(int(bench.last("gap"), "durationMs"), 500)
        bench.handle(.stdinClosed)
        XCTAssertEqual(int(bench.last("finished"), "overrunFrames"), 12_000)
        XCTAssertEqual(int(bench.last("finished"), "frames"), 48_000)
        bench.checkBooks()
    }

    func testNarrowBandBluetoothIsSaidOnce() {
        let bench = Bench {
            $1.devices[0].transport = "bluetooth"
            $1.devices[0].rate = 16_000
        }
        bench.begin()
        bench.pass(500, sound: 0.5)
        XCTAssertEqual(bench.all("warning").map { text($0, "code") }, ["narrowband-bluetooth"])
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
}
