import Foundation

/// The words of `capture/1`.
public enum CaptureProtocol {
    public static let version = 1
    public static let name = "capture/1"
    public static let helperVersion = "0.1.0"
    /// Longest line either way, in bytes, without its LF.
    public static let maxLineBytes = 64 * 1024
}

public enum ErrorCode: String {
    case badArguments = "bad-arguments"
    case badCommand = "bad-command"
    case protocolError = "protocol"
    case assetInvalid = "asset-invalid"
    case assetLocked = "asset-locked"
    case assetWriteFailed = "asset-write-failed"
    case diskFull = "disk-full"
    case permissionDenied = "permission-denied"
    case permissionRestricted = "permission-restricted"
    case permissionTimeout = "permission-timeout"
    case noInputDevice = "no-input-device"
    case deviceNotFound = "device-not-found"
    case deviceLost = "device-lost"
    case audioUnitFailed = "audio-unit-failed"
    case formatUnsupported = "format-unsupported"
    case startTimeout = "start-timeout"
    case overrun
    case `internal`

    /// What the process exits with when this ends it.
    public var exitCode: Int32 {
        switch self {
        case .badArguments: return 64
        case .badCommand, .protocolError: return 65
        case .assetInvalid: return 66
        case .noInputDevice, .deviceNotFound, .deviceLost, .audioUnitFailed, .formatUnsupported, .startTimeout: return 69
        case .overrun, .internal: return 70
        case .assetWriteFailed, .diskFull: return 74
        case .assetLocked: return 75
        case .permissionDenied, .permissionRestricted, .permissionTimeout: return 77
        }
    }
}

public enum FinishReason: String {
    case stop
    case parentExit = "parent-exit"
    case signal
    case maxDuration = "max-duration"
    case maxSize = "max-size"
    case diskFull = "disk-full"
    case deviceLost = "device-lost"
    case writeFailed = "write-failed"
    case sleepTimeout = "sleep-timeout"
}

public enum GapReason: String {
    case routeChange = "route-change"
    case deviceLost = "device-lost"
    case sleep
    case overrun
}

public enum DeviceChange: String {
    case switched
    case lost
    case format
    case defaultChanged = "default-changed"
}

public enum WarningCode: String {
    case silentInput = "silent-input"
    case lowDisk = "low-disk"
    case narrowbandBluetooth = "narrowband-bluetooth"
    case permissionLost = "permission-lost"
}

public enum PermissionStatus: String {
    case undetermined
    case granted
    case denied
    case restricted
}

/// An input device as the protocol shows it. `rate` in Hz; `transport` in CoreAudio's words, lower case.
public struct DeviceInfo: Equatable {
    public var uid: String
    public var name: String
    public var transport: String
    public var rate: Int
    public var channels: Int
    public var isDefault: Bool

    public init(uid: String, name: String, transport: String, rate: Int, channels: Int, isDefault: Bool) {
        self.uid = uid
        self.name = name
        self.transport = transport
        self.rate = rate
        self.channels = channels
        self.isDefault = isDefault
    }

    public var isBluetooth: Bool { transport.hasPrefix("bluetooth") }

    var json: JSONValue {
        .object([
            ("uid", .string(uid)), ("name", .string(name)), ("transport", .string(transport)),
            ("rate", .int(Int64(rate))), ("channels", .int(Int64(channels))), ("isDefault", .bool(isDefault)),
        ])
    }
}

/// An error as the protocol reports it. The message never carries paths or captured content.
public struct CaptureFault: Error, Equatable {
    public var code: ErrorCode
    public var message: String
    public var osStatus: Int32?
    public var errno: Int32?

    public init(_ code: ErrorCode, _ message: String, osStatus: Int32? = nil, errno: Int32? = nil) {
        self.code = code
        self.message = message
        self.osStatus = osStatus
        self.errno = errno
    }
}

public struct Finished: Equatable {
    public var reason: FinishReason
    public var dataBytes: Int64
    public var frames: Int64
    public var durationMs: Int64
    public var gaps: Int
    public var overrunFrames: Int64
}

/// One event, without the `v`, `seq` and `t` that the channel adds.
public enum Event {
    case ready(pid: Int32, permission: PermissionStatus, device: DeviceInfo?)
    case permission(PermissionStatus)
    case started(id: RequestId?, wallTime: String, device: DeviceInfo)
    case chunk(offset: Int64, bytes: Int64, captureMs: Int64)
    case level(peakDb: Double, rmsDb: Double, zero: Bool)
    case gap(atOffset: Int64, durationMs: Int64, reason: GapReason)
    case device(DeviceChange, DeviceInfo?)
    case warning(WarningCode, facts: [(String, JSONValue)])
    case synced(dataBytes: Int64)
    case result(id: RequestId?, ok: Bool, code: ErrorCode?)
    case finishing(FinishReason)
    case finished(Finished)
    case error(CaptureFault, fatal: Bool, id: RequestId?)
    /// The one-line answers of the other subcommands, and the events of `transcribe`.
    case document(String, [(String, JSONValue)])

