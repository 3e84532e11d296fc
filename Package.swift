// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

/// A floor is a folder of Sources and of Tests. Its rooms use one another and the floors above it in this list, never one below.
/// A room is a module: it imports what `uses` names and no other module of ours; `tests` is what its tests need besides.
/// docs/internals/architecture.md says what belongs where.
let house = [
    Floor(
        "System",
        [
            .interop("CArguments"),
            .interop("CLinux"),
            .interop("CScrub"),
            .room("Linux", uses: "CLinux", tests: "CardBytes ReaderCore"),
            .room("StrictJSON", tests: ""),
            .room("Codes", tests: ""),
            .room("Digits"),
            .room("Metrics"),
            .room("Settings", uses: "Linux TOMLKit", tests: ""),
            .room("Suggestions", uses: "ArgumentParser", tests: ""),
            .room("LocalHTTP", uses: "CLinux Linux Logging NIOCore NIOHTTP1 NIOPosix", tests: "ServiceProgram"),
            .room("ServiceProgram", uses: "ArgumentParser Linux LocalHTTP Logging UnixSignals"),
        ]),
    Floor(
        "Card",
        [
            .room("CardBytes", uses: "Digits", tests: ""),
            .room("EMV", uses: "CardBytes Codes", tests: ""),
            .room(
                "EMVCrypto", uses: "CardBytes Crypto CryptoExtras EMV", embedding: "further-test-keys.tsv", tests: ""),
            .room("Loyalty", uses: "CardBytes Codes Crypto CryptoExtras", tests: "CardSim"),
            .room("Envelope", uses: "CardBytes Crypto CryptoExtras StrictJSON", tests: ""),
            .room("TerminalFile", uses: "CardBytes Codes EMV EMVCrypto Envelope StrictJSON", tests: ""),
            .room("CardSim", uses: "CardBytes Crypto EMVCrypto", tests: "EMV", peers: "kernel8-peer.py"),
        ]),
    Floor(
        "Readers",
        [
            .interop("CPCSC"),
            .library("CNFC", apt: "libnfc-dev"),
            .room("ReaderCore", uses: "CardBytes Linux", tests: ""),
            .room("ReaderModels", uses: "ReaderCore", tests: ""),
            .room("ReaderPCSC", uses: "CardBytes CPCSC Linux ReaderCore ReaderModels", tests: "CardSim Rigs"),
            .room(
                "ReaderNFC", uses: "CardBytes Linux ReaderCore",
                tests: "CardSim nfc-tap-libnfc-worker ReaderNFCWorker Rigs"),
            .room("ReaderNFCWorker", uses: "CardBytes CNFC Linux ReaderCore ReaderNFC"),
            .room("ReaderVirtual", uses: "CardBytes CardSim Linux ReaderCore", tests: ""),
        ]),
    Floor(
        "Tap",
        [
            .room(
                "TapSession", uses: "CardBytes Codes EMV EMVCrypto Envelope Linux Loyalty ReaderCore StrictJSON",
                tests: "CardSim Crypto ReaderVirtual TerminalFile"),
            .room(
                "Explain", uses: "CardBytes Codes EMV ReaderCore",
                tests: "CardSim EMVCrypto Envelope KernelDiff ReaderVirtual TapSession"),
            .room("KernelDiff", uses: "CardBytes Codes EMV EMVCrypto Linux TerminalFile", tests: ""),
        ]),
    Floor(
        "Payments",
        [
            .interop("CTexts", excluding: split("en de fr es it nl pl pt sv tr ar ja").map { "\($0).json" }),
            .room("PaymentValues", uses: "Codes CTexts", tests: "POSAPI PSPAPI"),
            .room("PINDeviceAPI", uses: "PaymentValues"),
            .room("PSPAPI", uses: "PaymentValues PINDeviceAPI", tests: ""),
            .room("POSAPI", uses: "PaymentValues", tests: ""),
            .room("Ledger", uses: "PaymentValues POSAPI PSPAPI", tests: ""),
            .room("StoreAndForward", uses: "CardBytes Crypto Envelope PaymentValues PSPAPI", tests: ""),
            .room("Transactions", uses: "PaymentValues PINDeviceAPI POSAPI PSPAPI StoreAndForward", tests: ""),
            .library("CSQLite", apt: "libsqlite3-dev"),
            .room(
                "Journal",
                uses: "Crypto CSQLite Envelope Ledger Linux PaymentValues PINDeviceAPI POSAPI PSPAPI Transactions",
                embedding: "schema-1.sql", tests: ""),
            .library("CQREncode", apt: "libqrencode-dev"),
            .room("Receipt", uses: "PaymentValues POSAPI", tests: "Codes Printing"),
            .room("Printing", uses: "Codes CQREncode PaymentValues POSAPI Receipt"),
            .room(
                "Profile", uses: "CardBytes Codes Crypto EMV EMVCrypto Envelope PaymentValues TerminalFile", tests: ""),
        ]),
    Floor(
        "Daemon",
        [
            .room(
                "Configuration",
                uses:
                    "CardBytes Codes EMVCrypto Envelope Linux Loyalty PaymentValues Profile PSPAPI"
                    + " ReaderModels Settings StoreAndForward TerminalFile",
                tests: "CardSim EMV"),
            .room("PINDevice", uses: "Configuration Envelope LocalHTTP PaymentValues PINDeviceAPI"),
            .room("Help", uses: "Codes PaymentValues POSAPI ReaderModels", tests: ""),
            .room(
                "TapDaemon",
                uses:
                    "CardBytes CardSim Codes Configuration Crypto EMV Envelope Help Journal Ledger"
                    + " Linux LocalHTTP Logging Loyalty Metrics PaymentValues PINDevice PINDeviceAPI"
                    + " POSAPI Printing Profile PSPAPI ReaderCore ReaderModels ReaderNFC ReaderPCSC"
                    + " ReaderVirtual Receipt Settings StoreAndForward StrictJSON TapSession"
                    + " TerminalFile Transactions",
                embedding: "API/openapi.yaml", tests: "EMVCrypto nfc-tapd PSPSandbox Rigs"),
            .room(
                "Doctor", uses: "Configuration Envelope Linux PaymentValues POSAPI ReaderModels Settings",
                tests: "Gateway"),
        ]),
    Floor(
        "Tills",
        [
            .room("TapClient", uses: "LocalHTTP PaymentValues POSAPI Receipt", tests: "Logging"),
            .room("Gateway", uses: "Codes Crypto Linux LocalHTTP Logging PaymentValues POSAPI Settings", tests: ""),
            .room("ECR", uses: "Codes Digits StrictJSON", tests: ""),
            .room("MDB", uses: "Codes", tests: "Linux", peers: "vending.py"),
            .room(
                "Hub",
                uses: "Crypto Linux LocalHTTP Logging PaymentValues POSAPI Settings StrictJSON TapClient",
                tests: ""),
            .room(
                "RemoteOrders",
                uses:
                    "Crypto Envelope Hub Linux LocalHTTP Logging Metrics PaymentValues POSAPI PSPAPI Settings StrictJSON",
                tests: ""),
            .room(
                "TillBridge",
                uses: "Codes ECR Linux LocalHTTP Logging MDB PaymentValues POSAPI Receipt Settings TapClient",
                tests: ""),
        ]),
    Floor(
        "Service",
        [
            .interop("CPKCS11"),
            .library("CPQ", apt: "libpq-dev"),
            .room("HSM", uses: "CardBytes CPKCS11 Crypto Envelope Linux StrictJSON", tests: ""),
            .room(
                "ISO8583", uses: "CardBytes StrictJSON",
                embedding:
                    "Packagers/iso1987-ascii-binbitmap.json Packagers/iso1987-ascii-hexbitmap.json"
                    + " Packagers/iso1987-bcd.json Packagers/iso1993-ascii-binbitmap.json", tests: "",
                peers: "pyiso8583-peer.py"),
            .room("PostgreSQL", uses: "CPQ Linux", tests: ""),
            .room(
                "Switch",
                uses:
                    "CardBytes Crypto Envelope ISO8583 Linux LocalHTTP Logging Metrics NIOCore"
                    + " NIOPosix PaymentValues PostgreSQL PSPAPI",
                embedding: "schema-1.sql schema-2.sql schema-3.sql schema-4.sql schema-5.sql"
                    + " schema-6.sql schema-7.sql schema-8.sql schema-9.sql",
                tests:
                    "AdapterCheck ArgumentParser CardSim HSM nfc-tap-acquirer-sim nfc-tap-profile nfc-tap-switch"
                    + " ReaderVirtual rig-tills", peers: "acquirer.py proxy.py"),
            .room(
                "Issuing", uses: "CardBytes Envelope HSM Linux PaymentValues Profile StoreAndForward",
                tests: "Crypto nfc-tap nfc-tap-profile nfc-tapd"),
        ]),
    Floor(
        "Sandbox",
        [
            .room(
                "PSPSandbox",
                uses:
                    "CardBytes CardSim Crypto CSQLite Envelope Linux LocalHTTP Logging PaymentValues"
                    + " PINDeviceAPI PSPAPI StoreAndForward StrictJSON",
                embedding: "terminal-test.json",
                tests: "EMV ReaderCore ReaderVirtual TapSession TerminalFile"),
            .room(
                "AdapterCheck",
                uses:
                    "CardBytes CardSim EMV Envelope LocalHTTP PaymentValues PINDeviceAPI PSPAPI"
                    + " ReaderCore ReaderVirtual TapSession TerminalFile",
                tests: "Logging PSPSandbox"),
            .room(
                "AcquirerSimulator", uses: "CardBytes CardSim ISO8583 Linux PaymentValues",
                tests: "nfc-tap-acquirer-sim PSPSandbox", peers: "peer.py"),
        ]),
    Floor(
        "Programs",
        [
            .program(
                "nfc-tapd",
                uses:
                    "ArgumentParser Codes Configuration CScrub Linux LocalHTTP Logging PaymentValues"
                    + " ServiceLifecycle Settings TapDaemon UnixSignals"
            ),
            .program(
                "nfc-tap",
                uses:
                    "AdapterCheck ArgumentParser CardBytes CardSim CLinux Codes Configuration CScrub"
                    + " Doctor ECR EMV Envelope Explain Gateway Help Journal KernelDiff Linux Loyalty"
                    + " PaymentValues PINDevice PINDeviceAPI POSAPI Printing ReaderCore ReaderModels"
                    + " ReaderNFC ReaderPCSC ReaderVirtual Receipt Settings Suggestions TapClient"
                    + " TapSession TerminalFile"
            ),
            .program(
                "nfc-tap-ecr",
                uses: "ArgumentParser Codes ECR Linux LocalHTTP ServiceProgram Settings TillBridge"),
            .program("nfc-tap-hub", uses: "ArgumentParser Codes Hub Linux ServiceProgram Settings"),
            .program(
                "nfc-tap-remote", uses: "ArgumentParser Codes Linux RemoteOrders ServiceProgram Settings"),
            .program(
                "nfc-tap-gateway",
                uses:
                    "ArgumentParser Codes Gateway Linux LocalHTTP PaymentValues ServiceProgram Settings"
                    + " Suggestions"
            ),
            .program(
                "nfc-tap-psp-sandbox",
                uses: "ArgumentParser Codes Logging PaymentValues PSPAPI PSPSandbox ServiceProgram"),
            .program("nfc-tap-libnfc-worker", uses: "CScrub Linux ReaderNFCWorker"),
            .program(
                "nfc-tap-switch",
                uses:
                    "ArgumentParser CardBytes Codes CScrub Envelope HSM ISO8583 Linux Logging"
                    + " PaymentValues ServiceProgram Suggestions Switch"
            ),
            .program(
                "nfc-tap-profile",
                uses:
                    "ArgumentParser CardBytes Codes CScrub Envelope HSM Issuing Linux LocalHTTP"
                    + " PaymentValues Profile PSPAPI ServiceProgram Suggestions"
            ),
            .program(
                "nfc-tap-acquirer-sim",
                uses:
                    "AcquirerSimulator ArgumentParser Codes CScrub ISO8583 Linux PaymentValues"
                    + " Suggestions UnixSignals"),
        ]),
]

