import CaptureSupport
import Foundation

/// The one format of an asset: PCM16 mono 24 kHz, 44-byte header.
public enum WavFormat {
    public static let rate = 24_000
    public static let bytesPerFrame: Int64 = 2
    public static let dataOffset: Int64 = 44
    /// RIFF sizes are 32 bit: 36 header bytes after the RIFF size, and whole frames.
    public static let maxDataBytes: Int64 = (Int64(UInt32.max) - 36) & ~1

    /// The canonical header for `dataBytes` of samples.
    public static func header(dataBytes: Int64) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(44)
        func text(_ value: String) { bytes.append(contentsOf: Array(value.utf8)) }
        func u32(_ value: UInt32) { for shift in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(shift))) } }
        func u16(_ value: UInt16) { for shift in [0, 8] { bytes.append(UInt8(truncatingIfNeeded: value >> UInt16(shift))) } }
        text("RIFF")
        u32(UInt32(36 + dataBytes))
        text("WAVE")
        text("fmt ")
        u32(16)
        u16(1)
        u16(1)
        u32(UInt32(rate))
        u32(UInt32(rate) * 2)
        u16(2)
        u16(16)
        text("data")
        u32(UInt32(dataBytes))
        return bytes
    }
}

public struct FileFacts: Equatable {
    public var isRegular: Bool
    public var size: Int64
    public var links: Int
    public var writable: Bool
    public var appends: Bool

    public init(isRegular: Bool, size: Int64, links: Int, writable: Bool, appends: Bool) {
        self.isRegular = isRegular
        self.size = size
        self.links = links
        self.writable = writable
        self.appends = appends
    }
}

/// The file operations that the writer needs; a test puts a failing one in their place. Errors are errno values.
public protocol AssetFile: AnyObject {
    func facts() -> Result<FileFacts, PosixError>
    func lock() -> PosixError?
    /// Bytes written, at least 1.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Result<Int, PosixError>
    func sync(full: Bool) -> PosixError?
    func truncate(to size: Int64) -> PosixError?
    func freeBytes() -> Int64?
    func close()
}

public struct PosixError: Error, Equatable {
    public var number: Int32
    public init(_ number: Int32) { self.number = number }
    public var meansFull: Bool { number == ENOSPC || number == EDQUOT }
}

/// An asset behind an inherited descriptor.
public final class DescriptorFile: AssetFile {
    private let descriptor: Int32
    private var isOpen = true

    public init(descriptor: Int32) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    public func facts() -> Result<FileFacts, PosixError> {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return .failure(PosixError(errno)) }
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0 else { return .failure(PosixError(errno)) }
        let access = flags & O_ACCMODE
        return .success(
            FileFacts(
                isRegular: (status.st_mode & S_IFMT) == S_IFREG, size: Int64(status.st_size),
                links: Int(status.st_nlink), writable: access == O_RDWR || access == O_WRONLY,
                appends: flags & O_APPEND != 0))
    }

    public func lock() -> PosixError? {
        let number = capture_lock(descriptor)
        return number == 0 ? nil : PosixError(number)
    }

    public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Result<Int, PosixError> {
        while true {
            let written = pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
            if written > 0 { return .success(written) }
            if written == 0 { return .failure(PosixError(EIO)) }
            if errno != EINTR { return .failure(PosixError(errno)) }
        }
    }

    public func sync(full: Bool) -> PosixError? {
        let number = capture_sync(descriptor, full ? CAPTURE_SYNC_FULL : CAPTURE_SYNC_BARRIER)
        return number == 0 ? nil : PosixError(number)
    }

    public func truncate(to size: Int64) -> PosixError? {
        while ftruncate(descriptor, off_t(size)) != 0 {
            if errno != EINTR { return PosixError(errno) }
        }
        return nil
    }

    public func freeBytes() -> Int64? {
        var info = statvfs()
        guard fstatvfs(descriptor, &info) == 0 else { return nil }
        let bytes = UInt64(info.f_bavail).multipliedReportingOverflow(by: UInt64(info.f_frsize))
        return bytes.overflow ? Int64.max : Int64(min(bytes.partialValue, UInt64(Int64.max)))
    }

    public func close() {
        guard isOpen else { return }
        isOpen = false
        #if canImport(Darwin)
            _ = Darwin.close(descriptor)
        #else
            _ = Glibc.close(descriptor)
        #endif
    }
}

