import Foundation
import XCTest

import CaptureCore

final class InputTests: XCTestCase {
    private func temporary(_ bytes: [UInt8]) -> String {
        let path = NSTemporaryDirectory() + "input-\(UInt64.random(in: 0...UInt64.max)).wav"
        _ = FileManager.default.createFile(atPath: path, contents: Data(bytes))
        addTeardownBlock { unlink(path) }
        return path
    }

    private func u16(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8 & 255)] }
    private func u32(_ value: Int) -> [UInt8] { u16(value & 0xFFFF) + u16(value >> 16 & 0xFFFF) }

    private func wav(tag: Int, bits: Int, channels: Int = 1, rate: Int = 8000, data: [UInt8], claimed: Int? = nil) -> [UInt8] {
        var out: [UInt8] = Array("RIFF".utf8) + u32(36 + data.count) + Array("WAVE".utf8)
        // A chunk of odd length before the format, padded, as recorders write them.
        out += Array("LIST".utf8) + u32(3) + [1, 2, 3, 0]
        out += Array("fmt ".utf8) + u32(16) + u16(tag) + u16(channels) + u32(rate)
        out += u32(rate * channels * bits / 8) + u16(channels * bits / 8) + u16(bits)
        out += Array("data".utf8) + u32(claimed ?? data.count) + data
        return out
    }

    private func all(_ path: String, channels: [Int] = [0]) throws -> [Float] {
        let input = try WavInput(path: path)
        var samples: [Float] = []
        while true {
            let part = try input.read(frames: 3, channels: channels)
            if part.isEmpty { return samples }
            samples += part
        }
    }

    func testEncodings() throws {
        XCTAssertEqual(try all(temporary(wav(tag: 1, bits: 8, data: [0, 128, 255]))), [-1, 0, Float(127) / 128])
        XCTAssertEqual(try all(temporary(wav(tag: 1, bits: 16, data: [0, 0x80, 0, 0, 0, 0x40]))), [-1, 0, 0.5])
        XCTAssertEqual(try all(temporary(wav(tag: 1, bits: 24, data: [0, 0, 0x80, 0, 0, 0x40]))), [-1, 0.5])
        XCTAssertEqual(try all(temporary(wav(tag: 1, bits: 32, data: [0, 0, 0, 0x80, 0, 0, 0, 0x40]))), [-1, 0.5])
        XCTAssertEqual(try all(temporary(wav(tag: 3, bits: 32, data: u32(Int(Float(0.25).bitPattern))))), [0.25])
        let stereo = temporary(wav(tag: 1, bits: 16, channels: 2, data: [0, 0x40, 0, 0xC0, 0, 0x20, 0, 0xE0]))
        XCTAssertEqual(try all(stereo), [0.5, 0.25])
        XCTAssertEqual(try all(stereo, channels: [1]), [-0.5, -0.25])
        XCTAssertEqual(try all(stereo, channels: [0, 1]), [0.5, -0.5, 0.25, -0.25])
    }

    func testAnInterruptedFileIsReadToItsEnd() throws {
        for claimed in [0, 0xFFFF_FFFF, 0x7FFF_F000] {
            let samples = try all(temporary(wav(tag: 1, bits: 16, data: [0, 0x40, 0, 0x40, 7], claimed: claimed)))
            XCTAssertEqual(samples, [0.5, 0.5])
        }
    }

    func testWhatIsNoUsableWav() {
        let good = wav(tag: 1, bits: 16, data: [0, 0])
        for bytes in [[], Array("RIFF".utf8), Array(good.prefix(40)), wav(tag: 2, bits: 4, data: [0]), wav(tag: 1, bits: 16, channels: 0, data: [])] {
            XCTAssertThrowsError(try WavInput(path: temporary(bytes))) {
                XCTAssertEqual(($0 as? CaptureFault)?.code, .formatUnsupported)
            }
        }
        XCTAssertThrowsError(try WavInput(path: "/nonexistent")) { XCTAssertEqual(($0 as? CaptureFault)?.code, .badArguments) }
    }

    func testAnyTruncationOrFlipOfAHeaderIsReadOrRefused() {
        let good = wav(tag: 1, bits: 16, channels: 2, data: [UInt8](repeating: 3, count: 40))
        for length in 0..<good.count { _ = try? all(temporary(Array(good.prefix(length)))) }
        for at in 0..<56 {
            for bit in 0..<8 {
                var bytes = good
                bytes[at] ^= UInt8(1 << bit)
                _ = try? all(temporary(bytes))
            }
        }
    }

    func testAFollowedFileIsReadAsItGrowsAndToItsEnd() throws {
        let path = temporary(WavFormat.header(dataBytes: 0))
        nonisolatedEnd = {}
        let input = try TranscriptionInput(path: path, follow: true, waitForEnd: { nonisolatedEnd = $0 })
        XCTAssertEqual(try input.next(), [])
        let handle = try XCTUnwrap(FileHandle(forWritingAtPath: path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data([0, 0x40, 0, 0xC0, 1]))
        XCTAssertEqual(try input.next(), [0.5, -0.5])
        XCTAssertEqual(try input.next(), [])
        try handle.write(contentsOf: Data([0x40, 0, 0x20]))
        nonisolatedEnd()
        XCTAssertEqual(try input.next()?.count, 2)
        XCTAssertNil(try input.next())
        XCTAssertEqual(input.framesRead, 4)
    }
}

private var nonisolatedEnd: () -> Void = {}
