// swift-tools-version: 6.3
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6), .strictMemorySafety(), .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"), .enableUpcomingFeature("ImmutableWeakCaptures"),
]

let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let toml: Target.Dependency = .product(name: "TOMLKit", package: "TOMLKit")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let nio: [Target.Dependency] = ["NIOCore", "NIOPosix", "NIOHTTP1"].map { .product(name: $0, package: "swift-nio") }
let lifecycle: [Target.Dependency] = ["ServiceLifecycle", "UnixSignals"].map {
    .product(name: $0, package: "swift-service-lifecycle")
}

/// A room of docs/architecture.md.
func room(_ name: String, _ dependencies: [Target.Dependency] = [], embedding file: String? = nil) -> Target {
    .target(
        name: name, dependencies: dependencies, resources: file.map { [.embedInCode($0)] }, swiftSettings: strict)
}

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

func library(_ name: String) -> Product { .library(name: name, targets: [name]) }

let package = Package(
    name: "nfc-tap",
    platforms: [.macOS("26.0")],
    products: [
        library("CardBytes"), library("EMV"), library("EMVCrypto"), library("Loyalty"), library("ReaderCore"),
        library("Envelope"), library("CardSim"), library("TapClient"),
        .executable(name: "nfc-tapd", targets: ["nfc-tapd"]),
        .executable(name: "nfc-tap", targets: ["nfc-tap"]),
        .executable(name: "nfc-tap-psp-sandbox", targets: ["nfc-tap-psp-sandbox"]),
        .executable(name: "nfc-tap-libnfc-worker", targets: ["nfc-tap-libnfc-worker"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        .package(url: "https://github.com/LebJe/TOMLKit.git", from: "0.6.0"),
    ],
    targets: [
        .target(name: "CPCSC", linkerSettings: [.linkedLibrary("pcsclite")]),
        .systemLibrary(name: "CNFC", providers: [.apt(["libnfc-dev"])]),
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "CLinux"),
        .target(name: "CScrub"),
        room("CardBytes"),
        room("EMV", ["CardBytes"]),
        room("EMVCrypto", ["CardBytes", "EMV", crypto, cryptoExtras]),
        room("Loyalty", ["CardBytes", crypto, cryptoExtras]),
        room("ReaderCore", ["CardBytes"]),
        room("ReaderPCSC", ["CardBytes", "ReaderCore", "ReaderModels", "CPCSC"]),
        room("ReaderNFC", ["CardBytes", "ReaderCore", "CNFC"]),
        room("ReaderModels", ["CardBytes", "ReaderCore"]),
        room("Doctor", ["Envelope", "ReaderModels", toml]),
        room("ReaderVirtual", ["CardBytes", "ReaderCore", "CardSim"]),
        room("CardSim", ["CardBytes", "EMVCrypto", crypto]),
        room("Envelope", ["CardBytes", crypto, cryptoExtras]),
        room("Explain", ["CardBytes", "EMV", "ReaderCore"]),
        room("Wire"),
        room("Settings", ["CardBytes", "Loyalty", "Wire", toml]),
        room("Receipt", ["Wire"]),
        room("Contract", embedding: "openapi.yaml"),
        room("Help", ["ReaderModels", "Wire"]),
        room("LocalHTTP", nio + ["CLinux", logging]),
        room("TapSession", ["CardBytes", "EMV", "EMVCrypto", "Envelope", "Loyalty", "ReaderCore"]),
        room("Profile", ["CardBytes", "EMV", "EMVCrypto", "Envelope", "TapSession", "Wire", crypto]),
        room("Metrics"),
        room("Audit", ["Envelope", "Wire", crypto]),
        room("StoreAndForward", ["CardBytes", "Envelope", "Wire", crypto]),
        room("Transactions", ["StoreAndForward", "Wire"]),
        room("Journal", ["Audit", "Transactions", "Wire", "CSQLite"]),
        room(
            "TapDaemon",
            [
                "Audit", "CardBytes", "CardSim", "CLinux", "Contract", "EMV", "EMVCrypto", "Envelope", "Help",
                "Journal", "LocalHTTP",
                "Loyalty", "Metrics", "Profile", "ReaderCore", "ReaderModels", "ReaderNFC", "ReaderPCSC",
                "ReaderVirtual", "Receipt", "Settings", "StoreAndForward", "TapSession", "Wire", crypto, logging, toml,
            ]),
        room("TapClient", ["Receipt", "Wire", "LocalHTTP"]),
        room(
            "PSPSandbox",
            ["CardBytes", "CardSim", "Envelope", "LocalHTTP", "StoreAndForward", "Wire", crypto, logging],
            embedding: "terminal-test.json"),
        program(
            "nfc-tapd", ["Settings", "TapDaemon", "LocalHTTP", "CLinux", "CScrub", arguments, logging] + lifecycle),
        program(
            "nfc-tap",
            [
                "Audit", "CardBytes", "CardSim", "CLinux", "Doctor", "EMV", "EMVCrypto", "Envelope", "Explain", "Help",
                "Journal", "Loyalty", "ReaderCore", "ReaderModels", "ReaderNFC", "ReaderPCSC", "ReaderVirtual",
                "Receipt", "Settings", "TapClient", "TapSession", "Wire", arguments,
            ]),
        program("nfc-tap-psp-sandbox", ["PSPSandbox", "LocalHTTP", arguments, logging] + lifecycle),
        program("nfc-tap-libnfc-worker", ["ReaderNFC", "CScrub"]),
        .target(
            name: "Rigs", dependencies: ["CardBytes", "CardSim", "ReaderCore"], path: "Tests/Rigs",
            exclude: ["VPCD/with-private-pcscd.sh", "USB", "Clock"], swiftSettings: strict),
        .executableTarget(
            name: "rig-card", dependencies: ["CardSim", "Rigs"], path: "Tests/RigCard", swiftSettings: strict),
        .executableTarget(
            name: "rig-client", dependencies: ["CPCSC"], path: "Tests/RigClient", swiftSettings: strict),
        .executableTarget(
            name: "tap-simulation", dependencies: ["StoreAndForward", "Transactions", "Wire"],
            path: "Tests/Simulation", swiftSettings: strict),
        .executableTarget(
            name: "tap-bench",
            dependencies: [
                "CPCSC", "CardBytes", "CardSim", "EMV", "EMVCrypto", "Envelope", "LocalHTTP", "ReaderCore",
                "ReaderPCSC",
                "ReaderVirtual", "Rigs", "TapClient", "TapSession", "Wire", logging,
            ], path: "Benchmarks/TapBench", swiftSettings: strict),
        tests("ArchitectureTests"),
        tests("CardBytesTests", ["CardBytes"]),
        tests("EMVTests", ["CardBytes", "EMV"]),
        tests("EMVCryptoTests", ["CardBytes", "EMV", "EMVCrypto"]),
        tests("CardSimTests", ["CardBytes", "CardSim", "EMV", "EMVCrypto"]),
        tests("LoyaltyTests", ["CardBytes", "CardSim", "Loyalty", crypto]),
        tests("ReaderCoreTests", ["CardBytes", "ReaderCore"]),
        tests("ReaderPCSCTests", ["CPCSC", "CardBytes", "CardSim", "ReaderCore", "ReaderPCSC", "Rigs"]),
        tests("ReaderNFCTests", ["CardBytes", "CardSim", "ReaderCore", "ReaderNFC", "Rigs", "nfc-tap-libnfc-worker"]),
        tests("ReaderVirtualTests", ["CardBytes", "CardSim", "ReaderCore", "ReaderVirtual"]),
        tests("EnvelopeTests", ["CardBytes", "Envelope", crypto]),
        tests("WireTests", ["Wire"]),
        tests("MetricsTests", ["Metrics"]),
        tests("AuditTests", ["Audit", "Envelope", "Wire"]),
        tests("JournalTests", ["Audit", "Envelope", "Journal", "Wire"]),
        tests("HelpTests", ["Help", "ReaderModels", "Wire"]),
        tests("ReceiptTests", ["Receipt", "Wire"]),
        tests("LocalHTTPTests", ["LocalHTTP", logging]),
        tests(
            "TapSessionTests",
            [
                "CardBytes", "CardSim", "EMV", "EMVCrypto", "Envelope", "Loyalty", "ReaderCore", "ReaderVirtual",
                "TapSession", crypto,
            ]),
        tests("ProfileTests", ["EMV", "EMVCrypto", "Envelope", "Profile", "TapSession", "Wire"]),
        tests(
            "PSPSandboxTests",
            [
                "CardBytes", "CardSim", "EMV", "Envelope", "LocalHTTP", "PSPSandbox", "ReaderCore", "ReaderVirtual",
                "TapSession", "Wire", logging,
            ]),
        tests(
            "TapDaemonTests",
            [
                "Audit", "CardBytes", "CardSim", "Contract", "Envelope", "Help", "Journal", "LocalHTTP", "Loyalty",
                "PSPSandbox",
                "ReaderModels", "ReaderPCSC", "Rigs",
                "ReaderCore",
                "ReaderVirtual", "Receipt", "Settings", "StoreAndForward", "TapDaemon", "TapSession", "Wire",
                "nfc-tapd",
                logging,
            ]),
        tests("TransactionsTests", ["StoreAndForward", "Transactions", "Wire"]),
        tests("StoreAndForwardTests", ["Envelope", "StoreAndForward", "Wire"]),
        tests("TapClientTests", ["LocalHTTP", "TapClient", "Wire"]),
        tests("ExplainTests", ["CardBytes", "CardSim", "EMV", "EMVCrypto", "Explain", "ReaderCore"]),
        tests("EMVConformanceTests", ["CardBytes", "CardSim", "EMV", "EMVCrypto"]),
        tests("ReaderModelsTests", ["ReaderCore", "ReaderModels"]),
        tests("DoctorTests", ["Doctor", "Envelope"]),
        tests("EndToEndTests", ["CardBytes", "CardSim", "PSPSandbox", "Receipt", "Rigs", "TapClient", "Wire", crypto]),
    ]
)

// Fuzz targets: NFC_TAP_FUZZ is the path of libFuzzer's runtime without its main, as scripts/fuzz.sh sets it.
if let runtime = Context.environment["NFC_TAP_FUZZ"] {
    func fuzzer(_ name: String, _ dependencies: [Target.Dependency], path: String) -> Target {
        .executableTarget(
            name: name, dependencies: dependencies + ["CardBytes", "FuzzSupport"], path: path, swiftSettings: strict,
            linkerSettings: [.unsafeFlags(["-Xlinker", runtime, "-Xlinker", "-lstdc++"])])
    }
    package.targets += [
        .target(name: "CFuzz", path: "Fuzz/CFuzz"),
        .target(
            name: "FuzzSupport", dependencies: ["CFuzz", "CardBytes"], path: "Fuzz/FuzzSupport", swiftSettings: strict),
        fuzzer("fuzz-cards", ["EMV"], path: "Fuzz/FuzzCards"),
        fuzzer("fuzz-wallets", ["CardSim", "EMV", "Loyalty"], path: "Fuzz/FuzzWallets"),
    ]
}
