import Foundation

/// Peak, mean power and exact silence of the sound since the last reading.
public struct LevelMeter {
    public static let floorDb = -120.0
    private var peak: Float = 0
    private var power = 0.0
    private var frames: Int64 = 0

    public init() {}

    public mutating func add(_ mono: UnsafeBufferPointer<Float>) {
        var highest = peak
        var sum: Float = 0
        for sample in mono {
            highest = max(highest, abs(sample))
            sum += sample * sample
        }
        peak = highest
        power += Double(sum)
        frames += Int64(mono.count)
    }

    /// nil when there was no sound at all since the last reading.
    public mutating func read() -> (peakDb: Double, rmsDb: Double, zero: Bool)? {
        guard frames > 0 else { return nil }
        let rms = (power / Double(frames)).squareRoot()
        let result = (LevelMeter.decibels(Double(peak)), LevelMeter.decibels(rms), peak == 0)
        self = LevelMeter()
        return result
    }

    static func decibels(_ amplitude: Double) -> Double {
        guard amplitude > 0, amplitude.isFinite else { return floorDb }
        return max(floorDb, 20 * log10(amplitude))
    }
}

/// Counts how long the input has been exactly zero. A quiet room never is; a missing permission, a closed lid and a
/// muted device are.
public struct SilenceWatch {
    public static let limitMs: Int64 = 2000
    private var zeroFrames: Int64 = 0
    private var reported = false

    public init() {}

    /// True once per run of zeros: when one more block like this would make it longer than two seconds.
    public mutating func add(zero: Bool, frames: Int, rate: Int) -> Bool {
        guard zero else {
            zeroFrames = 0
            reported = false
            return false
        }
        zeroFrames += Int64(frames)
        guard !reported, (zeroFrames + Int64(frames)) * 1000 > SilenceWatch.limitMs * Int64(rate) else { return false }
        reported = true
        return true
    }
}
