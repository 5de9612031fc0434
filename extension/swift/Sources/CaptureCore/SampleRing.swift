import CaptureSupport

/// Owns a C ring. The producer gets `pointer` and may use it on a real-time thread; the consumer calls `read`.
public final class SampleRing {
    public let pointer: OpaquePointer
    public let channels: Int
    private let scratch: UnsafeMutablePointer<Float>
    /// Frames that one `read` returns at most.
    public static let maxReadFrames = 4096

    /// Room for `seconds` of sound at `rate`, but for 64 k frames at least.
    public init?(channels: Int, rate: Int, seconds: Int = 12) {
        let frames = max(rate * seconds, 65_536)
        // Audio callbacks bring 64 frames and more; smaller blocks fill the block table first and are then dropped too.
        guard let ring = capture_ring_create(UInt32(channels), UInt32(frames), UInt32(max(4096, frames / 64))) else {
            return nil
        }
        pointer = ring
        self.channels = channels
        scratch = UnsafeMutablePointer<Float>.allocate(capacity: SampleRing.maxReadFrames * channels)
    }

    deinit {
        capture_ring_destroy(pointer)
        scratch.deallocate()
    }

    public struct Block {
        /// Interleaved; valid until the next `read`.
        public let samples: UnsafeBufferPointer<Float>
        public let frames: Int
        public let droppedBefore: Int64
    }

    public func read() -> Block? {
        var dropped: UInt64 = 0
        let frames = Int(capture_ring_read(pointer, scratch, UInt32(SampleRing.maxReadFrames), &dropped))
        guard frames > 0 else { return nil }
        return Block(
            samples: UnsafeBufferPointer(start: scratch, count: frames * channels), frames: frames,
            droppedBefore: Int64(dropped))
    }

    public func droppedTail() -> Int64 { Int64(capture_ring_dropped_tail(pointer)) }
}
