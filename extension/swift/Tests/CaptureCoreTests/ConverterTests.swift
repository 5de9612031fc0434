import CaptureSupport
import Foundation
import XCTest

import CaptureCore

final class ConverterTests: XCTestCase {
    /// Ten minutes through ring, mixer, converter and file, in buffers of sizes that divide nothing.
    func testTenMinutesKeepTheirFrames() {
        for rate in [44_100, 48_000, 16_000, 24_000, 96_000] {
            for channels in [1, 2] {
                let bench = Bench { _, source in
                    source.isRealtime = false
                    source.devices = [
                        DeviceInfo(uid: "m", name: "M", transport: "usb", rate: rate, channels: channels, isDefault: true)
                    ]
                }
                bench.begin(#","chunkMs":500"#)
                let ring = bench.source.ring!
                let total = rate * 600
                var sent = 0
                var size = 17
                let block = [Float](repeating: 0.25, count: 4096 * channels)
                while sent < total {
                    size = (size * 31 + 7) % 1031 + 1
                    let count = min(size, total - sent)
                    XCTAssertTrue(capture_ring_write(ring.pointer, block, UInt32(count)))
                    sent += count
                    if sent % 7 == 0 || Int(capture_ring_room(ring.pointer)) < rate * 6 {
                        bench.clock.now += 10
                        bench.engine.tick()
                    }
                }
                bench.pass(1000)
                bench.handle(.stdinClosed)
                XCTAssertEqual(bench.engine.exitCode, 0)
                let frames = int(bench.last("finished"), "frames") ?? 0
                XCTAssertLessThanOrEqual(abs(frames - 14_400_000), 24, "\(rate) Hz, \(channels) channels: \(frames)")
                XCTAssertEqual(int(bench.last("finished"), "overrunFrames"), 0)
                bench.checkBooks()
            }
        }
    }

    private func convert(_ input: [Float], rate: Int, sizes: [Int]) -> [Int16] {
        let converter = StreamConverter(inputRate: rate)
        var output: [Int16] = []
        var at = 0
        var turn = 0
        input.withUnsafeBufferPointer { samples in
            while at < samples.count {
                let count = min(sizes[turn % sizes.count], samples.count - at)
                converter.feed(UnsafeBufferPointer(rebasing: samples[at..<(at + count)]), into: &output)
                at += count
                turn += 1
            }
        }
        converter.finish(into: &output)
        XCTAssertEqual(converter.framesIn, Int64(input.count))
        XCTAssertEqual(converter.framesOut, Int64(output.count))
        return output
    }

    func testTheSizesOfBuffersDoNotShowInTheResult() {
        let input = (0..<9_000).map { Float(sin(Double($0) * 0.05)) * 0.5 }
        for rate in [8000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 44_056, 48_000, 88_200, 96_000, 192_000] {
            let whole = convert(input, rate: rate, sizes: [input.count])
            XCTAssertEqual(convert(input, rate: rate, sizes: [1]), whole)
            XCTAssertEqual(convert(input, rate: rate, sizes: [471, 512, 3]), whole)
            XCTAssertEqual(whole.count, (input.count * 24_000 + rate - 1) / rate)
        }
    }

    func testAnyNumberOfFramesIncludingNone() {
        for count in 0..<200 {
            let output = convert([Float](repeating: 0.1, count: count), rate: 44_100, sizes: [7])
            XCTAssertEqual(output.count, (count * 24_000 + 44_099) / 44_100)
        }
    }

    func testSamplesAtTheRateOfTheFileAreUntouched() {
        let values = (Int(Int16.min)...Int(Int16.max)).map { Int16($0) }
        XCTAssertEqual(convert(values.map { Float($0) / 32768 }, rate: 24_000, sizes: [999]), values)
        XCTAssertEqual(convert([2, -2, .nan, .infinity, -.infinity], rate: 24_000, sizes: [5]), [32767, -32768, 0, 32767, -32768])
    }

    /// A tone comes out as the same tone: right pitch, right height, right place in time.
    func testATonePasses() {
        for rate in [16_000, 44_100, 48_000, 96_000] {
            let input = (0..<rate).map { Float(sin(2 * Double.pi * 1000 * Double($0) / Double(rate))) * 0.5 }
            let output = convert(input, rate: rate, sizes: [480])
            var error = 0.0
            var power = 0.0
            for n in 200..<(output.count - 200) {
                let ideal = sin(2 * Double.pi * 1000 * Double(n) / 24_000) * 0.5
                error += pow(Double(output[n]) / 32768 - ideal, 2)
                power += ideal * ideal
            }
            XCTAssertLessThan(10 * log10(error / power), -70, "\(rate)")
        }
    }

    /// What the file's rate cannot hold is filtered out, not folded down.
    func testATooHighToneDoesNotFoldDown() {
        let input = (0..<48_000).map { Float(sin(2 * Double.pi * 15_000 * Double($0) / 48_000)) * 0.5 }
        let output = convert(input, rate: 48_000, sizes: [512])
        let loudest = output[200..<(output.count - 200)].map { abs(Int($0)) }.max() ?? 0
        XCTAssertLessThan(loudest, 16)
    }
}
