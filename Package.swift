// swift-tools-version: 6.3
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6), .strictMemorySafety(), .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"), .enableUpcomingFeature("ImmutableWeakCaptures"),
]

let package = Package(
    name: "nfc-tap",
    platforms: [.macOS("26.0")],
    products: [.library(name: "CardBytes", targets: ["CardBytes"])],
    targets: [
        .target(name: "CardBytes", swiftSettings: strict),
        .target(name: "ReaderCore", dependencies: ["CardBytes"], swiftSettings: strict),
        .testTarget(name: "CardBytesTests", dependencies: ["CardBytes"], swiftSettings: strict),
    ]
)
