import CaptureApple
import CaptureCore
import Foundation

CaptureProcess.prepareSignals()
let arguments = Array(CommandLine.arguments.dropFirst())

func leave(_ code: Int32) -> Never {
    // Threads are blocked in reads and waits; nothing of theirs is to be torn down.
    _exit(code)
}

func usage(_ problem: String) -> Never {
    let text = """
        capture-helper: \(problem)
        usage: capture-helper capture [--source microphone|file|synthetic] [--input FILE] [--pace N] [--parent PID]
                                      [--rate N] [--channels N] [--tone HZ] [--seconds N] [--fault LIST]
               capture-helper devices | permission [--request] | lock | version
               capture-helper transcribe --input FILE [--locale ID] [--follow]

        """
    FileHandle.standardError.write(Data(text.utf8))
    CaptureProcess.say(.error(CaptureFault(.badArguments, problem), fatal: true, id: nil))
    leave(ErrorCode.badArguments.exitCode)
}

switch arguments.first {
case "capture":
    do {
        let options = try CaptureOptions(Array(arguments.dropFirst()))
        let clock = SystemClock()
        leave(
            CaptureProcess.run(expectedParent: options.parent, clock: clock) {
                try options.makeSource(clock: clock, microphone: makeMicrophone)
            })
    } catch let problem as OptionProblem {
        usage(problem.message)
    }
case "devices":
    CaptureProcess.say(devicesDocument(inputDevices()))
    leave(0)
case "permission":
    let rest = arguments.dropFirst()
    guard rest.allSatisfy({ $0 == "--request" }) else { usage("permission takes only --request") }
    CaptureProcess.say(
        .document("permission", [("status", .string(microphonePermission(request: !rest.isEmpty).rawValue))]))
    leave(0)
case "lock":
    guard arguments.count == 1 else { usage("lock takes no options") }
    leave(CaptureProcess.holdLock())
case "version":
    CaptureProcess.say(versionDocument(speech: speechIsAvailable()))
    leave(0)
case "transcribe":
    do {
        let options = try TranscribeOptions(Array(arguments.dropFirst()))
        leave(transcribe(options))
    } catch let problem as OptionProblem {
        usage(problem.message)
    }
case let other?: usage("unknown subcommand \(other)")
case nil: usage("no subcommand")
}
