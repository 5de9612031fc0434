// swift-tools-version:5.9
import PackageDescription

// Raycast's builder runs xcodebuild with the scheme named like the package and wants exactly one executable target, so
// package, product and executable target share one name. No remote dependency: the package builds on Linux as well.
let package = Package(
    name: "capture-helper",
    platforms: [.macOS(.v13)],
    products: [
        .executable(name: "capture-helper", targets: ["capture-helper"])
    ],
    targets: [
        .target(name: "CaptureSupport"),
        .target(name: "CaptureCore", dependencies: ["CaptureSupport"]),
        .target(name: "CaptureApple", dependencies: ["CaptureCore", "CaptureSupport"]),
        .executableTarget(
            name: "capture-helper",
            dependencies: ["CaptureCore", "CaptureApple", "CaptureSupport"],
            linkerSettings: [
                // The identifier and the usage strings, for use outside Raycast (inside, Raycast's own are asked).
                .unsafeFlags(
                    [
                        "-Xlinker", "-sectcreate", "-Xlinker", "__TEXT", "-Xlinker", "__info_plist",
                        "-Xlinker", "\(Context.packageDirectory)/Info.plist",
                    ], .when(platforms: [.macOS]))
            ]
        ),
        .testTarget(name: "CaptureCoreTests", dependencies: ["CaptureCore", "CaptureSupport"]),
    ]
)
