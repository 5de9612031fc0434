import Foundation

/// What `configure` sets. Times in ms.
public struct CaptureConfiguration: Equatable {
    public var deviceUid: String?
    public var channel: Int?
    public var chunkMs = 100
    public var syncMs = 1000
    public var tailMs = 250
    public var maxDurationMs: Int?
    public var minFreeBytes: Int64 = 200 * 1024 * 1024
    /// nil = 5 s, or 10 s for a Bluetooth device.
    public var startTimeoutMs: Int?

    public init() {}
}

public enum Command: Equatable {
    case configure(id: RequestId?, CaptureConfiguration)
    case start(id: RequestId?)
    case setDevice(id: RequestId?, uid: String?)
    case stop(id: RequestId?, tailMs: Int?)
    case ping(id: RequestId?)
}

public enum ParsedLine: Equatable {
    case command(Command)
    /// A known command with a value out of its range.
    case refused(id: RequestId?, String)
    case unknown(id: RequestId?, String)
    /// Not a JSON object with a `type`.
    case malformed(String)
}

/// Reads the fields of a command object, and remembers when one has the wrong type.
private struct FieldReader {
    let object: [String: Any]
    private(set) var wrong = false

    init(_ object: [String: Any]) { self.object = object }

    private func present(_ name: String) -> Any? {
        guard let value = object[name], !(value is NSNull) else { return nil }
        return value
    }

    mutating func text(_ name: String) -> String? {
        guard let value = present(name) else { return nil }
        if let text = value as? String { return text }
        wrong = true
        return nil
    }

    mutating func whole(_ name: String) -> Int64? {
        guard let value = present(name) else { return nil }
        if let number = (value as? NSNumber)?.doubleValue, number == number.rounded(), abs(number) <= 9_007_199_254_740_991 {
            return Int64(number)
        }
        wrong = true
        return nil
    }

    mutating func int(_ name: String) -> Int? { whole(name).map { Int($0) } }
}

public func parseCommand(_ line: Data) -> ParsedLine {
    guard line.count <= CaptureProtocol.maxLineBytes else { return .malformed("the line is longer than 64 KiB") }
    // JSONSerialization and not JSONDecoder: the latter ends the process on some malformed strings (seen on Linux).
    guard let object = (try? JSONSerialization.jsonObject(with: line)) as? [String: Any], let type = object["type"] as? String
    else { return .malformed("the line is not a JSON object with a type") }
    let id: RequestId?
    switch object["id"] {
    case nil, is NSNull: id = nil
    case let text as String: id = .string(text)
    case let number as NSNumber where number.doubleValue == number.doubleValue.rounded() && abs(number.doubleValue) <= 9_007_199_254_740_991:
        id = .number(Int64(number.doubleValue))
    default: return .malformed("id is a string or a whole number")
    }
    var fields = FieldReader(object)
    let command: Command
    switch type {
    case "start": command = .start(id: id)
    case "ping": command = .ping(id: id)
    case "setDevice": command = .setDevice(id: id, uid: fields.text("deviceUid"))
    case "stop":
        let tailMs = fields.int("tailMs")
        if let tailMs, !(0...10_000).contains(tailMs) { return .refused(id: id, "tailMs is 0 to 10000") }
        command = .stop(id: id, tailMs: tailMs)
    case "configure":
        var configuration = CaptureConfiguration()
        configuration.deviceUid = fields.text("deviceUid")
        configuration.channel = fields.int("channel")
        configuration.maxDurationMs = fields.int("maxDurationMs")
        configuration.startTimeoutMs = fields.int("startTimeoutMs")
        configuration.chunkMs = fields.int("chunkMs") ?? configuration.chunkMs
        configuration.syncMs = fields.int("syncMs") ?? configuration.syncMs
        configuration.tailMs = fields.int("tailMs") ?? configuration.tailMs
        configuration.minFreeBytes = fields.whole("minFreeBytes") ?? configuration.minFreeBytes
        if let problem = configuration.problem { return .refused(id: id, problem) }
        command = .configure(id: id, configuration)
    default: return .unknown(id: id, "no such command")
    }
    return fields.wrong ? .refused(id: id, "a field has the wrong type") : .command(command)
}

extension CaptureConfiguration {
    fileprivate var problem: String? {
        if !(20...500).contains(chunkMs) { return "chunkMs is 20 to 500" }
        if !(100...60_000).contains(syncMs) { return "syncMs is 100 to 60000" }
        if !(0...10_000).contains(tailMs) { return "tailMs is 0 to 10000" }
        if minFreeBytes < 0 { return "minFreeBytes is not negative" }
        if let channel, !(0...255).contains(channel) { return "channel is 0 to 255" }
        if let maxDurationMs, maxDurationMs < 1 || maxDurationMs > 1_000_000_000 { return "maxDurationMs is 1 to 10⁹" }
        if let startTimeoutMs, !(100...600_000).contains(startTimeoutMs) { return "startTimeoutMs is 100 to 600000" }
        return nil
    }
}

/// Cuts a byte stream into lines of bounded length. A longer line is reported once and skipped up to its LF.
public struct LineSplitter {
    public enum Line: Equatable {
        case line(Data)
        case tooLong
    }
    private var pending = Data()
    private var skipping = false

    public init() {}

    public mutating func feed(_ bytes: Data) -> [Line] {
        var lines: [Line] = []
        var rest = bytes[...]
        while let end = rest.firstIndex(of: 0x0A) {
            if skipping {
                skipping = false
            } else {
                pending.append(rest[rest.startIndex..<end])
                if pending.count > CaptureProtocol.maxLineBytes {
                    lines.append(.tooLong)
                } else if !pending.isEmpty {
                    lines.append(.line(pending))
                }
            }
            pending = Data()
            rest = rest[rest.index(after: end)...]
        }
        if !skipping {
            pending.append(rest)
            if pending.count > CaptureProtocol.maxLineBytes {
                lines.append(.tooLong)
                pending = Data()
                skipping = true
            }
        }
        return lines
    }
}
