import Foundation

/// The sound of a file for the recogniser, mono, at the file's own rate. With `follow` the file is an asset that is still
/// being written: its header is behind, so its size counts, until stdin ends.
public final class TranscriptionInput {
    public let rate: Int
    public private(set) var framesRead: Int64 = 0
    private let whole: WavInput?
    private let tail: FileHandle?
    private let lock = NSLock()
    private var isOver = false

    public init(path: String, follow: Bool, waitForEnd: (@escaping @Sendable () -> Void) -> Void = TranscriptionInput.endOfStdin) throws {
        if follow {
            guard let handle = FileHandle(forReadingAtPath: path) else {
                throw CaptureFault(.badArguments, "the input file cannot be opened")
            }
            tail = handle
            whole = nil
            rate = WavFormat.rate
            let over = Weak(self)
            waitForEnd { over.target?.end() }
        } else {
            let input = try WavInput(path: path)
            whole = input
            tail = nil
            rate = input.rate
        }
    }

    /// Calls back once stdin has ended, from a thread of its own.
    public static func endOfStdin(_ ended: @escaping @Sendable () -> Void) {
        CaptureProcess.background("stdin") {
            CaptureProcess.readStdin { _ in }
            ended()
        }
    }

    private func end() {
        lock.lock()
        isOver = true
        lock.unlock()
    }

    private var hasEnded: Bool {
        lock.lock()
        defer { lock.unlock() }
        return isOver
    }

    /// The next samples; empty when there are none yet; nil at the end.
    public func next() throws -> [Float]? {
        let count = rate / 10
        var samples: [Float]
        if let whole {
            samples = try whole.read(frames: count, channels: whole.channels == 1 ? [0] : [0, 1])
            if whole.channels > 1 {
                samples = stride(from: 0, to: samples.count - 1, by: 2).map { (samples[$0] + samples[$0 + 1]) / 2 }
            }
            if samples.isEmpty { return nil }
        } else if let tail {
            // Looked at before reading: what was written until the end came is still read.
            let over = hasEnded
            try tail.seek(toOffset: UInt64(WavFormat.dataOffset + framesRead * WavFormat.bytesPerFrame))
            let bytes = Array(try tail.read(upToCount: count * Int(WavFormat.bytesPerFrame)) ?? Data())
            samples = stride(from: 0, to: bytes.count - 1, by: 2).map {
                Float(Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)) / 32768
            }
            if samples.isEmpty, over { return nil }
        } else {
            return nil
        }
        framesRead += Int64(samples.count)
        return samples
    }
}

/// A reference for a callback that must not keep its target alive.
private final class Weak: @unchecked Sendable {
    weak var target: TranscriptionInput?
    init(_ target: TranscriptionInput) { self.target = target }
}