/// What stands beside the house: rigs, benchmarks and the tests of several rooms.
let beside: [Target] = [
    rig(
        "Rigs", "CardBytes CardSim Linux ReaderCore",
        exclude: ["VPCD/with-private-pcscd.sh", "USB", "Clock", "Death", "Disk", "Host", "Token", "IFD/ifd.c"]),
    rig("TestSupport", "CardBytes EMV Linux"),
    rig("ExampleKernel", "CardBytes EMV", path: "docs/examples/kernel"),
    .target(name: "CYardstick", path: "Benchmarks/CYardstick"),
    tool("rig-card", "CardSim Rigs", path: "Tests/RigCard"),
    tool(
        "rig-tills",
        "AdapterCheck ArgumentParser CardSim Envelope LocalHTTP PaymentValues PSPAPI ReaderVirtual TestSupport",
        path: "Tests/RigTills"),
    tool("rig-books", "Envelope Journal Linux PaymentValues", path: "Tests/RigBooks"),
    tool("rig-client", "CPCSC", path: "Tests/RigClient"),
    tool("tap-simulation", "Ledger PaymentValues POSAPI PSPAPI StoreAndForward Transactions", path: "Tests/Simulation"),
    tool(
        "tap-bench",
        "CardBytes CardSim CPCSC CYardstick EMV EMVCrypto Envelope Journal Linux LocalHTTP Logging"
            + " PaymentValues POSAPI ReaderCore ReaderPCSC ReaderVirtual Rigs TapClient TapSession"
            + " Transactions",
        path: "Benchmarks/TapBench"),
    group(
        "Programs",
        "nfc-tap nfc-tap-ecr nfc-tap-gateway nfc-tap-hub nfc-tap-libnfc-worker nfc-tap-psp-sandbox nfc-tap-remote"
            + " nfc-tapd"
    ),
    group("SwitchPrograms", "nfc-tap-acquirer-sim nfc-tap-profile nfc-tap-switch rig-tills"),
    tests("ArchitectureTests", ""),
    tests("EMVConformanceTests", "CardBytes CardSim Crypto EMV EMVCrypto ExampleKernel"),
    tests(
        "EndToEndTests",
        "CardBytes CardSim Crypto Linux PaymentValues POSAPI PSPSandbox ReaderCore ReaderVirtual"
            + " Receipt Rigs TapClient",
        exclude: ["Tills"]),
    tests(
        "ExampleTests",
        "CardBytes CardSim EMV EMVCrypto Envelope Loyalty PaymentValues POSAPI ReaderCore ReaderVirtual TapClient"),
    tests("SimulationTests", "tap-simulation"),
]