    var fields: (String, [(String, JSONValue)]) {
        switch self {
        case let .ready(pid, permission, device):
            return (
                "ready",
                [
                    ("helper", .string(CaptureProtocol.helperVersion)), ("os", .string(Platform.os)),
                    ("arch", .string(Platform.arch)), ("pid", .int(Int64(pid))),
                    ("permission", .string(permission.rawValue)), ("device", device?.json ?? .null),
                    (
                        "format",
                        .object([
                            ("encoding", .string("pcm_s16le")), ("rate", .int(Int64(WavFormat.rate))),
                            ("channels", .int(1)),
                        ])
                    ),
                    ("dataOffset", .int(WavFormat.dataOffset)),
                ]
            )
        case let .permission(status): return ("permission", [("status", .string(status.rawValue))])
        case let .started(id, wallTime, device):
            let fields: [(String, JSONValue)] = [
                ("wallTime", .string(wallTime)), ("offset", .int(WavFormat.dataOffset)), ("device", device.json),
            ]
            return ("started", id.member + fields)
        case let .chunk(offset, bytes, captureMs):
            return ("chunk", [("offset", .int(offset)), ("bytes", .int(bytes)), ("captureMs", .int(captureMs))])
        case let .level(peakDb, rmsDb, zero):
            return ("level", [("peakDb", .decibel(peakDb)), ("rmsDb", .decibel(rmsDb)), ("zero", .bool(zero))])
        case let .gap(atOffset, durationMs, reason):
            return (
                "gap",
                [("atOffset", .int(atOffset)), ("durationMs", .int(durationMs)), ("reason", .string(reason.rawValue))]
            )
        case let .device(change, device):
            return ("device", [("change", .string(change.rawValue)), ("device", device?.json ?? .null)])
        case let .warning(code, facts): return ("warning", [("code", .string(code.rawValue))] + facts)
        case let .synced(dataBytes): return ("synced", [("dataBytes", .int(dataBytes))])
        case let .result(id, ok, code):
            var fields: [(String, JSONValue)] = id.member + [("ok", .bool(ok))]
            if let code { fields.append(("code", .string(code.rawValue))) }
            return ("result", fields)
        case let .finishing(reason): return ("finishing", [("reason", .string(reason.rawValue))])
        case let .finished(end):
            return (
                "finished",
                [
                    ("reason", .string(end.reason.rawValue)), ("dataBytes", .int(end.dataBytes)),
                    ("frames", .int(end.frames)), ("durationMs", .int(end.durationMs)),
                    ("gaps", .int(Int64(end.gaps))), ("overrunFrames", .int(end.overrunFrames)),
                ]
            )
        case let .error(fault, fatal, id):
            var fields: [(String, JSONValue)] = [("code", .string(fault.code.rawValue)), ("fatal", .bool(fatal))]
            fields.append(contentsOf: id.member)
            if let status = fault.osStatus { fields.append(("osStatus", .int(Int64(status)))) }
            if let number = fault.errno { fields.append(("errno", .int(Int64(number)))) }
            fields.append(("message", .string(fault.message)))
            return ("error", fields)
        case let .document(type, fields): return (type, fields)
        }
    }

    /// The JSON line without its LF. `seq` and `t` are left out for the one-line answers of other subcommands.
    public func line(seq: Int64?, t: Int64?) -> String {
        let (type, fields) = self.fields
        var all: [(String, JSONValue)] = [("v", .int(Int64(CaptureProtocol.version)))]
        if let seq { all.append(("seq", .int(seq))) }
        if let t { all.append(("t", .int(t))) }
        all.append(("type", .string(type)))
        all.append(contentsOf: fields)
        return JSONValue.object(all).text
    }
}

enum Platform {
    static var os: String {
        #if os(macOS)
            return "macos"
        #elseif os(Linux)
            return "linux"
        #else
            return "other"
        #endif
    }
    static var arch: String {
        #if arch(arm64)
            return "arm64"
        #elseif arch(x86_64)
            return "x86_64"
        #else
            return "other"
        #endif
    }
}

/// The line of `version`.
public func versionDocument(speech: Bool) -> Event {
    .document(
        "version",
        [
            ("helper", .string(CaptureProtocol.helperVersion)), ("protocol", .string(CaptureProtocol.name)),
            ("os", .string(Platform.os)), ("arch", .string(Platform.arch)), ("speech", .bool(speech)),
        ])
}

/// The line of `devices`.
public func devicesDocument(_ devices: [DeviceInfo]) -> Event {
    .document("devices", [("devices", .array(devices.map(\.json)))])
}
