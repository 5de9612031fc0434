import Foundation

/// JSON with the order of its members kept, so that the lines read the same everywhere.
public enum JSONValue {
    case null
    case bool(Bool)
    case int(Int64)
    /// One decimal, never infinite.
    case decibel(Double)
    /// Three decimals.
    case ratio(Double)
    case string(String)
    case array([JSONValue])
    case object([(String, JSONValue)])

    public var text: String {
        var out = ""
        write(to: &out)
        return out
    }

    private func write(to out: inout String) {
        switch self {
        case .null: out += "null"
        case let .bool(value): out += value ? "true" : "false"
        case let .int(value): out += String(value)
        case let .decibel(value): out += JSONValue.fixed(value, digits: 1)
        case let .ratio(value): out += JSONValue.fixed(value, digits: 3)
        case let .string(value): JSONValue.quote(value, to: &out)
        case let .array(items):
            out += "["
            for (index, item) in items.enumerated() {
                if index > 0 { out += "," }
                item.write(to: &out)
            }
            out += "]"
        case let .object(members):
            out += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { out += "," }
                JSONValue.quote(member.0, to: &out)
                out += ":"
                member.1.write(to: &out)
            }
            out += "}"
        }
    }

    private static func fixed(_ value: Double, digits: Int) -> String {
        var scale: Int64 = 1
        for _ in 0..<digits { scale *= 10 }
        guard value.isFinite else { return "0" }
        let scaled = Int64((value * Double(scale)).rounded())
        let magnitude = scaled.magnitude
        let whole = magnitude / UInt64(scale)
        let fraction = String(magnitude % UInt64(scale))
        let padded = String(repeating: "0", count: digits - fraction.count) + fraction
        return "\(scaled < 0 ? "-" : "")\(whole).\(padded)"
    }

    private static func quote(_ value: String, to out: inout String) {
        out += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\r": out += "\\r"
            case "\t": out += "\\t"
            default:
                if scalar.value < 0x20 || scalar.value == 0x7F {
                    let hex = String(scalar.value, radix: 16)
                    out += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
                } else {
                    out.unicodeScalars.append(scalar)
                }
            }
        }
        out += "\""
    }
}

/// A command's `id`, echoed as it came.
public enum RequestId: Equatable {
    case string(String)
    case number(Int64)
}

extension Optional where Wrapped == RequestId {
    /// The member `id`, or nothing when the command had none.
    var member: [(String, JSONValue)] {
        switch self {
        case .none: return []
        case let .some(.string(text)): return [("id", .string(text))]
        case let .some(.number(number)): return [("id", .int(number))]
        }
    }
}
