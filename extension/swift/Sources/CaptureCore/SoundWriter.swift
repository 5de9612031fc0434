/// From converted frames to the file: whole chunks, the account of all frames and gaps, the limit that they may reach,
/// and the fault that ends the writing. A frame is 1/24000 s.
final class SoundWriter {
    /// Called once, with the fault that ended the writing, while sound was being stored.
    var onFailure: (CaptureFault) -> Void = { _ in }
    private(set) var failure: CaptureFault?
    /// Converted frames that wait for their chunk.
    var pending: [Int16] = []

    private let asset: WavAsset
    private let maxDataBytes: Int64
    private let emit: (Event) -> Void
    private var chunkFrames: Int
    private var maxDurationMs: Int?
    /// Where the tail after `stop` ends; it holds to the end.
    private var endFrame: Int64?
    private var gapMs: Int64 = 0
    private var gaps = 0
    private var overrunFrames: Int64 = 0

    init(asset: WavAsset, maxDataBytes: Int64, configuration: CaptureConfiguration, emit: @escaping (Event) -> Void) {
        self.asset = asset
        self.maxDataBytes = maxDataBytes
        self.emit = emit
        chunkFrames = configuration.chunkFrames
        maxDurationMs = configuration.maxDurationMs
    }

    func configure(_ configuration: CaptureConfiguration) {
        chunkFrames = configuration.chunkFrames
        maxDurationMs = configuration.maxDurationMs
    }

    /// Frames written and waiting.
    private var frames: Int64 { asset.dataBytes / WavFormat.bytesPerFrame + Int64(pending.count) }

    /// Where in the WAV the sound ends that has come so far.
    var endOffset: Int64 { WavFormat.dataOffset + frames * WavFormat.bytesPerFrame }

    /// The frame count at which the capture ends, and why.
    private var limit: (frames: Int64, reason: FinishReason) {
        var limit = (frames: maxDataBytes / WavFormat.bytesPerFrame, reason: FinishReason.maxSize)
        if let maxDurationMs {
            let frames = max(0, Int64(maxDurationMs) - gapMs) * Int64(WavFormat.rate) / 1000
            if frames < limit.frames { limit = (frames, .maxDuration) }
        }
        if let endFrame, endFrame <= limit.frames { limit = (endFrame, .stop) }
        return limit
    }

    /// From here on only a tail is taken.
    func endAfter(tailMs: Int64) {
        endFrame = frames + tailMs * Int64(WavFormat.rate) / 1000
    }

    /// Writes the chunks that are whole, and everything once the limit is reached: then it says which one that is.
    func store() -> FinishReason? {
        let limit = self.limit
        guard frames >= limit.frames else {
            flush(all: false)
            return nil
        }
        storeAll()
        return limit.reason
    }

    /// Writes everything up to the limit.
    func storeAll() {
        let excess = frames - limit.frames
        if excess > 0 { pending.removeLast(Int(min(excess, Int64(pending.count)))) }
        flush(all: true)
    }

    func noteGap(ms: Int64, _ reason: GapReason) {
        // What came before the gap is announced before it.
        flush(all: true)
        guard failure == nil else { return }
        gaps += 1
        emit(.gap(atOffset: WavFormat.dataOffset + asset.dataBytes, durationMs: ms, reason: reason))
        gapMs += ms
    }

    /// Frames at the source's rate that never came.
    func noteOverrun(frames: Int64, rate: Int) {
        let ms = (frames * 1000 + Int64(rate) / 2) / Int64(rate)
        overrunFrames += (frames * Int64(WavFormat.rate) + Int64(rate) / 2) / Int64(rate)
        noteGap(ms: ms, .overrun)
    }

    /// What is written becomes durable, and the header claims it.
    func checkpoint() {
        guard failure == nil, asset.dataBytes > asset.syncedBytes else { return }
        if let fault = asset.checkpoint() { return fail(fault) }
        emit(.synced(dataBytes: asset.syncedBytes))
    }

    func freeBytes() -> Int64? { asset.freeBytes() }

    /// The end of the file, and what `finished` says of it. `reason` holds unless writing failed.
    func close(_ reason: FinishReason) -> Finished {
        if let fault = asset.finalise(), failure == nil {
            failure = fault
            emit(.error(fault, fatal: true, id: nil))
        }
        let frames = asset.dataBytes / WavFormat.bytesPerFrame
        return Finished(
            reason: failure?.writeReason ?? reason, dataBytes: asset.dataBytes, frames: frames,
            durationMs: frames * 1000 / Int64(WavFormat.rate), gaps: gaps, overrunFrames: overrunFrames)
    }

    /// The end of a file that never got a sample: an error has been said already, and this one would add nothing.
    func abandon() { _ = asset.finalise() }

    private func flush(all: Bool) {
        var taken = 0
        while failure == nil, pending.count - taken >= chunkFrames || (all && taken < pending.count) {
            let count = min(chunkFrames, pending.count - taken)
            let offset = WavFormat.dataOffset + asset.dataBytes
            let captureMs = asset.dataBytes / WavFormat.bytesPerFrame * 1000 / Int64(WavFormat.rate) + gapMs
            let (bytes, fault) = asset.append(Array(pending[taken..<(taken + count)]))
            if bytes > 0 { emit(.chunk(offset: offset, bytes: bytes, captureMs: captureMs)) }
            taken += count
            if let fault { fail(fault) }
        }
        pending.removeFirst(min(taken, pending.count))
    }

    private func fail(_ fault: CaptureFault) {
        guard failure == nil else { return }
        failure = fault
        emit(.error(fault, fatal: true, id: nil))
        onFailure(fault)
    }
}

extension CaptureConfiguration {
    fileprivate var chunkFrames: Int { WavFormat.rate * chunkMs / 1000 }
}

extension CaptureFault {
    /// How a capture ends whose writing failed with this.
    var writeReason: FinishReason { code == .diskFull ? .diskFull : .writeFailed }
}
