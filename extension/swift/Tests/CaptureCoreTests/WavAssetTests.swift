import CaptureSupport
import Foundation
import XCTest

import CaptureCore

final class WavAssetTests: XCTestCase {
    func testTheHeaderIsDurableBeforeTheFirstSampleAndNeverClaimsMoreThanIsSynced() {
        let file = MemoryFile()
        let asset = WavAsset(file: file)
        XCTAssertNil(asset.open())
        XCTAssertEqual(file.operations, [.lock, .write(offset: 0, count: 44), .sync(full: false)])
        XCTAssertEqual(file.claimed, 0)
        file.operations = []
        XCTAssertEqual(asset.append([1, -2, 300]).bytes, 6)
        XCTAssertEqual(file.claimed, 0)
        XCTAssertNil(asset.checkpoint())
        XCTAssertEqual(
            file.operations,
            [.write(offset: 44, count: 6), .sync(full: false), .write(offset: 0, count: 44), .sync(full: false)])
        XCTAssertEqual(file.claimed, 6)
        file.operations = []
        XCTAssertEqual(asset.append([4]).bytes, 2)
        XCTAssertNil(asset.finalise())
        XCTAssertEqual(
            file.operations,
            [.write(offset: 50, count: 2), .sync(full: false), .write(offset: 0, count: 44), .sync(full: true), .close])
        XCTAssertEqual(file.samples, [1, -2, 300, 4])
        XCTAssertEqual(file.bytes.count, 52)
    }

    func testTheHeaderIsTheCanonicalOne() {
        let header = WavFormat.header(dataBytes: 0x0102_0304)
        XCTAssertEqual(header.count, 44)
        var expected: [UInt8] = Array("RIFF".utf8)
        expected.append(contentsOf: [0x28, 0x03, 0x02, 0x01])
        expected.append(contentsOf: Array("WAVEfmt ".utf8))
        expected.append(contentsOf: [16, 0, 0, 0, 1, 0, 1, 0])
        expected.append(contentsOf: [0xC0, 0x5D, 0, 0, 0x80, 0xBB, 0, 0, 2, 0, 16, 0])
        expected.append(contentsOf: Array("data".utf8))
        expected.append(contentsOf: [0x04, 0x03, 0x02, 0x01])
        XCTAssertEqual(header, expected)
        XCTAssertEqual(WavFormat.maxDataBytes % 2, 0)
        XCTAssertEqual(WavFormat.header(dataBytes: WavFormat.maxDataBytes)[4..<8], [0xFE, 0xFF, 0xFF, 0xFF])
    }

    func testAShortWriteIsContinued() {
        let file = MemoryFile()
        file.maxWrite = 3
        let asset = WavAsset(file: file)
        XCTAssertNil(asset.open())
        XCTAssertEqual(asset.append([1, 2, 3, 4]).bytes, 8)
        XCTAssertNil(asset.finalise())
        XCTAssertEqual(file.samples, [1, 2, 3, 4])
        XCTAssertEqual(file.claimed, 8)
    }

    func testAFullDiskKeepsWholeFramesAndCutsTheRest() {
        let file = MemoryFile()
        file.capacity = 44 + 7
        let asset = WavAsset(file: file)
        XCTAssertNil(asset.open())
        let (bytes, fault) = asset.append([1, 2, 3, 4, 5])
        XCTAssertEqual(bytes, 6)
        XCTAssertEqual(fault?.code, .diskFull)
        XCTAssertEqual(fault?.errno, ENOSPC)
        XCTAssertNil(asset.finalise())
        XCTAssertEqual(file.bytes.count, 50)
        XCTAssertEqual(file.claimed, 6)
        XCTAssertEqual(file.samples, [1, 2, 3])
    }

    /// Whatever single operation fails, the header on disk claims nothing that is not there.
    func testAnyFailingOperationLeavesAnHonestHeader() {
        for failForEver in [false, true] {
            for k in 0..<14 {
                let file = MemoryFile()
                file.failAt = k
                file.failForEver = failForEver
                let asset = WavAsset(file: file)
                if let fault = asset.open() {
                    XCTAssertLessThan(k, 2)
                    XCTAssertEqual(fault.code, .assetWriteFailed)
                    continue
                }
                var faults = 0
                for round in 0..<3 {
                    if asset.append([Int16](repeating: 7, count: 100 + round)).fault != nil { faults += 1 }
                    if asset.checkpoint() != nil { faults += 1 }
                    XCTAssertLessThanOrEqual(file.claimed ?? 0, Int64(file.bytes.count) - 44)
                    XCTAssertLessThanOrEqual(asset.syncedBytes, file.claimed ?? 0)
                }
                if asset.finalise() != nil { faults += 1 }
                XCTAssertGreaterThan(faults, 0, "operation \(k)")
                XCTAssertEqual(file.operations.last, .close)
                if !failForEver, faults == 1 { XCTAssertEqual(file.claimed, asset.dataBytes) }
            }
        }
    }

