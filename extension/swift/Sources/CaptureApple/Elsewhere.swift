#if !canImport(CoreAudio)
    import CaptureCore

    // Systems without CoreAudio have no microphone here; files and the synthetic source work everywhere.

    public func makeMicrophone() throws -> AudioSource {
        throw CaptureFault(.noInputDevice, "this system has no microphone source; use --source file or synthetic")
    }

    public func inputDevices() -> [DeviceInfo] { [] }

    public func microphonePermission(request: Bool) -> PermissionStatus { .restricted }

    public func speechIsAvailable() -> Bool { false }

    public func transcribe(_ options: TranscribeOptions) -> Int32 {
        let fault = CaptureFault(.formatUnsupported, "speech recognition on this machine needs macOS 26")
        CaptureProcess.say(.error(fault, fatal: true, id: nil))
        return fault.code.exitCode
    }
#endif
