import Foundation

public struct OptionProblem: Error, Equatable {
    public let message: String
}

/// `--name value` pairs.
private struct OptionReader {
    private var values: [String: String] = [:]

    init(_ arguments: [String], names: Set<String>, flags: Set<String> = []) throws {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            if flags.contains(name) {
                values[name] = ""
                continue
            }
            guard names.contains(name) else { throw OptionProblem(message: "unknown option \(name)") }
            guard let value = rest.popFirst() else { throw OptionProblem(message: "\(name) needs a value") }
            values[name] = value
        }
    }

    func text(_ name: String) -> String? { values[name] }
    func flag(_ name: String) -> Bool { values[name] != nil }

    func number(_ name: String, _ range: ClosedRange<Double>) throws -> Double? {
        guard let text = values[name] else { return nil }
        guard let value = Double(text), range.contains(value) else {
            throw OptionProblem(message: "\(name) is a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }
}

/// The options of `capture`.
public struct CaptureOptions {
    public enum Source: Equatable {
        case microphone
        case file(path: String)
        case synthetic
    }
    public var source = Source.microphone
    public var pace = 1.0
    public var parent: Int32?
    public var synthetic = SyntheticOptions()

    public init(_ arguments: [String]) throws {
        let reader = try OptionReader(
            arguments,
            names: ["--source", "--input", "--pace", "--parent", "--rate", "--channels", "--tone", "--seconds", "--fault"])
        switch reader.text("--source") ?? "microphone" {
        case "microphone": source = .microphone
        case "file":
            guard let path = reader.text("--input") else { throw OptionProblem(message: "--source file needs --input") }
            source = .file(path: path)
        case "synthetic": source = .synthetic
        default: throw OptionProblem(message: "--source is microphone, file or synthetic")
        }
        pace = try reader.number("--pace", 0...1000) ?? 1
        parent = try reader.number("--parent", 1...2_147_483_647).map { Int32($0) }
        if let rate = try reader.number("--rate", 1000...768_000) { synthetic.rate = Int(rate) }
        if let channels = try reader.number("--channels", 1...64) { synthetic.channels = Int(channels) }
        if let tone = try reader.number("--tone", 0...100_000) { synthetic.toneHz = tone }
        synthetic.seconds = try reader.number("--seconds", 0...1_000_000)
        for text in (reader.text("--fault") ?? "").split(separator: ",") {
            guard let fault = SyntheticFault(String(text)) else { throw OptionProblem(message: "unknown fault \(text)") }
            synthetic.faults.append(fault)
        }
    }

    public func makeSource(clock: CaptureClock, microphone: () throws -> AudioSource) throws -> AudioSource {
        switch source {
        case .microphone: return try microphone()
        case let .file(path): return try FileSource(path: path, pace: pace, clock: clock)
        case .synthetic: return SyntheticSource(options: synthetic, pace: pace, clock: clock)
        }
    }
}

/// The options of `transcribe`.
public struct TranscribeOptions {
    public var input: String
    public var locale: String?
    /// The file is still being written: go on reading until stdin ends.
    public var follow: Bool

    public init(_ arguments: [String]) throws {
        let reader = try OptionReader(arguments, names: ["--input", "--locale"], flags: ["--follow"])
        guard let input = reader.text("--input") else { throw OptionProblem(message: "transcribe needs --input") }
        self.input = input
        locale = reader.text("--locale")
        follow = reader.flag("--follow")
    }
}
