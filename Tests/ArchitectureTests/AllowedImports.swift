/// The table of docs/architecture.md: which of our modules and packages a room may import. The standard library
/// (Swift, Synchronization, Glibc, Dispatch) is open to all.
enum AllowedImports {
    static let standardLibrary: Set<String> = ["Swift", "Synchronization", "Glibc", "Dispatch"]
    private static let nio: Set<String> = ["NIOCore", "NIOPosix", "NIOHTTP1", "NIOConcurrencyHelpers", "Logging"]
    private static let executable: Set<String> = ["ArgumentParser", "Logging", "ServiceLifecycle", "UnixSignals"]

    static let table: [String: Set<String>] = [
        "CardBytes": [],
        "Codes": [],
        "StrictJSON": [],
        "Linux": ["CLinux"],
        "EMV": ["CardBytes", "Codes"],
        "EMVCrypto": ["CardBytes", "EMV", "Crypto", "CryptoExtras"],
        "Loyalty": ["CardBytes", "Crypto", "CryptoExtras"],
        "ReaderCore": ["Linux", "CardBytes"],
        "ReaderPCSC": ["Linux", "CardBytes", "ReaderCore", "ReaderModels", "CPCSC"],
        "ReaderNFC": ["Linux", "CardBytes", "ReaderCore", "CNFC"],
        "ReaderVirtual": ["Linux", "CardBytes", "ReaderCore", "CardSim"],
        "ReaderModels": ["CardBytes", "ReaderCore"],
        "Doctor": ["Linux", "Envelope", "ReaderModels", "TOMLKit", "FoundationEssentials"],
        "CardSim": ["CardBytes", "EMVCrypto", "Crypto"],
        "Envelope": ["CardBytes", "StrictJSON", "Crypto", "CryptoExtras"],
        "Wire": ["Codes", "FoundationEssentials"],
        "Receipt": ["Wire"],
        "Help": ["ReaderModels", "Wire"],
        "LocalHTTP": nio.union(["CLinux", "Linux"]),
        "TapSession": [
            "CardBytes", "Codes", "EMV", "EMVCrypto", "Linux", "Loyalty", "ReaderCore", "Envelope", "StrictJSON",
            "FoundationEssentials",
        ],
        "Profile": ["CardBytes", "Codes", "EMV", "EMVCrypto", "Envelope", "TapSession", "Wire", "Crypto"],
        "StoreAndForward": ["CardBytes", "Crypto", "Envelope", "Wire"],
        "Journal": ["Envelope", "Wire", "Crypto", "CSQLite", "FoundationEssentials"],
        "Settings": ["Linux", "CardBytes", "Loyalty", "Wire", "TOMLKit"],
        "TapDaemon": [
            "Linux",
            "Settings",
            "CardBytes", "Codes", "EMV", "EMVCrypto", "Loyalty", "ReaderCore", "ReaderPCSC", "ReaderNFC",
            "ReaderVirtual", "CardSim", "Envelope", "Help", "Receipt", "Wire", "LocalHTTP", "TapSession",
            "Journal", "ReaderModels", "StoreAndForward", "StrictJSON",
            "Profile",
            "CLinux", "Crypto", "TOMLKit",
            "Logging", "ServiceLifecycle", "FoundationEssentials",
        ],
        "TapClient": ["Receipt", "Wire", "LocalHTTP", "FoundationEssentials"],
        "PSPSandbox": [
            "Linux",
            "CardBytes", "CardSim", "Envelope", "Wire", "LocalHTTP", "StoreAndForward", "StrictJSON", "Crypto",
            "CryptoExtras",
            "Logging", "FoundationEssentials",
        ],
        "Explain": ["CardBytes", "Codes", "EMV", "ReaderCore"],
        "nfc-tapd": executable.union(["Linux", "Codes", "Settings", "TapDaemon", "LocalHTTP", "CLinux", "CScrub"]),
        "nfc-tap-psp-sandbox": executable.union(["Linux", "PSPSandbox", "LocalHTTP"]),
        "nfc-tap-libnfc-worker": ["ReaderNFC"],
        "nfc-tap": executable.union([
            "Linux",
            "CardBytes", "EMV", "EMVCrypto", "Loyalty", "ReaderCore", "ReaderPCSC", "ReaderNFC", "ReaderVirtual",
            "CardSim", "TapSession", "Explain", "Doctor", "Help", "ReaderModels", "Receipt", "Wire", "TapClient",
            "CLinux", "Codes", "Envelope", "Journal", "Settings", "FoundationEssentials",
        ]),
    ]

    /// C targets and system libraries: no Swift in them.
    static let interop: Set<String> = ["CPCSC", "CNFC", "CLinux", "CScrub", "CSQLite"]
}
