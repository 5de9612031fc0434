import Foundation
import XCTest

import CaptureCore

final class CommandTests: XCTestCase {
    private func parse(_ text: String) -> ParsedLine { parseCommand(Data(text.utf8)) }

    func testCommands() {
        XCTAssertEqual(parse(#"{"type":"start","id":"a"}"#), .command(.start(id: .string("a"))))
        XCTAssertEqual(parse(#"{"type":"ping","id":7,"more":[1]}"#), .command(.ping(id: .number(7))))
        XCTAssertEqual(parse(#"{"type":"stop"}"#), .command(.stop(id: nil, tailMs: nil)))
        XCTAssertEqual(parse(#"{"type":"stop","tailMs":0}"#), .command(.stop(id: nil, tailMs: 0)))
        XCTAssertEqual(parse(#"{"type":"setDevice","id":"b","deviceUid":null}"#), .command(.setDevice(id: .string("b"), uid: nil)))
        var wanted = CaptureConfiguration()
        XCTAssertEqual(parse(#"{"type":"configure","id":"c","deviceUid":null}"#), .command(.configure(id: .string("c"), wanted)))
        wanted.deviceUid = "uid"
        wanted.channel = 3
        wanted.chunkMs = 20
        wanted.syncMs = 500
        wanted.tailMs = 0
        wanted.maxDurationMs = 3_600_000
        wanted.minFreeBytes = 5_000_000_000
        wanted.startTimeoutMs = 700
        XCTAssertEqual(
            parse(
                #"{"type":"configure","id":"c","deviceUid":"uid","channel":3,"chunkMs":20,"syncMs":500,"tailMs":0,"maxDurationMs":3600000,"minFreeBytes":5000000000,"startTimeoutMs":700}"#
            ), .command(.configure(id: .string("c"), wanted)))
    }

    func testDefaults() {
        let defaults = CaptureConfiguration()
        XCTAssertEqual(defaults.chunkMs, 100)
        XCTAssertEqual(defaults.syncMs, 1000)
        XCTAssertEqual(defaults.tailMs, 250)
        XCTAssertEqual(defaults.minFreeBytes, 209_715_200)
    }

    func testValuesOutOfRangeAreRefusedWithTheirId() {
        for field in [
            #""chunkMs":19"#, #""chunkMs":501"#, #""syncMs":0"#, #""tailMs":-1"#, #""maxDurationMs":0"#, #""minFreeBytes":-1"#,
            #""channel":-1"#, #""startTimeoutMs":1"#, #""chunkMs":"100""#, #""deviceUid":5"#, #""chunkMs":1.5"#,
        ] {
            guard case let .refused(id, _) = parse(#"{"type":"configure","id":"q",\#(field)}"#) else {
                XCTFail(field)
                continue
            }
            XCTAssertEqual(id, .string("q"))
        }
        guard case .refused = parse(#"{"type":"stop","tailMs":99999}"#) else { return XCTFail("tailMs") }
    }

    func testOtherLines() {
        guard case .unknown(.string("u"), _) = parse(#"{"type":"dance","id":"u"}"#) else { return XCTFail("unknown") }
        for text in ["", "x", "[]", "1", "null", #"{"type":1}"#, #"{"id":"a"}"#, #"{"type":"start""#, "\u{FEFF}{}", #"{"type":"ping","id":{}}"#] {
            guard case .malformed = parse(text) else {
                XCTFail(text)
                continue
            }
        }
        guard case .malformed = parseCommand(Data([0xFF, 0xFE, 0x22])) else { return XCTFail("not UTF-8") }
        guard case .malformed = parse(#"{"type":"ping","x":""# + String(repeating: "y", count: 65_536) + #""}"#) else {
            return XCTFail("too long")
        }
    }

    func testAnyBytesAreParsedToSomething() {
        var seed: UInt64 = 42
        func random(_ bound: UInt64) -> UInt64 {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (seed >> 33) % bound
        }
        let base = Array(#"{"type":"configure","id":"c","deviceUid":null,"chunkMs":100}"#.utf8)
        for _ in 0..<3000 {
            var bytes = base
            for _ in 0..<(1 + random(4)) {
                switch random(3) {
                case 0: bytes[Int(random(UInt64(bytes.count)))] = UInt8(random(256))
                case 1: bytes.insert(UInt8(random(256)), at: Int(random(UInt64(bytes.count))))
                default: bytes.remove(at: Int(random(UInt64(bytes.count))))
                }
            }
            _ = parseCommand(Data(bytes))
        }
    }

    func testLinesAreCutAtLfWhateverThePieces() {
        let stream = Data("one\n\ntwo\nthree".utf8)
        for piece in 1...stream.count {
            var splitter = LineSplitter()
            var lines: [LineSplitter.Line] = []
            var at = 0
            while at < stream.count {
                let end = min(at + piece, stream.count)
                lines += splitter.feed(stream.subdata(in: at..<end))
                at = end
            }
            lines += splitter.feed(Data("\n".utf8))
            XCTAssertEqual(lines, [.line(Data("one".utf8)), .line(Data("two".utf8)), .line(Data("three".utf8))])
        }
    }

    func testALineWithoutEndIsReportedOnceAndSkipped() {
        var splitter = LineSplitter()
        var lines: [LineSplitter.Line] = []
        for _ in 0..<100 { lines += splitter.feed(Data(repeating: 0x61, count: 10_000)) }
        lines += splitter.feed(Data("x\nnext\n".utf8))
        XCTAssertEqual(lines, [.tooLong, .line(Data("next".utf8))])
    }

    func testEventsAreOneLineOfJsonWhateverTheText() throws {
        let device = DeviceInfo(
            uid: "a\"b\\c\n\u{1}\u{2028}é🎙", name: "Mikrofon „x“\t", transport: "usb", rate: 48_000, channels: 1, isDefault: true)
        let line = Event.started(id: .string("\n"), wallTime: "w", device: device).line(seq: 1, t: 2)
        XCTAssertFalse(line.contains("\n"))
        let object = try XCTUnwrap(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let shown = try XCTUnwrap(object["device"] as? [String: Any])
        XCTAssertEqual(shown["uid"] as? String, device.uid)
        XCTAssertEqual(shown["name"] as? String, device.name)
        XCTAssertEqual(object["id"] as? String, "\n")
        XCTAssertEqual(
            Event.level(peakDb: -0.04, rmsDb: -119.96, zero: false).line(seq: 3, t: 4),
            #"{"v":1,"seq":3,"t":4,"type":"level","peakDb":0.0,"rmsDb":-120.0,"zero":false}"#)
    }

    func testOptions() throws {
        XCTAssertEqual(try CaptureOptions([]).source, .microphone)
        let file = try CaptureOptions(["--source", "file", "--input", "a.wav", "--pace", "0", "--parent", "12"])
        XCTAssertEqual(file.source, .file(path: "a.wav"))
        XCTAssertEqual(file.pace, 0)
        XCTAssertEqual(file.parent, 12)
        let faults = try CaptureOptions(["--source", "synthetic", "--fault", "lost@5000:1000,stall@9,gone@1,format@2:44100,sleep@3:4,overrun@5:6,silence@7:8"])
        XCTAssertEqual(
            faults.synthetic.faults,
            [
                .lost(at: 5000, ms: 1000), .stall(at: 9), .gone(at: 1), .format(at: 2, rate: 44_100), .sleep(at: 3, ms: 4),
                .overrun(at: 5, ms: 6), .silence(at: 7, ms: 8),
            ])
        for bad in [
            ["--source", "tape"], ["--source", "file"], ["--pace"], ["--pace", "-1"], ["--pace", "fast"], ["x"],
            ["--source", "synthetic", "--fault", "lost@1"], ["--source", "synthetic", "--fault", "stall@1:2"],
            ["--source", "synthetic", "--fault", "format@1:3"], ["--source", "synthetic", "--fault", "lost@-1:3"],
        ] {
            XCTAssertThrowsError(try CaptureOptions(bad), "\(bad)")
        }
        XCTAssertThrowsError(try TranscribeOptions(["--locale", "en-US"]))
    }
}
