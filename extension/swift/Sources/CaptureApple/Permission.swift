#if canImport(CoreAudio)
    // Never compiled where this was written: there was no Mac. Names are from AVCaptureDevice.h (macOS 10.14 and later).
    import AVFoundation
    import CaptureCore
    import Foundation

    private func status() -> PermissionStatus {
        switch AVCaptureDevice.authorizationStatus(for: .audio) {
        case .authorized: return .granted
        case .denied: return .denied
        case .restricted: return .restricted
        case .notDetermined: return .undetermined
        @unknown default: return .undetermined
        }
    }

    /// Asks the user, once; afterwards the system answers by itself. The grant belongs to the responsible process, which
    /// is the application that started all of this (Raycast), not to this program.
    func askForMicrophone(_ answered: @escaping (PermissionStatus) -> Void) {
        AVCaptureDevice.requestAccess(for: .audio) { _ in answered(status()) }
    }

    /// The status; with `request`, after asking when nobody has answered yet.
    public func microphonePermission(request: Bool) -> PermissionStatus {
        let now = status()
        guard request, now == .undetermined else { return now }
        let done = DispatchSemaphore(value: 0)
        askForMicrophone { _ in done.signal() }
        done.wait()
        return status()
    }
#endif
