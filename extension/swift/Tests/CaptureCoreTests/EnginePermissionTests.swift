import Foundation
import XCTest

import CaptureCore

/// Permission, and the exact silence by which a missing one shows.
final class EnginePermissionTests: XCTestCase {
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

    func testTheLossOfThePermissionIsNamed() {
        let bench = Bench()
        bench.begin()
        bench.pass(500, sound: 0.5)
        bench.source.status = .denied
        bench.pass(2500, sound: 0)
        XCTAssertEqual(bench.all("warning").map { text($0, "code") }, ["permission-lost", "silent-input"])
        XCTAssertEqual(text(bench.last("permission"), "status"), "denied")
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
        let atOffset = int(warning, "atOffset") ?? 0
        XCTAssertTrue((44 + 1990 * 48...44 + 2000 * 48).contains(atOffset), "what the converter still holds is not there yet")
        XCTAssertEqual(warning?["lidClosed"] as? Bool, true)
        XCTAssertEqual(bench.last("level")?["zero"] as? Bool, true)
        bench.pass(100, sound: 1e-6)
        bench.pass(5000, sound: 0)
        XCTAssertEqual(bench.all("warning").count, 2, "once per silence")
        XCTAssertNil(bench.engine.exitCode, "the recording goes on")
    }

    func testSilenceIsToldBeforeItIsLongerThanTwoSeconds() {
        for frames in [1, 441, 512, 4096] {
            var watch = SilenceWatch()
            var total = frames
            while !watch.add(zero: true, frames: frames, rate: 44_100) { total += frames }
            XCTAssertLessThanOrEqual(total, 88_200)
            XCTAssertGreaterThan(total + frames, 88_200)
        }
    }
}
