import CaptureSupport
import Foundation

/// Time, injected everywhere.
public protocol CaptureClock: AnyObject {
    /// Milliseconds, monotonic, running through sleep.
    func nowMs() -> Int64
    /// The time of day, ISO 8601 with milliseconds and Z.
    func wallTime() -> String
}

public final class SystemClock: CaptureClock {
    public init() {}

    public func nowMs() -> Int64 { capture_monotonic_ms() }

    public func wallTime() -> String {
        let milliseconds = Int64((Date().timeIntervalSince1970 * 1000).rounded(.down))
        var seconds = time_t(milliseconds / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func pad(_ value: Int32, _ width: Int) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        let date = "\(pad(parts.tm_year + 1900, 4))-\(pad(parts.tm_mon + 1, 2))-\(pad(parts.tm_mday, 2))"
        let time = "\(pad(parts.tm_hour, 2)):\(pad(parts.tm_min, 2)):\(pad(parts.tm_sec, 2))"
        return "\(date)T\(time).\(pad(Int32(milliseconds % 1000), 3))Z"
    }
}