let package = Package(
    name: "nfc-tap",
    platforms: [.macOS("26.0")],
    products: [
        "CardBytes", "EMV", "EMVCrypto", "Loyalty", "ReaderCore", "Envelope", "CardSim", "TapClient",
    ].map { .library(name: $0, targets: [$0]) },
    // The very versions: a program that handles cards is built of the same sources wherever it is built.
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio.git", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-log.git", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-crypto.git", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", exact: "1.8.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", exact: "2.13.0"),
        .package(url: "https://github.com/LebJe/TOMLKit.git", exact: "0.6.0"),
    ],
    targets: house.flatMap(\.targets) + beside
)

// MARK: - How a line above becomes a target

enum House {
    static let strict: [SwiftSetting] = [
        .swiftLanguageMode(.v6), .strictMemorySafety(), .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .enableUpcomingFeature("InferIsolatedConformances"), .enableUpcomingFeature("ImmutableWeakCaptures"),
    ]
    /// Modules of other packages, and where they come from.
    static let packages = [
        "ArgumentParser": "swift-argument-parser", "Crypto": "swift-crypto", "CryptoExtras": "swift-crypto",
        "Logging": "swift-log", "NIOCore": "swift-nio", "NIOHTTP1": "swift-nio", "NIOPosix": "swift-nio",
        "ServiceLifecycle": "swift-service-lifecycle", "TOMLKit": "TOMLKit", "UnixSignals": "swift-service-lifecycle",
    ]
}

