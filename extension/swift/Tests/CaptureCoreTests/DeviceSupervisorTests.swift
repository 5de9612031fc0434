import XCTest

import CaptureCore

final class DeviceSupervisorTests: XCTestCase {
    private func running() -> DeviceSupervisor {
        var supervisor = DeviceSupervisor()
        XCTAssertEqual(supervisor.begin(now: 0), [.start])
        supervisor.sourceRunning()
        supervisor.soundFlows()
        XCTAssertEqual(supervisor.state, .running)
        return supervisor
    }

    func testAChangeIsStopWaitStart() {
        var supervisor = running()
        XCTAssertEqual(supervisor.change(.routeChange, settleMs: 300, now: 100), [.stop])
        XCTAssertEqual(supervisor.tick(now: 150), [])
        XCTAssertEqual(supervisor.sourceStopped(now: 160), [])
        XCTAssertEqual(supervisor.tick(now: 459), [])
        XCTAssertEqual(supervisor.tick(now: 460), [.start])
        supervisor.sourceRunning()
        XCTAssertEqual(supervisor.takeGapReason(), .routeChange)
        supervisor.soundFlows()
        XCTAssertNil(supervisor.gapReason)
    }

    func testABurstOfChangesIsOneRebuild() {
        var supervisor = running()
        XCTAssertEqual(supervisor.change(.routeChange, settleMs: 300, now: 0), [.stop])
        XCTAssertEqual(supervisor.change(.routeChange, settleMs: 300, now: 5), [])
        _ = supervisor.sourceStopped(now: 10)
        for now in stride(from: Int64(50), to: 1000, by: 50) {
            XCTAssertEqual(supervisor.change(.routeChange, settleMs: 300, now: now), [])
            XCTAssertEqual(supervisor.tick(now: now + 1), [])
        }
        XCTAssertEqual(supervisor.tick(now: 1250), [.start])
    }

    func testRetriesThenLostThenAwaitedThenGivenUp() {
        var supervisor = running()
        XCTAssertEqual(supervisor.deviceLost(settleMs: 0, now: 0), [.lost, .stop])
        _ = supervisor.sourceStopped(now: 0)
        var now: Int64 = 0
        XCTAssertEqual(supervisor.tick(now: now), [.start])
        for delay in [Int64(250), 500, 1000, 2000] {
            XCTAssertEqual(supervisor.sourceFailed(now: now), [])
            XCTAssertEqual(supervisor.tick(now: now + delay - 1), [])
            now += delay
            XCTAssertEqual(supervisor.tick(now: now), [.start])
        }
        XCTAssertEqual(supervisor.sourceFailed(now: now), [.lost])
        XCTAssertEqual(supervisor.tick(now: now + 29_999), [])
        XCTAssertEqual(supervisor.tick(now: now + 30_000), [.giveUp])
        XCTAssertEqual(supervisor.tick(now: now + 99_000), [])
        XCTAssertEqual(supervisor.gapReason, .deviceLost)
    }

    func testANewDeviceEndsTheWait() {
        var supervisor = running()
        _ = supervisor.deviceLost(settleMs: 0, now: 0)
        _ = supervisor.sourceStopped(now: 0)
        _ = supervisor.tick(now: 0)
        var now: Int64 = 0
        for delay in DeviceSupervisor.retryDelaysMs {
            _ = supervisor.sourceFailed(now: now)
            now += delay
            _ = supervisor.tick(now: now)
        }
        _ = supervisor.sourceFailed(now: now)
        XCTAssertEqual(supervisor.change(.routeChange, settleMs: 300, now: now + 10_000), [])
        XCTAssertEqual(supervisor.tick(now: now + 10_300), [.start])
        supervisor.sourceRunning()
        XCTAssertEqual(supervisor.gapReason, .deviceLost, "the first cause names the gap")
    }

    func testAStopOrStartWithoutAnswerDoesNotHang() {
        var supervisor = running()
        _ = supervisor.change(.routeChange, settleMs: 0, now: 0)
        XCTAssertEqual(supervisor.tick(now: 999), [])
        XCTAssertEqual(supervisor.tick(now: 1000), [])
        XCTAssertEqual(supervisor.tick(now: 1000), [.start])
        XCTAssertEqual(supervisor.tick(now: 10_999), [])
        XCTAssertEqual(supervisor.tick(now: 11_000), [.stop])
        XCTAssertEqual(supervisor.tick(now: 11_250), [.start])
    }

    func testSleep() {
        var supervisor = running()
        XCTAssertEqual(supervisor.willSleep(now: 0), [.stop])
        XCTAssertEqual(supervisor.sourceStopped(now: 5), [.readyToSleep])
        XCTAssertEqual(supervisor.change(.routeChange, settleMs: 300, now: 6), [])
        XCTAssertEqual(supervisor.didWake(now: 500_000, settleMs: 300), [])
        XCTAssertEqual(supervisor.tick(now: 500_300), [.start])
        XCTAssertEqual(supervisor.gapReason, .sleep)
        supervisor.sourceRunning()
        supervisor.soundFlows()
        XCTAssertEqual(supervisor.willSleep(now: 600_000), [.stop])
        // A unit that does not answer keeps no system awake.
        XCTAssertEqual(supervisor.tick(now: 601_000), [.readyToSleep])
        XCTAssertEqual(supervisor.didWake(now: 1_300_000, settleMs: 300), [.sleptTooLong])
    }
}
