import Foundation

/// Converts one stream of mono float samples to 16-bit samples at the asset's rate.
///
/// One converter lives as long as the format of its input. It is fed every input frame once, keeps what its filter still
/// needs, and is ended once: `finish` gives back what the filter holds. Nothing is counted per buffer, so nothing is
/// lost to rounding per buffer: n input frames become ⌈n · out / in⌉ output frames, whatever sizes they came in.
///
/// The filter is a windowed sinc (Kaiser, about 90 dB), evaluated at the exact rational positions of the output.
/// It is portable, so that what runs on the Mac is what the tests on every system have proven.
public final class StreamConverter {
    public private(set) var framesIn: Int64 = 0
    public private(set) var framesOut: Int64 = 0

    private let up: Int64
    private let down: Int64
    /// Input frames on each side of an output position that the filter looks at.
    private let reach: Int
    private let tapCount: Int
    private let taps: [Float]
    private let phases: Int
    /// Input from `bufferStart` on; frames before the stream's begin are silence.
    private var buffer: [Float]
    private var bufferStart: Int64
    private var finished = false

    public init(inputRate: Int, outputRate: Int = WavFormat.rate) {
        precondition(inputRate > 0 && outputRate > 0)
        var a = inputRate
        var b = outputRate
        while b != 0 { (a, b) = (b, a % b) }
        up = Int64(outputRate / a)
        down = Int64(inputRate / a)
        if up == down {
            reach = 0
            tapCount = 0
            taps = []
            phases = 1
            buffer = []
            bufferStart = 0
            return
        }
        let passband = min(1.0, Double(outputRate) / Double(inputRate)) * 0.95
        // A multiple of four, so that the taps are whole vectors of eight.
        reach = (Int((28.0 / passband).rounded(.up)) + 3) / 4 * 4
        tapCount = 2 * reach
        // Ordinary rates need few positions; an odd one shares the nearest of 2048.
        phases = Int(min(up, 2048))
        taps = StreamConverter.kernel(phases: phases, reach: reach, passband: passband)
        buffer = [Float](repeating: 0, count: reach)
        bufferStart = -Int64(reach)
    }

    /// Appends to `output` what these frames complete.
    public func feed(_ input: UnsafeBufferPointer<Float>, into output: inout [Int16]) {
        precondition(!finished, "the stream has ended")
        framesIn += Int64(input.count)
        if up == down {
            for sample in input { output.append(StreamConverter.pcm16(sample)) }
            framesOut += Int64(input.count)
            return
        }
        buffer.append(contentsOf: input)
        produce(until: nil, into: &output)
    }

    /// Ends the stream and appends the rest.
    public func finish(into output: inout [Int16]) {
        guard !finished else { return }
        finished = true
        guard up != down else { return }
        buffer.append(contentsOf: repeatElement(0, count: reach + 1))
        produce(until: (framesIn * up + down - 1) / down, into: &output)
    }

    private func produce(until end: Int64?, into output: inout [Int16]) {
        let available = bufferStart + Int64(buffer.count)
        let stride = MemoryLayout<Float>.stride
        buffer.withUnsafeBytes { samples in
            taps.withUnsafeBytes { weights in
                while true {
                    if let end, framesOut >= end { return }
                    let position = framesOut * down
                    let whole = position / up
                    // The last input frame that this position needs must be there.
                    if whole + Int64(reach) >= available { return }
                    let remainder = position % up
                    let phase =
                        Int64(phases) == up ? Int(remainder) : Int((Double(remainder) / Double(up) * Double(phases)).rounded(.down))
                    let first = Int(whole - Int64(reach) + 1 - bufferStart)
                    let row = phase * tapCount
                    var sums = SIMD8<Float>(repeating: 0)
                    var at = 0
                    while at < tapCount * stride {
                        sums +=
                            samples.loadUnaligned(fromByteOffset: first * stride + at, as: SIMD8<Float>.self)
                            * weights.loadUnaligned(fromByteOffset: row * stride + at, as: SIMD8<Float>.self)
                        at += 8 * stride
                    }
                    output.append(StreamConverter.pcm16(sums.sum()))
                    framesOut += 1
                }
            }
        }
        // What no later position reaches back to is let go.
        let keepFrom = framesOut * down / up - Int64(reach) + 1
        let surplus = Int(keepFrom - bufferStart)
        if surplus > 4096 || (surplus > 0 && buffer.count > 8192) {
            buffer.removeFirst(min(surplus, buffer.count))
            bufferStart += Int64(surplus)
        }
    }

    static func pcm16(_ sample: Float) -> Int16 {
        let scaled = (sample * 32768).rounded()
        if !(scaled < 32767) { return scaled.isNaN ? 0 : 32767 }
        return scaled > -32768 ? Int16(scaled) : -32768
    }

    private static func kernel(phases: Int, reach: Int, passband: Double) -> [Float] {
        let beta = 9.0
        let width = Double(reach)
        let scale = bessel(beta)
        var taps = [Float](repeating: 0, count: phases * reach * 2)
        for phase in 0..<phases {
            let shift = Double(phase) / Double(phases)
            var row = [Double](repeating: 0, count: reach * 2)
            var sum = 0.0
            for k in 0..<(reach * 2) {
                let distance = Double(k - reach + 1) - shift
                let x = distance * passband
                let sinc = abs(x) < 1e-9 ? 1.0 : sin(Double.pi * x) / (Double.pi * x)
                let edge = distance / width
                let window = abs(edge) >= 1 ? 0 : bessel(beta * (1 - edge * edge).squareRoot()) / scale
                row[k] = sinc * window
                sum += row[k]
            }
            // Each row passes silence and constant input unchanged.
            for k in 0..<(reach * 2) { taps[phase * reach * 2 + k] = Float(row[k] / sum) }
        }
        return taps
    }

    private static func bessel(_ x: Double) -> Double {
        var sum = 1.0
        var term = 1.0
        var k = 1.0
        while term > sum * 1e-12 {
            term *= (x / (2 * k)) * (x / (2 * k))
            sum += term
            k += 1
        }
        return sum
    }
}