func split(_ words: String) -> [String] { words.split(separator: " ").map(String.init) }

func named(_ words: String) -> [Target.Dependency] {
    split(words).map { name in
        House.packages[name].map { .product(name: name, package: $0) } ?? .byName(name: name)
    }
}

struct Floor {
    let name: String
    let rooms: [Room]

    init(_ name: String, _ rooms: [Room]) { (self.name, self.rooms) = (name, rooms) }

    var targets: [Target] { rooms.flatMap { $0.targets(on: name) } }
}

struct Room {
    enum Kind { case swift, program, c, library(apt: String) }

    let name: String
    var kind = Kind.swift
    var uses = ""
    var embedded = ""
    var excluded: [String] = []
    /// `nil` for a room without tests of its own.
    var tests: String?
    /// Programs in other languages that the tests start.
    var peers = ""

    static func room(
        _ name: String, uses: String = "", embedding: String = "", tests: String? = nil, peers: String = ""
    ) -> Room {
        Room(name: name, uses: uses, embedded: embedding, tests: tests, peers: peers)
    }
    static func program(_ name: String, uses: String) -> Room { Room(name: name, kind: .program, uses: uses) }
    /// - Parameter files: those that its C reads.
    static func interop(_ name: String, excluding files: [String] = []) -> Room {
        Room(name: name, kind: .c, excluded: files)
    }
    static func library(_ name: String, apt: String) -> Room { Room(name: name, kind: .library(apt: apt)) }

