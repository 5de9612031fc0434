import CaptureSupport
import Foundation
import XCTest

import CaptureCore

/// Input devices during a capture: the start, changes, loss, sleep, and what is said about each.
final class EngineDeviceTests: XCTestCase {
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

    /// More than one step takes, with a loss behind it, when the run ends.
    func testABacklogIsStoredWholeWithItsOverrunsWhenARunEnds() {
        let bench = Bench()
        bench.begin()
        bench.pass(1000, sound: 0.5)
        let ring = bench.source.ring!.pointer
        let second = [Float](repeating: 0.5, count: 48_000)
        for _ in 0..<7 { XCTAssertTrue(capture_ring_write(ring, second, 48_000)) }
        capture_ring_count_dropped(ring, 24_000)
        for _ in 0..<2 { XCTAssertTrue(capture_ring_write(ring, second, 48_000)) }
        bench.command(#"{"type":"setDevice","id":"d","deviceUid":"usb"}"#)
        bench.pass(20)
        bench.pass(1000, sound: 0.5)
        bench.handle(.stdinClosed)
        XCTAssertEqual(bench.all("gap").map { text($0, "reason") }, ["overrun", "route-change"])
        let place = int(bench.all("gap").first, "atOffset") ?? 0
        XCTAssertTrue((44 + 7998 * 48...44 + 8000 * 48).contains(place), "the filter holds a millisecond back")
        XCTAssertEqual(int(bench.last("finished"), "overrunFrames"), 12_000)
        XCTAssertEqual(int(bench.last("finished"), "frames"), 11 * 24_000)
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
}
