import Foundation

/// The queue of events that wait for the reader: bounded whatever the reader does. Chunks that lie next to each other are
/// merged, of several `synced` the last is kept, levels are dropped. Nothing else is lost and nothing is reordered.
/// `seq` is given when an event leaves, so merging makes no holes.
public struct EventQueue {
    public struct Item {
        public var event: Event
        public var t: Int64
    }

    /// Beyond this many events the reader counts as gone.
    public static let limit = 4096
    /// A level is not worth queueing behind this many events.
    public static let levelLimit = 8

    public private(set) var items: [Item] = []
    public private(set) var overflowed = false
    private var nextSeq: Int64 = 1

    public init() {}

    public mutating func push(_ event: Event, t: Int64) {
        guard !overflowed else { return }
        switch event {
        case .level:
            items.removeAll { if case .level = $0.event { return true } else { return false } }
            if items.count >= EventQueue.levelLimit { return }
        case .synced:
            items.removeAll { if case .synced = $0.event { return true } else { return false } }
        case let .chunk(offset, bytes, _):
            // Only levels and marks that are about to be replaced may lie between: nothing that says what came when.
            if case let .chunk(before, count, captureMs)? = items.last?.event, before + count == offset {
                items[items.count - 1] = Item(
                    event: .chunk(offset: before, bytes: count + bytes, captureMs: captureMs), t: t)
                return
            }
            if items.count >= EventQueue.levelLimit {
                items.removeAll { if case .level = $0.event { return true } else { return false } }
            }
        default:
            break
        }
        items.append(Item(event: event, t: t))
        mergeNeighbours()
        if items.count > EventQueue.limit { overflowed = true }
    }

    /// The next line, with its LF.
    public mutating func pop() -> [UInt8]? {
        guard !items.isEmpty else { return nil }
        let item = items.removeFirst()
        let line = item.event.line(seq: nextSeq, t: item.t) + "\n"
        nextSeq += 1
        return Array(line.utf8)
    }

    /// Removing an older `synced` or level can leave two chunks side by side.
    private mutating func mergeNeighbours() {
        guard items.count > EventQueue.levelLimit else { return }
        var merged: [Item] = []
        for item in items {
            if case let .chunk(offset, bytes, _) = item.event,
                case let .chunk(before, count, captureMs)? = merged.last?.event, before + count == offset
            {
                merged[merged.count - 1] = Item(
                    event: .chunk(offset: before, bytes: count + bytes, captureMs: captureMs), t: item.t)
            } else {
                merged.append(item)
            }
        }
        items = merged
    }
}

/// Writes events to a descriptor on a thread of its own, so that a reader that stops reading stops nothing else.
public final class EventChannel {
    private let descriptor: Int32
    private let clock: CaptureClock
    private let startMs: Int64
    private let condition = NSCondition()
    private var queue = EventQueue()
    private var writing = false
    private var closed = false

    public init(descriptor: Int32, clock: CaptureClock) {
        self.descriptor = descriptor
        self.clock = clock
        startMs = clock.nowMs()
        let thread = Thread { [self] in run() }
        thread.name = "events"
        thread.start()
    }

    public func send(_ event: Event) {
        condition.lock()
        if !closed {
            queue.push(event, t: clock.nowMs() - startMs)
            if queue.overflowed { closed = true }
            condition.broadcast()
        }
        condition.unlock()
    }

    /// Waits until everything is written, the reader is gone, or the time is over.
    public func drain(timeoutMs: Int) {
        let deadline = Date(timeIntervalSinceNow: Double(timeoutMs) / 1000)
        condition.lock()
        while !closed && (writing || !queue.items.isEmpty) {
            if !condition.wait(until: deadline) { break }
        }
        condition.unlock()
    }

    private func run() {
        while true {
            condition.lock()
            while queue.items.isEmpty && !closed { condition.wait() }
            if closed {
                condition.broadcast()
                condition.unlock()
                return
            }
            let line = queue.pop() ?? []
            writing = true
            condition.unlock()
            let ok = put(line)
            condition.lock()
            writing = false
            if !ok { closed = true }
            condition.broadcast()
            condition.unlock()
        }
    }

    private func put(_ line: [UInt8]) -> Bool {
        line.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = write(descriptor, bytes.baseAddress! + done, bytes.count - done)
                if count > 0 {
                    done += count
                } else if errno == EAGAIN {
                    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&entry, 1, -1)
                } else if errno != EINTR {
                    return false
                }
            }
            return true
        }
    }
}
