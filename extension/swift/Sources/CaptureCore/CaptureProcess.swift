import CaptureSupport
import Foundation

/// Inputs from other threads, in order.
final class Mailbox: @unchecked Sendable {
    private let condition = NSCondition()
    private var inputs: [CaptureEngine.Input] = []

    func put(_ input: CaptureEngine.Input) {
        condition.lock()
        inputs.append(input)
        condition.signal()
        condition.unlock()
    }

    func take(waitMs: Int) -> [CaptureEngine.Input] {
        condition.lock()
        defer { condition.unlock() }
        if inputs.isEmpty, waitMs > 0 { _ = condition.wait(until: Date(timeIntervalSinceNow: Double(waitMs) / 1000)) }
        let taken = inputs
        inputs.removeAll()
        return taken
    }
}

/// The process around an engine: descriptors, threads, signals, the parent.
public enum CaptureProcess {
    /// Call first, on the main thread: every thread made later inherits the mask.
    public static func prepareSignals() {
        signal(SIGPIPE, SIG_IGN)
        // A file size limit is an error of the write, not the end of the process.
        signal(SIGXFSZ, SIG_IGN)
        var set = endSignals()
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    private static func endSignals() -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGTERM)
        sigaddset(&set, SIGINT)
        sigaddset(&set, SIGHUP)
        return set
    }

    /// Calls `body` on a thread of its own at every signal that asks for the end.
    static func onEndSignal(_ body: @escaping @Sendable () -> Void) {
        background("signals") {
            var set = endSignals()
            var number: Int32 = 0
            while sigwait(&set, &number) == 0 { body() }
        }
    }

    static func background(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = name
        thread.start()
    }

    /// Runs a capture on this thread and returns the exit status. `makeSource` is called once the asset is ours.
    public static func run(
        assetDescriptor: Int32 = 3, expectedParent: Int32?, clock: CaptureClock = SystemClock(),
        makeSource: () throws -> AudioSource
    ) -> Int32 {
        let channel = EventChannel(descriptor: STDOUT_FILENO, clock: clock)
        let failed = { (fault: CaptureFault) -> Int32 in
            channel.send(.error(fault, fatal: true, id: nil))
            channel.drain(timeoutMs: 1000)
            return fault.code.exitCode
        }
        let asset = WavAsset(file: DescriptorFile(descriptor: assetDescriptor))
        if let fault = asset.open() { return failed(fault) }
        let source: AudioSource
        do {
            source = try makeSource()
        } catch let fault as CaptureFault {
            return failed(fault)
        } catch {
            return failed(CaptureFault(.internal, "the source cannot be made"))
        }
        let mailbox = Mailbox()
        source.attach { mailbox.put(.source($0)) }
        let engine = CaptureEngine(asset: asset, source: source, clock: clock, emit: channel.send)
        engine.begin(pid: getpid())
        watchParent(expected: expectedParent, mailbox)
        onEndSignal { mailbox.put(.signal) }
        background("commands") { readCommands(into: mailbox) }
        while engine.exitCode == nil {
            for input in mailbox.take(waitMs: engine.patienceMs) { engine.handle(input) }
            engine.tick()
        }
        // Bounded: a reader that has stopped reading must not keep the process.
        channel.drain(timeoutMs: 1000)
        return engine.exitCode ?? ErrorCode.internal.exitCode
    }

    private static func watchParent(expected: Int32?, _ mailbox: Mailbox) {
        let parent = getppid()
        // Orphaned before it looked: there is nobody to record for.
        if let expected, parent != expected { return mailbox.put(.parentExited) }
        if expected == nil, parent == 1 { return mailbox.put(.parentExited) }
        background("parent") {
            capture_wait_for_parent_exit(parent)
            mailbox.put(.parentExited)
        }
    }

    /// Blocking reads: an event source on stdin never fires for some kinds of descriptors.
    private static func readCommands(into mailbox: Mailbox) {
        var splitter = LineSplitter()
        readStdin { data in
            for line in splitter.feed(data) {
                switch line {
                case let .line(bytes): mailbox.put(.line(parseCommand(bytes)))
                case .tooLong: mailbox.put(.line(.malformed("the line is longer than 64 KiB")))
                }
            }
        }
        mailbox.put(.stdinClosed)
    }

    /// Calls `body` with everything that comes, and returns at the end of stdin.
    public static func readStdin(_ body: (Data) -> Void) {
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count > 0 {
                body(Data(buffer[0..<count]))
            } else if count == 0 {
                return
            } else if errno == EAGAIN {
                var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
                _ = poll(&entry, 1, -1)
            } else if errno != EINTR {
                return
            }
        }
    }

    /// Holds the capture lock on a descriptor until stdin ends or a signal comes.
    public static func holdLock(descriptor: Int32 = 3) -> Int32 {
        let number = capture_lock(descriptor)
        guard number == 0 else {
            let fault =
                number == EWOULDBLOCK
                ? CaptureFault(.assetLocked, "another process holds the lock on the asset", errno: number)
                : CaptureFault(.assetInvalid, "descriptor 3 cannot be locked", errno: number)
            say(.error(fault, fatal: true, id: nil))
            return fault.code.exitCode
        }
        say(.document("locked", []))
        onEndSignal { _exit(0) }
        readStdin { _ in }
        return 0
    }

    /// One line on stdout, without `seq` and `t`.
    public static func say(_ event: Event) {
        let bytes = Array((event.line(seq: nil, t: nil) + "\n").utf8)
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count > 0 {
                done += count
            } else if errno != EINTR {
                return
            }
        }
    }
}
