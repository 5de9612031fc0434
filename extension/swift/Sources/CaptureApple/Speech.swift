#if canImport(CoreAudio)
    // Never compiled where this was written: there was no Mac. Names are from the Speech framework of macOS 26
    // (SpeechAnalyzer, SpeechTranscriber, AssetInventory, AnalyzerInput). Older SDKs do not have them, hence the check of
    // the compiler's version; older systems are turned away when asked.
    import CaptureCore
    import Foundation

    #if canImport(Speech) && compiler(>=6.2)
        import AVFoundation
        import CoreMedia
        import Speech

        public func speechIsAvailable() -> Bool {
            if #available(macOS 26.0, *) { return SpeechTranscriber.isAvailable }
            return false
        }

        public func transcribe(_ options: TranscribeOptions) -> Int32 {
            guard #available(macOS 26.0, *) else { return refuseSpeech("speech recognition on this machine needs macOS 26") }
            let done = DispatchSemaphore(value: 0)
            let code = ExitCode()
            Task.detached {
                do {
                    try await AppleTranscription(options: options).run()
                } catch let fault as CaptureFault {
                    CaptureProcess.say(.error(fault, fatal: true, id: nil))
                    code.value = fault.code.exitCode
                } catch {
                    // The framework's own words may hold what was said: they are not passed on.
                    code.value = refuseSpeech("the recogniser failed")
                }
                done.signal()
            }
            done.wait()
            return code.value
        }

        private final class ExitCode: @unchecked Sendable {
            var value: Int32 = 0
        }

        @available(macOS 26.0, *)
        private struct AppleTranscription {
            let options: TranscribeOptions

            func run() async throws {
                let input = try TranscriptionInput(path: options.input, follow: options.follow)
                let wanted = options.locale.map { Locale(identifier: $0) } ?? Locale.current
                guard let locale = await SpeechTranscriber.supportedLocale(equivalentTo: wanted) else {
                    throw CaptureFault(.formatUnsupported, "this language cannot be recognised on this machine")
                }
                let transcriber = SpeechTranscriber(
                    locale: locale, transcriptionOptions: [], reportingOptions: [.volatileResults],
                    attributeOptions: [.audioTimeRange, .transcriptionConfidence])
                try await install(for: transcriber)
                guard let format = await SpeechAnalyzer.bestAvailableAudioFormat(compatibleWith: [transcriber]) else {
                    throw CaptureFault(.formatUnsupported, "the recogniser takes no format")
                }
                let analyzer = SpeechAnalyzer(modules: [transcriber])
                let (sequence, feed) = AsyncStream<AnalyzerInput>.makeStream()
                // Listened to before anything is fed, so that no result is missed.
                let rate = input.rate
                let results = Task {
                    for try await result in transcriber.results { report(result, rate: rate) }
                }
                try await analyzer.start(inputSequence: sequence)
                let converter = StreamConverter(inputRate: input.rate, outputRate: Int(format.sampleRate))
                while let samples = try input.next() {
                    if samples.isEmpty {
                        try await Task.sleep(nanoseconds: 50_000_000)
                        continue
                    }
                    var converted: [Int16] = []
                    samples.withUnsafeBufferPointer { converter.feed($0, into: &converted) }
                    try give(converted, format, to: feed)
                }
                // What the converter still holds belongs to the sound.
                var rest: [Int16] = []
                converter.finish(into: &rest)
                try give(rest, format, to: feed)
                feed.finish()
                try await analyzer.finalizeAndFinishThroughEndOfInput()
                try await results.value
                CaptureProcess.say(
                    .document(
                        "transcribed",
                        [("frames", .int(input.framesRead)), ("locale", .string(locale.identifier(.bcp47)))]))
            }

            /// The model is the system's; the first use of a language may download it, which can take minutes.
            private func install(for transcriber: SpeechTranscriber) async throws {
                guard let request = try await AssetInventory.assetInstallationRequest(supporting: [transcriber]) else { return }
                let progress = request.progress
                let ticker = Task {
                    while !Task.isCancelled {
                        CaptureProcess.say(.document("progress", [("fraction", .ratio(progress.fractionCompleted))]))
                        try await Task.sleep(nanoseconds: 1_000_000_000)
                    }
                }
                defer { ticker.cancel() }
                try await request.downloadAndInstall()
            }

            private func give(
                _ samples: [Int16], _ format: AVAudioFormat, to feed: AsyncStream<AnalyzerInput>.Continuation
            ) throws {
                guard !samples.isEmpty else { return }
                guard let buffer = AVAudioPCMBuffer(pcmFormat: format, frameCapacity: AVAudioFrameCount(samples.count)) else {
                    throw CaptureFault(.internal, "no memory for a buffer")
                }
                buffer.frameLength = AVAudioFrameCount(samples.count)
                if let ints = buffer.int16ChannelData {
                    for index in samples.indices { ints[0][index] = samples[index] }
                } else if let floats = buffer.floatChannelData {
                    for index in samples.indices { floats[0][index] = Float(samples[index]) / 32768 }
                } else {
                    throw CaptureFault(.formatUnsupported, "the recogniser's format is not 16-bit or float")
                }
                feed.yield(AnalyzerInput(buffer: buffer))
            }

            /// `from` and `to` in frames of the input file.
            private func report(_ result: SpeechTranscriber.Result, rate: Int) {
                let text = String(result.text.characters)
                let from = Int64((result.range.start.seconds * Double(rate)).rounded())
                let to = Int64((result.range.end.seconds * Double(rate)).rounded())
                var fields: [(String, JSONValue)] = [("from", .int(from)), ("to", .int(to)), ("text", .string(text))]
                guard result.isFinal else { return CaptureProcess.say(.document("partial", fields)) }
                let confidences = result.text.runs.compactMap { $0.transcriptionConfidence }
                if !confidences.isEmpty {
                    fields.append(("confidence", .ratio(confidences.reduce(0, +) / Double(confidences.count))))
                }
                CaptureProcess.say(.document("final", fields))
            }
        }
    #else
        public func speechIsAvailable() -> Bool { false }

        public func transcribe(_ options: TranscribeOptions) -> Int32 {
            refuseSpeech("this helper was built without the speech framework of macOS 26")
        }
    #endif

    private func refuseSpeech(_ why: String) -> Int32 {
        let fault = CaptureFault(.formatUnsupported, why)
        CaptureProcess.say(.error(fault, fatal: true, id: nil))
        return fault.code.exitCode
    }
#endif
