import Foundation

/// What a source captures once it runs: a ring of interleaved floats, its rate, and one or two channels.
public struct SourceFormat {
    public var device: DeviceInfo
    public var rate: Int
    public var ring: SampleRing
    /// Silence since the frames before, when the source knows it better than the clock.
    public var gapMs: Int64?

    public init(device: DeviceInfo, rate: Int, ring: SampleRing, gapMs: Int64? = nil) {
        self.device = device
        self.rate = rate
        self.ring = ring
        self.gapMs = gapMs
    }
}

/// What a source reports, from any thread. `run` is the number given to `start`; reports of earlier runs are ignored.
public enum SourceEvent {
    case running(run: Int, SourceFormat)
    case failed(run: Int, CaptureFault)
    /// No more frames come; all that came are in the ring.
    case stopped(run: Int)
    /// A finite source has come to its end; all frames are in the ring.
    case ended(run: Int)
    case deviceLost(run: Int)
    case formatChanged(run: Int)
    case defaultChanged(DeviceInfo?)
    /// A device came or went; a capture that waits for one tries again.
    case devicesChanged
    /// The system waits for the call before it sleeps.
    case willSleep(acknowledge: () -> Void)
    case didWake
    case permission(PermissionStatus)
}

/// Where sound comes from. `start` and `stop` return at once and answer by events.
public protocol AudioSource: AnyObject {
    /// Real-time sources are watched for missing callbacks and are timed by the clock.
    var isRealtime: Bool { get }
    /// Called once, before anything else.
    func attach(_ report: @escaping (SourceEvent) -> Void)
    func permission() -> PermissionStatus
    /// Asks the user; the answer comes as `.permission`.
    func requestPermission()
    /// The device with this UID, or the default one for nil. nil when there is none.
    func device(uid: String?) -> DeviceInfo?
    func start(uid: String?, channel: Int?, run: Int)
    func stop(run: Int)
    /// Facts that explain exact silence: lid, mute and the like.
    func silenceFacts() -> [(String, JSONValue)]
}
