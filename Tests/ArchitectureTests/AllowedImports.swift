/// The table of docs/architecture.md: which of our modules and packages a room may import. The standard library
/// (Swift, Synchronization, Glibc, Dispatch) is open to all.
enum AllowedImports {
    static let standardLibrary: Set<String> = ["Swift", "Synchronization", "Glibc", "Dispatch"]
    private static let nio: Set<String> = ["NIOCore", "NIOPosix", "NIOHTTP1", "NIOConcurrencyHelpers", "Logging"]
    private static let executable: Set<String> = ["ArgumentParser", "Logging", "ServiceLifecycle", "UnixSignals"]

    static let table: [String: Set<String>] = [
        "CardBytes": [],
        "EMV": ["CardBytes"],
        "EMVCrypto": ["CardBytes", "EMV", "Crypto", "CryptoExtras"],
        "Loyalty": ["CardBytes", "Crypto", "CryptoExtras"],
        "ReaderCore": ["CardBytes"],
        "ReaderPCSC": ["CardBytes", "ReaderCore", "ReaderModels", "CPCSC"],
        "ReaderNFC": ["CardBytes", "ReaderCore", "CLinux"],
        "ReaderNFCWorker": ["CardBytes", "ReaderCore", "ReaderNFC", "CNFC"],
        "ReaderVirtual": ["CardBytes", "ReaderCore", "CardSim"],
        "ReaderModels": ["CardBytes", "ReaderCore"],
        "Doctor": ["Envelope", "ReaderModels", "TOMLKit", "FoundationEssentials"],
        "CardSim": ["CardBytes", "EMVCrypto", "Crypto"],
        "Envelope": ["CardBytes", "Crypto", "CryptoExtras"],
        "Wire": ["FoundationEssentials"],
        "Receipt": ["Wire"],
        "Contract": [],
        "Help": ["ReaderModels", "Wire"],
        "LocalHTTP": nio.union(["CLinux"]),
        "TapSession": [
            "CardBytes", "EMV", "EMVCrypto", "Loyalty", "ReaderCore", "Envelope", "FoundationEssentials",
        ],
        "Profile": ["CardBytes", "EMV", "EMVCrypto", "Envelope", "TapSession", "Wire", "Crypto"],
        "Metrics": [],
        "Audit": ["Envelope", "Wire", "Crypto"],
        "StoreAndForward": ["CardBytes", "Crypto", "Envelope", "Wire"],
        "Journal": ["Audit", "Wire", "CSQLite", "FoundationEssentials"],
        "Settings": ["CardBytes", "Loyalty", "Wire", "TOMLKit"],
        "TapDaemon": [
            "Settings",
            "Audit", "CardBytes", "EMV", "EMVCrypto", "Loyalty", "ReaderCore", "ReaderPCSC", "ReaderNFC",
            "ReaderVirtual", "CardSim", "Contract", "Envelope", "Help", "Receipt", "Wire", "LocalHTTP", "TapSession",
            "Journal", "Metrics", "ReaderModels", "StoreAndForward",
            "Profile",
            "CLinux", "Crypto", "TOMLKit",
            "Logging", "ServiceLifecycle", "FoundationEssentials",
        ],
        "TapClient": ["Receipt", "Wire", "LocalHTTP", "FoundationEssentials"],
        "PSPSandbox": [
            "CardBytes", "CardSim", "Envelope", "Wire", "LocalHTTP", "StoreAndForward", "Crypto", "CryptoExtras",
            "Logging", "FoundationEssentials",
        ],
        "Explain": ["CardBytes", "EMV", "ReaderCore"],
        "nfc-tapd": executable.union(["Settings", "TapDaemon", "LocalHTTP", "CLinux", "CScrub"]),
        "nfc-tap-psp-sandbox": executable.union(["PSPSandbox", "LocalHTTP"]),
        "nfc-tap-libnfc-worker": ["ReaderNFCWorker"],
        "nfc-tap": executable.union([
            "CardBytes", "EMV", "EMVCrypto", "Loyalty", "ReaderCore", "ReaderPCSC", "ReaderNFC", "ReaderVirtual",
            "CardSim", "TapSession", "Explain", "Doctor", "Help", "ReaderModels", "Receipt", "Wire", "TapClient",
            "CLinux", "Audit", "Envelope", "Journal", "Settings", "FoundationEssentials",
        ]),
    ]

    /// C targets and system libraries: no Swift in them.
    static let interop: Set<String> = ["CPCSC", "CNFC", "CLinux", "CScrub", "CSQLite"]
}