    func targets(on floor: String) -> [Target] {
        let path = "Sources/\(floor)/\(name)"
        let target: Target =
            switch kind {
            case .swift:
                .target(
                    name: name, dependencies: named(uses), path: path,
                    resources: split(embedded).map { .embedInCode($0) }, swiftSettings: House.strict)
            // No program starts without its arguments: CArguments ends it before.
            case .program:
                .executableTarget(
                    name: name, dependencies: named("CArguments \(uses)"), path: path, swiftSettings: House.strict)
            case .c:
                .target(
                    name: name, path: path, exclude: excluded,
                    linkerSettings: name == "CPCSC" ? [.linkedLibrary("pcsclite")] : nil)
            case .library(let apt): .systemLibrary(name: name, path: path, providers: [.apt([apt])])
            }
        guard let tests else { return [target] }
        return [
            target,
            .testTarget(
                name: name + "Tests", dependencies: named("\(name) TestSupport \(uses) \(tests)"),
                path: "Tests/\(floor)/\(name)Tests", exclude: split(peers), swiftSettings: House.strict),
        ]
    }
}

func rig(_ name: String, _ uses: String, path: String? = nil, exclude: [String] = []) -> Target {
    .target(
        name: name, dependencies: named(uses), path: path ?? "Tests/\(name)", exclude: exclude,
        swiftSettings: House.strict)
}

func tool(_ name: String, _ uses: String, path: String) -> Target {
    .executableTarget(name: name, dependencies: named(uses), path: path, swiftSettings: House.strict)
}

func group(_ name: String, _ uses: String) -> Target {
    .target(name: name, dependencies: named(uses), path: "packaging/\(name)", swiftSettings: House.strict)
}

func tests(_ name: String, _ uses: String, exclude: [String] = []) -> Target {
    .testTarget(
        name: name, dependencies: named("\(uses) TestSupport"), path: "Tests/\(name)", exclude: exclude,
        swiftSettings: House.strict)
}

// Fuzz targets: NFC_TAP_FUZZ is the path of libFuzzer's runtime without its main, as scripts/fuzz.sh sets it.
if let runtime = Context.environment["NFC_TAP_FUZZ"] {
    func fuzzer(_ name: String, _ dependencies: [Target.Dependency], path: String) -> Target {
        .executableTarget(
            name: name, dependencies: dependencies + ["CardBytes", "FuzzSupport"], path: path,
            swiftSettings: House.strict,
            linkerSettings: [.unsafeFlags(["-Xlinker", runtime, "-Xlinker", "-lstdc++"])])
    }
    package.targets += [
        .target(name: "CFuzz", path: "Fuzz/CFuzz"),
        .target(
            name: "FuzzSupport", dependencies: ["CFuzz", "CardBytes"], path: "Fuzz/FuzzSupport",
            swiftSettings: House.strict),
        fuzzer("fuzz-cards", ["EMV"], path: "Fuzz/FuzzCards"),
        fuzzer("fuzz-crypto", ["CardSim", "EMV", "EMVCrypto"], path: "Fuzz/FuzzCrypto"),
        fuzzer("fuzz-tills", ["Codes", "ECR"], path: "Fuzz/FuzzTills"),
        fuzzer("fuzz-wallets", ["CardSim", "EMV", "Loyalty"], path: "Fuzz/FuzzWallets"),
    ]
}

// The test targets that are built, where not all are: Tests/Checks/check-threads.sh and .ci/run name theirs.
let chosenTests = Context.environment["NFC_TAP_TESTS"]?.split(separator: " ").map(String.init)

// Long arithmetic, card data and the rules of transactions are worked through millions of times in tests, and without
// optimisation they take ten times as long: these rooms are optimised in debug builds too. That takes three times as long to
// compile, so a room is here only if its tests save more. A package that depends on ours could not have such flags.
if !Context.packageDirectory.contains("/checkouts/") {
    var busy = ["CardBytes", "CardSim", "Digits", "EMVCrypto"]
    // Rules of transactions are worked through by tests that the thread sanitizer does not run.
    if chosenTests?.contains("TransactionsTests") ?? true {
        busy += [
            "ECR", "ECRTests", "EMV", "MDB", "MDBTests", "StoreAndForward", "TestSupport", "Transactions",
            "TransactionsTests",
            "PaymentValues", "PINDeviceAPI", "POSAPI", "PSPAPI", "tap-simulation",
        ]
    }
    for target in package.targets where busy.contains(target.name) {
        target.swiftSettings?.append(.unsafeFlags(["-O"], .when(configuration: .debug)))
    }
}

if let chosenTests {
    package.targets.removeAll { $0.type == .test && !chosenTests.contains($0.name) }
}
