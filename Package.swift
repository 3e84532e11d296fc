// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0
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
let sockets: [Target.Dependency] = ["NIOCore", "NIOPosix"].map { .product(name: $0, package: "swift-nio") }
let nio: [Target.Dependency] = sockets + [.product(name: "NIOHTTP1", package: "swift-nio")]
let signals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let lifecycle: [Target.Dependency] = [.product(name: "ServiceLifecycle", package: "swift-service-lifecycle"), signals]

/// A room of docs/architecture.md.
func room(_ name: String, _ dependencies: [Target.Dependency] = [], embedding files: String...) -> Target {
    .target(
        name: name, dependencies: dependencies, resources: files.map { .embedInCode($0) }, swiftSettings: strict)
}

/// No program starts without its arguments: CArguments ends it before.
func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies + ["CArguments"], swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies + ["TestSupport"], swiftSettings: strict)
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
        .executable(name: "nfc-tap-ecr", targets: ["nfc-tap-ecr"]),
        .executable(name: "nfc-tap-gateway", targets: ["nfc-tap-gateway"]),
        .executable(name: "nfc-tap-switch", targets: ["nfc-tap-switch"]),
        .executable(name: "nfc-tap-libnfc-worker", targets: ["nfc-tap-libnfc-worker"]),
        .executable(name: "nfc-tap-acquirer-sim", targets: ["nfc-tap-acquirer-sim"]),
        .executable(name: "nfc-tap-profile", targets: ["nfc-tap-profile"]),
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
        .systemLibrary(name: "CQREncode", providers: [.apt(["libqrencode-dev"])]),
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CPQ", providers: [.apt(["libpq-dev"])]),
        .target(name: "CArguments"),
        .target(name: "CLinux"),
        .target(name: "CPKCS11"),
        .target(name: "CScrub"),
        room("CardBytes"),
        room("Codes"),
        room("StrictJSON"),
        room("Linux", ["CLinux"]),
        room("EMV", ["CardBytes", "Codes"]),
        room("EMVCrypto", ["CardBytes", "EMV", crypto, cryptoExtras], embedding: "further-test-keys.tsv"),
        room("Loyalty", ["CardBytes", crypto, cryptoExtras]),
        room("ReaderCore", ["CardBytes", "Linux"]),
        room("ReaderPCSC", ["CardBytes", "CPCSC", "Linux", "ReaderCore", "ReaderModels"]),
        room("ReaderNFC", ["CardBytes", "Linux", "ReaderCore"]),
        room("ReaderNFCWorker", ["CardBytes", "CNFC", "Linux", "ReaderCore", "ReaderNFC"]),
        room("ReaderModels", ["ReaderCore"]),
        room("PINDevice", ["Configuration", "Envelope", "LocalHTTP", "Wire"]),
        room("Doctor", ["Configuration", "Envelope", "Linux", "ReaderModels", "Wire"]),
        room("ReaderVirtual", ["CardBytes", "CardSim", "Linux", "ReaderCore"]),
        room("CardSim", ["CardBytes", "EMVCrypto", crypto]),
        room("Envelope", ["CardBytes", "StrictJSON", crypto, cryptoExtras]),
        room("HSM", ["CPKCS11", "CardBytes", "Envelope", "Linux", "StrictJSON", crypto]),
        room(
            "ISO8583", ["CardBytes", "StrictJSON"], embedding: "Packagers/iso1987-ascii-binbitmap.json",
            "Packagers/iso1987-ascii-hexbitmap.json", "Packagers/iso1987-bcd.json",
            "Packagers/iso1993-ascii-binbitmap.json"),
        room("AcquirerSimulator", ["CardBytes", "CardSim", "ISO8583", "Linux", "Wire"]),
        room("PostgreSQL", ["CPQ", "Linux"]),
        room(
            "Switch",
            [
                "CardBytes", "Envelope", "ISO8583", "Linux", "LocalHTTP", "Metrics", "PostgreSQL", "Wire", crypto,
                logging,
            ] + sockets, embedding: "schema-1.sql", "schema-2.sql", "schema-3.sql", "schema-4.sql"),
        room("Metrics"),
        room("Explain", ["CardBytes", "Codes", "EMV", "ReaderCore"]),
        room("Wire", ["Codes"], embedding: "Texts/en.json", "Texts/de.json"),
        room(
            "Configuration",
            [
                "CardBytes", "Codes", "EMVCrypto", "Envelope", "Linux", "Loyalty", "Profile", "ReaderModels",
                "StoreAndForward", "TapSession", "Wire", toml,
            ]),
        room("KernelDiff", ["CardBytes", "Codes", "EMV", "EMVCrypto", "Linux", "TapSession"]),
        room("Receipt", ["Codes", "CQREncode", "Wire"]),
        room("Help", ["ReaderModels", "Wire"]),
        room("LocalHTTP", nio + ["CLinux", "Linux", logging]),
        room(
            "TapSession",
            ["CardBytes", "Codes", "EMV", "EMVCrypto", "Envelope", "Linux", "Loyalty", "ReaderCore", "StrictJSON"]),
        room("Profile", ["CardBytes", "Codes", "EMV", "EMVCrypto", "Envelope", "TapSession", "Wire", crypto]),
        room("StoreAndForward", ["CardBytes", "Envelope", "Wire", crypto]),
        room("Issuing", ["CardBytes", "Envelope", "HSM", "Linux", "Profile", "StoreAndForward", "Wire"]),
        room("Transactions", ["StoreAndForward", "Wire"]),
        room("Ledger", ["Wire"]),
        room("ECR", ["CardBytes", "Codes", "StrictJSON"]),
        room("Journal", ["Envelope", "Ledger", "Linux", "Transactions", "Wire", "CSQLite", crypto]),
        room(
            "TapDaemon",
            [
                "CardBytes", "CardSim", "Codes", "Configuration", "EMV", "Envelope", "Help", "Journal", "Ledger",
                "Linux",
                "LocalHTTP", "Loyalty", "Metrics", "PINDevice", "Profile", "ReaderCore", "ReaderModels", "ReaderNFC",
                "ReaderPCSC",
                "ReaderVirtual", "Receipt", "StoreAndForward", "StrictJSON", "TapSession", "Transactions", "Wire",
                crypto, logging,
            ], embedding: "API/openapi.yaml"),
        room("TapClient", ["Receipt", "Wire", "LocalHTTP"]),
        room(
            "TillBridge",
            ["Codes", "Configuration", "ECR", "Linux", "LocalHTTP", "Receipt", "TapClient", "Wire", logging]),
        room("Gateway", ["Codes", "Configuration", "Linux", "LocalHTTP", "Wire", crypto, logging]),
        room(
            "AdapterCheck",
            [
                "CardBytes", "CardSim", "EMV", "Envelope", "LocalHTTP", "ReaderCore", "ReaderVirtual", "TapSession",
                "Wire",
            ]),
        room(
            "PSPSandbox",
            [
                "CardBytes", "CardSim", "CSQLite", "Envelope", "Linux", "LocalHTTP", "StoreAndForward", "StrictJSON",
                "Wire", crypto, logging,
            ],
            embedding: "terminal-test.json"),
        program(
            "nfc-tapd",
            ["Codes", "Configuration", "CScrub", "Linux", "LocalHTTP", "TapDaemon", "Wire", arguments, logging]
                + lifecycle),
        program(
            "nfc-tap",
            [
                "AdapterCheck", "CardBytes", "CardSim", "CLinux", "Codes", "Configuration", "CScrub", "Doctor", "EMV",
                "Envelope", "Explain", "Help", "Journal", "KernelDiff", "Linux", "Loyalty", "PINDevice",
                "ReaderCore", "ReaderModels",
                "ReaderNFC", "ReaderPCSC", "ReaderVirtual", "Receipt", "TapClient", "TapSession", "Wire", arguments,
            ]),
        program("nfc-tap-psp-sandbox", ["Linux", "LocalHTTP", "PSPSandbox", "Wire", arguments, logging, signals]),
        program(
            "nfc-tap-ecr", ["Configuration", "Linux", "LocalHTTP", "TillBridge", arguments, logging, signals]),
        program(
            "nfc-tap-gateway",
            ["Configuration", "Gateway", "Linux", "LocalHTTP", "Wire", arguments, logging, signals]),
        program(
            "nfc-tap-acquirer-sim",
            ["AcquirerSimulator", "CScrub", "ISO8583", "Linux", "Wire", arguments, signals]),
        program(
            "nfc-tap-profile",
            [
                "CardBytes", "CScrub", "Envelope", "HSM", "Issuing", "Linux", "LocalHTTP", "Profile", "Wire", arguments,
                logging, signals,
            ]),
        program(
            "nfc-tap-switch",
            [
                "CardBytes", "CScrub", "Envelope", "HSM", "ISO8583", "Linux", "LocalHTTP", "Switch", "Wire", arguments,
                logging, signals,
            ]),
        program("nfc-tap-libnfc-worker", ["CScrub", "Linux", "ReaderNFCWorker"]),
        .target(
            name: "Programs",
            dependencies: [
                "nfc-tapd", "nfc-tap", "nfc-tap-psp-sandbox", "nfc-tap-ecr", "nfc-tap-gateway", "nfc-tap-libnfc-worker",
            ],
            path: "packaging/Programs", swiftSettings: strict),
        .target(
            name: "SwitchPrograms",
            dependencies: ["nfc-tap-switch", "nfc-tap-profile", "nfc-tap-acquirer-sim", "rig-tills"],
            path: "packaging/SwitchPrograms", swiftSettings: strict),
        .target(
            name: "Rigs", dependencies: ["CardBytes", "CardSim", "Linux", "ReaderCore"], path: "Tests/Rigs",
            exclude: ["VPCD/with-private-pcscd.sh", "USB", "Clock", "Death", "Disk", "IFD/ifd.c"], swiftSettings: strict
        ),
        .executableTarget(
            name: "rig-card", dependencies: ["CardSim", "Rigs"], path: "Tests/RigCard", swiftSettings: strict),
        .executableTarget(
            name: "rig-tills",
            dependencies: [
                "AdapterCheck", "CardSim", "Envelope", "LocalHTTP", "ReaderVirtual", "TestSupport", "Wire", arguments,
            ], path: "Tests/RigTills", swiftSettings: strict),
        .executableTarget(
            name: "rig-client", dependencies: ["CPCSC"], path: "Tests/RigClient", swiftSettings: strict),
        .target(name: "CYardstick", path: "Benchmarks/CYardstick"),
        .executableTarget(
            name: "tap-simulation", dependencies: ["Ledger", "StoreAndForward", "Transactions", "Wire"],
            path: "Tests/Simulation", swiftSettings: strict),
        .executableTarget(
            name: "tap-bench",
            dependencies: [
                "CPCSC", "CYardstick", "CardBytes", "CardSim", "EMV", "EMVCrypto", "Envelope", "Journal", "Linux",
                "LocalHTTP", "ReaderCore", "ReaderPCSC", "ReaderVirtual", "Rigs", "TapClient", "TapSession",
                "Transactions", "Wire", logging,
            ], path: "Benchmarks/TapBench", swiftSettings: strict),
        .target(
            name: "ExampleKernel", dependencies: ["CardBytes", "EMV"], path: "docs/examples/kernel",
            swiftSettings: strict),
        .target(
            name: "TestSupport", dependencies: ["CardBytes", "EMV", "Linux"], path: "Tests/TestSupport",
            swiftSettings: strict),
        tests("ArchitectureTests"),
        tests("CardBytesTests", ["CardBytes"]),
        tests("EMVTests", ["CardBytes", "EMV"]),
        tests("EMVCryptoTests", ["CardBytes", "EMV", "EMVCrypto"]),
        .testTarget(
            name: "CardSimTests", dependencies: ["CardBytes", "CardSim", "EMV", "EMVCrypto", "TestSupport"],
            exclude: ["kernel8-peer.py"], swiftSettings: strict),
        tests("LoyaltyTests", ["CardBytes", "CardSim", "Loyalty", crypto]),
        tests("ReaderCoreTests", ["CardBytes", "ReaderCore"]),
        tests(
            "ReaderPCSCTests",
            ["CPCSC", "CardBytes", "CardSim", "ReaderCore", "ReaderModels", "ReaderPCSC", "Rigs"]),
        tests(
            "ReaderNFCTests",
            ["CardBytes", "CardSim", "ReaderCore", "ReaderNFC", "ReaderNFCWorker", "Rigs", "nfc-tap-libnfc-worker"]),
        tests("ReaderVirtualTests", ["CardBytes", "CardSim", "ReaderCore", "ReaderVirtual"]),
        tests("CodesTests", ["Codes"]),
        tests(
            "ExampleTests",
            [
                "CardBytes", "CardSim", "EMV", "EMVCrypto", "Envelope", "Loyalty", "ReaderCore", "ReaderVirtual",
                "TapClient", "Wire",
            ]),
        tests("StrictJSONTests", ["StrictJSON"]),
        tests("LinuxTests", ["CardBytes", "Linux", "ReaderCore"]),
        tests("EnvelopeTests", ["CardBytes", "Envelope", "StrictJSON", crypto]),
        tests("HSMTests", ["CPKCS11", "CardBytes", "Envelope", "HSM", crypto]),
        .testTarget(
            name: "AcquirerSimulatorTests",
            dependencies: [
                "AcquirerSimulator", "CardBytes", "CardSim", "ISO8583", "PSPSandbox", "TestSupport", "Wire",
                "nfc-tap-acquirer-sim",
            ], exclude: ["peer.py"], swiftSettings: strict),
        tests(
            "IssuingTests",
            [
                "CardBytes", "Envelope", "HSM", "Issuing", "Profile", "StoreAndForward", "Wire", "nfc-tap",
                "nfc-tap-profile",
                "nfc-tapd", crypto,
            ]),
        tests("WireTests", ["Wire"]),
        .testTarget(
            name: "ISO8583Tests", dependencies: ["CardBytes", "ISO8583", "TestSupport"], exclude: ["pyiso8583-peer.py"],
            swiftSettings: strict),
        tests("PostgreSQLTests", ["PostgreSQL"]),
        .testTarget(
            name: "SwitchTests",
            dependencies: [
                "AdapterCheck", "CardBytes", "CardSim", "Envelope", "HSM", "ISO8583", "Linux", "LocalHTTP",
                "ReaderVirtual",
                "Switch", "TestSupport", "Wire", "nfc-tap-acquirer-sim", "nfc-tap-profile", "nfc-tap-switch",
                "rig-tills",
            ], exclude: ["acquirer.py"], swiftSettings: strict),
        tests("JournalTests", ["Envelope", "Journal", "Ledger", "Transactions", "Wire"]),
        tests("HelpTests", ["Help", "ReaderModels", "Wire"]),
        tests("ReceiptTests", ["Receipt", "Wire"]),
        tests("LocalHTTPTests", ["Linux", "LocalHTTP", logging]),
        tests(
            "TapSessionTests",
            [
                "CardBytes", "CardSim", "Codes", "EMV", "EMVCrypto", "Envelope", "Loyalty", "ReaderCore",
                "ReaderVirtual", "TapSession", crypto,
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
                "CardBytes", "CardSim", "Codes", "Configuration", "EMV", "EMVCrypto", "Envelope", "Help", "Journal",
                "Linux", "LocalHTTP", "Loyalty", "Metrics", "nfc-tapd", "PINDevice", "PSPSandbox", "ReaderCore",
                "ReaderModels",
                "ReaderPCSC",
                "ReaderVirtual", "Receipt", "Rigs", "StoreAndForward", "TapDaemon", "TapSession", "Transactions",
                "Wire", logging,
            ]),
        tests("AdapterCheckTests", ["AdapterCheck", "Envelope", "LocalHTTP", "PSPSandbox", "Wire", logging]),
        tests("LedgerTests", ["Ledger", "Wire"]),
        tests("ECRTests", ["Codes", "ECR"]),
        tests(
            "TillBridgeTests",
            ["Codes", "Configuration", "ECR", "Linux", "LocalHTTP", "TapClient", "TillBridge", "Wire", logging]),
        tests("GatewayTests", ["Configuration", "Gateway", "LocalHTTP", "Wire", logging]),
        tests("SimulationTests", ["tap-simulation"]),
        tests("TransactionsTests", ["StoreAndForward", "Transactions", "Wire"]),
        tests("StoreAndForwardTests", ["Envelope", "StoreAndForward", "Wire"]),
        tests("TapClientTests", ["LocalHTTP", "TapClient", "Wire"]),
        tests(
            "ExplainTests",
            [
                "CardBytes", "CardSim", "EMV", "EMVCrypto", "Envelope", "Explain", "KernelDiff", "ReaderCore",
                "TapSession",
            ]),
        tests("KernelDiffTests", ["CardBytes", "KernelDiff", "TapSession"]),
        tests("EMVConformanceTests", ["CardBytes", "CardSim", "EMV", "EMVCrypto", "ExampleKernel", crypto]),
        tests("ReaderModelsTests", ["ReaderCore", "ReaderModels"]),
        tests(
            "ConfigurationTests",
            [
                "CardSim", "Codes", "Configuration", "EMV", "EMVCrypto", "Envelope", "Loyalty", "ReaderModels",
                "StoreAndForward", "Wire",
            ]),
        tests("DoctorTests", ["Configuration", "Doctor", "Envelope", "Linux"]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "CardBytes", "CardSim", "Linux", "PSPSandbox", "ReaderCore", "ReaderVirtual", "Receipt", "Rigs",
                "TapClient",
                "TestSupport", "Wire", crypto,
            ], exclude: ["Tills"], swiftSettings: strict),
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
        fuzzer("fuzz-crypto", ["CardSim", "EMV", "EMVCrypto"], path: "Fuzz/FuzzCrypto"),
        fuzzer("fuzz-tills", ["Codes", "ECR"], path: "Fuzz/FuzzTills"),
        fuzzer("fuzz-wallets", ["CardSim", "EMV", "Loyalty"], path: "Fuzz/FuzzWallets"),
    ]
}

// Long arithmetic, card data and the rules of transactions are worked through millions of times in tests, and without
// optimisation they take ten times as long: these rooms are optimised in debug builds too. A package that depends on ours
// could not have such flags.
if !Context.packageDirectory.contains("/checkouts/") {
    let busy = [
        "CardBytes", "CardSim", "ECR", "ECRTests", "EMV", "EMVCrypto", "StoreAndForward", "Transactions",
        "TransactionsTests", "Wire", "tap-simulation",
    ]
    for target in package.targets where busy.contains(target.name) {
        target.swiftSettings?.append(.unsafeFlags(["-O"], .when(configuration: .debug)))
    }
}

// scripts/check-threads.sh builds the tests that it runs, and no others.
if let tests = Context.environment["NFC_TAP_TESTS"]?.split(separator: " ").map(String.init) {
    package.targets.removeAll { $0.type == .test && !tests.contains($0.name) }
}