/// The WAV under construction. The header never claims bytes that are not written and synced before it.
public final class WavAsset {
    private let file: AssetFile
    /// Whole frames written, in bytes. What is behind it in the file (part of a frame) is cut off at the end.
    public private(set) var dataBytes: Int64 = 0
    /// What the header on disk claims, synced.
    public private(set) var syncedBytes: Int64 = 0
    private var strayBytes = false

    public init(file: AssetFile) {
        self.file = file
    }

    /// Checks the descriptor, takes the lock, writes and syncs the header. Nothing is written unless the lock is held.
    public func open() -> CaptureFault? {
        switch file.facts() {
        case let .failure(error):
            return CaptureFault(.assetInvalid, "descriptor 3 is not open", errno: error.number)
        case let .success(facts):
            if !facts.isRegular { return CaptureFault(.assetInvalid, "descriptor 3 is not a regular file") }
            if !facts.writable { return CaptureFault(.assetInvalid, "descriptor 3 is not open for writing") }
            if facts.appends { return CaptureFault(.assetInvalid, "descriptor 3 is in append mode") }
            if facts.links != 1 { return CaptureFault(.assetInvalid, "the asset does not have exactly one link") }
        }
        if let error = file.lock() {
            return error.number == EWOULDBLOCK
                ? CaptureFault(.assetLocked, "another process holds the lock on the asset", errno: error.number)
                : CaptureFault(.assetInvalid, "the asset cannot be locked", errno: error.number)
        }
        // The size is judged under the lock: whoever held it before may have written.
        guard case let .success(facts) = file.facts(), facts.size == 0 else {
            return CaptureFault(.assetInvalid, "the asset is not empty")
        }
        if let error = put(WavFormat.header(dataBytes: 0), at: 0) ?? file.sync(full: false) {
            return writeFault(error)
        }
        return nil
    }

    /// Writes samples behind the last ones. Returns the bytes that count (whole frames), and the fault that cut it short.
    public func append(_ samples: [Int16]) -> (bytes: Int64, fault: CaptureFault?) {
        let little = samples.map(\.littleEndian)
        return little.withUnsafeBytes { bytes in
            var done = 0
            var failure: PosixError?
            while done < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
                switch file.write(rest, at: WavFormat.dataOffset + dataBytes + Int64(done)) {
                case let .success(count): done += count
                case let .failure(error):
                    failure = error
                }
                if failure != nil { break }
            }
            let whole = Int64(done) / WavFormat.bytesPerFrame * WavFormat.bytesPerFrame
            dataBytes += whole
            strayBytes = Int64(done) != whole
            return (whole, failure.map(writeFault))
        }
    }

    /// Data to disk, then the header, then the header to disk.
    public func checkpoint(full: Bool = false) -> CaptureFault? {
        if let error = file.sync(full: false) { return writeFault(error) }
        if let error = put(WavFormat.header(dataBytes: dataBytes), at: 0) { return writeFault(error) }
        if let error = file.sync(full: full) { return writeFault(error) }
        syncedBytes = dataBytes
        return nil
    }

    /// The last checkpoint with a full sync, and the end of the lock. Goes as far as it can when something fails.
    public func finalise() -> CaptureFault? {
        var fault: CaptureFault?
        if strayBytes, let error = file.truncate(to: WavFormat.dataOffset + dataBytes) { fault = writeFault(error) }
        if let failed = checkpoint(full: true) { fault = fault ?? failed }
        file.close()
        return fault
    }

    public func freeBytes() -> Int64? { file.freeBytes() }

    private func put(_ bytes: [UInt8], at offset: Int64) -> PosixError? {
        bytes.withUnsafeBytes { raw in
            var done = 0
            while done < raw.count {
                switch file.write(UnsafeRawBufferPointer(rebasing: raw[done...]), at: offset + Int64(done)) {
                case let .success(count): done += count
                case let .failure(error): return error
                }
            }
            return nil
        }
    }

    private func writeFault(_ error: PosixError) -> CaptureFault {
        error.meansFull
            ? CaptureFault(.diskFull, "the disk is full", errno: error.number)
            : CaptureFault(.assetWriteFailed, "writing the asset failed", errno: error.number)
    }
}