    func testWhatIsNotAnEmptyFileOfOursIsRefusedUntouched() {
        let cases: [(FileFacts, Bool)] = [
            (FileFacts(isRegular: false, size: 0, links: 1, writable: true, appends: false), false),
            (FileFacts(isRegular: true, size: 1, links: 1, writable: true, appends: false), true),
            (FileFacts(isRegular: true, size: 0, links: 2, writable: true, appends: false), false),
            (FileFacts(isRegular: true, size: 0, links: 0, writable: true, appends: false), false),
            (FileFacts(isRegular: true, size: 0, links: 1, writable: false, appends: false), false),
            (FileFacts(isRegular: true, size: 0, links: 1, writable: true, appends: true), false),
        ]
        for (facts, locks) in cases {
            let file = MemoryFile()
            file.status = facts
            XCTAssertEqual(WavAsset(file: file).open()?.code, .assetInvalid)
            XCTAssertEqual(file.operations, locks ? [.lock] : [])
        }
        let file = MemoryFile()
        file.lockError = PosixError(EWOULDBLOCK)
        XCTAssertEqual(WavAsset(file: file).open()?.code, .assetLocked)
        XCTAssertEqual(file.bytes, [])
    }

    // MARK: Real files

    private func temporary(_ flags: Int32) -> (path: String, descriptor: Int32) {
        let path = NSTemporaryDirectory() + "asset-\(UInt64.random(in: 0...UInt64.max)).wav"
        let descriptor = open(path, flags | O_CREAT, 0o600)
        addTeardownBlock { unlink(path) }
        XCTAssertGreaterThanOrEqual(descriptor, 0)
        return (path, descriptor)
    }

    func testARealFileIsLockedWhileItIsOpenAndFreeAfterwards() {
        let (path, descriptor) = temporary(O_RDWR | O_EXCL)
        let asset = WavAsset(file: DescriptorFile(descriptor: descriptor))
        XCTAssertNil(asset.open())
        let other = open(path, O_RDWR)
        XCTAssertEqual(capture_lock(other), EWOULDBLOCK)
        XCTAssertEqual(WavAsset(file: DescriptorFile(descriptor: open(path, O_RDWR))).open()?.code, .assetLocked)
        XCTAssertEqual(asset.append([1, 2]).bytes, 4)
        XCTAssertNil(asset.checkpoint())
        XCTAssertNil(asset.finalise())
        XCTAssertEqual(capture_lock(other), 0)
        close(other)
        XCTAssertEqual(FileManager.default.contents(atPath: path)?.count, 48)
        // The lock is free, but the file is not empty any more.
        XCTAssertEqual(WavAsset(file: DescriptorFile(descriptor: open(path, O_RDWR))).open()?.code, .assetInvalid)
    }

    func testRealDescriptorsThatAreNoAssets() {
        let closed = temporary(O_RDWR)
        close(closed.descriptor)
        XCTAssertEqual(WavAsset(file: DescriptorFile(descriptor: closed.descriptor)).open()?.code, .assetInvalid)
        XCTAssertEqual(WavAsset(file: DescriptorFile(descriptor: temporary(O_RDONLY).descriptor)).open()?.code, .assetInvalid)
        XCTAssertEqual(
            WavAsset(file: DescriptorFile(descriptor: temporary(O_RDWR | O_APPEND).descriptor)).open()?.code, .assetInvalid)
        XCTAssertEqual(WavAsset(file: DescriptorFile(descriptor: open("/dev/null", O_RDWR))).open()?.code, .assetInvalid)
        let linked = temporary(O_RDWR)
        let second = linked.path + ".link"
        link(linked.path, second)
        addTeardownBlock { unlink(second) }
        XCTAssertEqual(WavAsset(file: DescriptorFile(descriptor: linked.descriptor)).open()?.code, .assetInvalid)
    }
}
