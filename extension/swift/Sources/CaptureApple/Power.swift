#if canImport(CoreAudio)
    // Never compiled where this was written: there was no Mac. Names are from IOPMLib.h, IOKitLib.h and IOMessage.h.
    import Foundation
    import IOKit
    import IOKit.pwr_mgt

    // IOMessage.h makes these with a macro that Swift does not import: sys_iokit | sub_iokit_common | number.
    private let messageCanSystemSleep: UInt32 = 0xE000_0270
    private let messageSystemWillSleep: UInt32 = 0xE000_0280
    private let messageSystemHasPoweredOn: UInt32 = 0xE000_0300

    /// Sleep and wake of the system, and the wish that an idle one stays awake while recording.
    final class PowerWatch {
        private let queue = DispatchQueue(label: "persyk.capture.power")
        private var rootPort: io_connect_t = 0
        private var notifier: io_object_t = 0
        private var port: IONotificationPortRef?
        private var assertion: IOPMAssertionID = 0
        private var isHeld = false
        private var willSleep: (@escaping () -> Void) -> Void = { $0() }
        private var didWake: () -> Void = {}

        /// `willSleep` gets a function that lets the system sleep; it waits for it, 30 s at most.
        func start(willSleep: @escaping (@escaping () -> Void) -> Void, didWake: @escaping () -> Void) {
            self.willSleep = willSleep
            self.didWake = didWake
            // The watch lives as long as the process, so the unretained pointer stays valid.
            let me = Unmanaged.passUnretained(self).toOpaque()
            rootPort = IORegisterForSystemPower(
                me, &port,
                { refCon, _, message, argument in
                    guard let refCon else { return }
                    Unmanaged<PowerWatch>.fromOpaque(refCon).takeUnretainedValue()
                        .received(message, Int(bitPattern: argument))
                }, &notifier)
            guard rootPort != 0, let port else { return }
            IONotificationPortSetDispatchQueue(port, queue)
        }

        private func received(_ message: UInt32, _ id: Int) {
            let rootPort = self.rootPort
            switch message {
            case messageCanSystemSleep: IOAllowPowerChange(rootPort, id)
            case messageSystemWillSleep: willSleep { IOAllowPowerChange(rootPort, id) }
            case messageSystemHasPoweredOn: didWake()
            default: break
            }
        }

        func preventIdleSleep(_ wanted: Bool) {
            if wanted, !isHeld {
                isHeld =
                    IOPMAssertionCreateWithName(
                        kIOPMAssertionTypePreventUserIdleSystemSleep as CFString, IOPMAssertionLevel(kIOPMAssertionLevelOn),
                        "Persyk is recording" as CFString, &assertion) == kIOReturnSuccess
            } else if !wanted, isHeld {
                IOPMAssertionRelease(assertion)
                isHeld = false
            }
        }
    }

    /// Whether the lid is closed; nil on a Mac without one. A closed lid cuts the built-in microphone in hardware.
    func lidIsClosed() -> Bool? {
        let service = IOServiceGetMatchingService(kIOMainPortDefault, IOServiceMatching("IOPMrootDomain"))
        guard service != 0 else { return nil }
        defer { IOObjectRelease(service) }
        return IORegistryEntryCreateCFProperty(service, "AppleClamshellState" as CFString, kCFAllocatorDefault, 0)?
            .takeRetainedValue() as? Bool
    }
#endif
