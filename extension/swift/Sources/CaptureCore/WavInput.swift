import Foundation

/// Reads a WAV file as floats: PCM 8, 16, 24 and 32 bit, float 32 and 64, also in the extensible form. A header that
/// claims more or nothing (an interrupted recording) is taken as "to the end of the file".
public final class WavInput {
    public let rate: Int
    public let channels: Int
    public let frames: Int64

    private enum Encoding { case u8, s16, s24, s32, f32, f64 }
    private let encoding: Encoding
    private let handle: FileHandle
    private let blockAlign: Int
    private var left: Int64

    public init(path: String) throws {
        let refused = { (what: String) in CaptureFault(.formatUnsupported, what) }
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw CaptureFault(.badArguments, "the input file cannot be opened")
        }
        self.handle = handle
        let size = Int64(try handle.seekToEnd())
        func bytes(_ offset: Int64, _ count: Int) throws -> [UInt8] {
            try handle.seek(toOffset: UInt64(offset))
            return Array(try handle.read(upToCount: count) ?? Data())
        }
        func number(_ data: [UInt8], _ at: Int, _ count: Int) -> Int64 {
            var value: Int64 = 0
            for k in (0..<count).reversed() { value = value << 8 | Int64(data[at + k]) }
            return value
        }
        let head = try bytes(0, 12)
        guard head.count == 12, Array(head[0..<4]) == Array("RIFF".utf8), Array(head[8..<12]) == Array("WAVE".utf8) else {
            throw refused("the input is not a RIFF WAVE file")
        }
        var at: Int64 = 12
        var fmt: [UInt8] = []
        var data: (start: Int64, count: Int64)?
        while data == nil, at + 8 <= size {
            let chunk = try bytes(at, 8)
            let name = Array(chunk[0..<4])
            let length = number(chunk, 4, 4)
            if name == Array("data".utf8) {
                let rest = size - at - 8
                data = (at + 8, length == 0 || length > rest ? rest : length)
            } else {
                if name == Array("fmt ".utf8) { fmt = try bytes(at + 8, Int(min(length, 40))) }
                at += 8 + length + (length & 1)
            }
        }
        guard fmt.count >= 16, let data else { throw refused("the input has no fmt or no data chunk") }
        var tag = number(fmt, 0, 2)
        if tag == 0xFFFE, fmt.count >= 26 { tag = number(fmt, 24, 2) }
        let bits = number(fmt, 14, 2)
        channels = Int(number(fmt, 2, 2))
        rate = Int(number(fmt, 4, 4))
        blockAlign = Int(number(fmt, 12, 2))
        switch (tag, bits) {
        case (1, 8): encoding = .u8
        case (1, 16): encoding = .s16
        case (1, 24): encoding = .s24
        case (1, 32): encoding = .s32
        case (3, 32): encoding = .f32
        case (3, 64): encoding = .f64
        default: throw refused("the input's encoding is not supported")
        }
        guard (1...64).contains(channels), (1000...768_000).contains(rate), blockAlign == channels * Int(bits) / 8 else {
            throw refused("the input's format is not valid")
        }
        frames = data.count / Int64(blockAlign)
        left = frames
        try handle.seek(toOffset: UInt64(data.start))
    }

    /// The next frames of the wanted channels, interleaved; empty at the end.
    public func read(frames wanted: Int, channels picked: [Int]) throws -> [Float] {
        let count = Int(min(Int64(wanted), left))
        guard count > 0 else { return [] }
        let bytes = Array(try handle.read(upToCount: count * blockAlign) ?? Data())
        let whole = bytes.count / blockAlign
        left = whole < count ? 0 : left - Int64(whole)
        var out: [Float] = []
        out.reserveCapacity(whole * picked.count)
        let width = blockAlign / channels
        bytes.withUnsafeBytes { raw in
            for frame in 0..<whole {
                for channel in picked { out.append(sample(raw, frame * blockAlign + channel * width)) }
            }
        }
        return out
    }

    private func sample(_ raw: UnsafeRawBufferPointer, _ at: Int) -> Float {
        switch encoding {
        case .u8: return (Float(raw[at]) - 128) / 128
        case .s16: return Float(Int16(littleEndian: raw.loadUnaligned(fromByteOffset: at, as: Int16.self))) / 32768
        case .s24:
            let value = Int32(raw[at]) | Int32(raw[at + 1]) << 8 | Int32(Int8(bitPattern: raw[at + 2])) << 16
            return Float(value) / 8_388_608
        case .s32: return Float(Int32(littleEndian: raw.loadUnaligned(fromByteOffset: at, as: Int32.self))) / 2_147_483_648
        case .f32:
            return Float(bitPattern: UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: at, as: UInt32.self)))
        case .f64:
            return Float(Double(bitPattern: UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: at, as: UInt64.self))))
        }
    }
}
