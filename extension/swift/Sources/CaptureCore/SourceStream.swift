/// The sound of one run of a source: its blocks, mixed to one channel and put through one converter from the run's first
/// frame to its last.
final class SourceStream {
    let format: SourceFormat
    /// A block of it was read.
    private(set) var hasSound = false
    private(set) var isOver = false
    private let converter: StreamConverter
    private var mono: [Float] = []

    init(_ format: SourceFormat) {
        self.format = format
        converter = StreamConverter(inputRate: format.rate)
    }

    func read() -> SampleRing.Block? { format.ring.read() }

    /// Converts a block; `listen` gets it mixed: one channel as it is, two averaged.
    func convert(
        _ block: SampleRing.Block, into frames: inout [Int16], listen: (UnsafeBufferPointer<Float>) -> Void
    ) {
        hasSound = true
        mix(block)
        mono.withUnsafeBufferPointer { samples in
            listen(samples)
            converter.feed(samples, into: &frames)
        }
    }

    /// Ends the stream with what the converter still holds. Returns the number of frames dropped behind the last block.
    func finish(into frames: inout [Int16]) -> Int64 {
        isOver = true
        converter.finish(into: &frames)
        return format.ring.droppedTail()
    }

    private func mix(_ block: SampleRing.Block) {
        let channels = format.ring.channels
        mono.removeAll(keepingCapacity: true)
        if channels == 1 {
            mono.append(contentsOf: block.samples)
            return
        }
        var at = 0
        for _ in 0..<block.frames {
            var sum: Float = 0
            for channel in 0..<channels { sum += block.samples[at + channel] }
            mono.append(sum / Float(channels))
            at += channels
        }
    }
}
