// SPDX-License-Identifier: Apache-2.0
internal import CardBytes

/// What an Android phone says of itself when OSE.VAS.01 is selected. Any part may be missing.
public struct SmartTapSelection: Equatable, Sendable {
    /// First byte of tag C1.
    public struct TransactionMode: OptionSet, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        public static let paymentEnabled = TransactionMode(rawValue: 0x80)
        public static let paymentRequested = TransactionMode(rawValue: 0x40)
        public static let passEnabled = TransactionMode(rawValue: 0x08)
        public static let passRequested = TransactionMode(rawValue: 0x04)
    }

    /// Tag DF62.
    public struct Capabilities: OptionSet, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// SELECT of the Smart Tap application may be left out.
        public static let secondSelectMayBeSkipped = Capabilities(rawValue: 0x01)
        public static let passes = Capabilities(rawValue: 0x02)
    }

    /// Tag C0; empty where absent.
    public let applicationVersion: [UInt8]
    public let transactionMode: TransactionMode?
    /// From DF6E, else C2; `nil` where neither holds 32 bytes.
    public let deviceNonce: [UInt8]?
    /// From DF6B, else C3; `nil` where neither holds 33 bytes. The session uses the key that NEGOTIATE answers with.
    public let deviceEphemeralKey: [UInt8]?
    /// Of the directory entry for Smart Tap 2; `nil` where there is no entry or it does not say.
    public let versions: SmartTapVersions?
    public let capabilities: Capabilities
    /// Entries are there, but none for Smart Tap 2.
    public let isOtherApplicationOnly: Bool

    init(_ bytes: [UInt8], nodes: [TLVNode]) {
        func value(_ tag: Tag, within parent: Range<Int>? = nil) -> [UInt8] {
            nodes.first { node in
                node.tag == tag && (parent.map { $0.contains(node.start) } ?? (node.depth == 1))
            }.map { Array(bytes[$0.value]) } ?? []
        }
        let entries = nodes.filter { $0.tag == SmartTapTag.applicationTemplate }
        let entry = entries.first { value(SmartTapTag.applicationName, within: $0.value) == SmartTap.application }
        isOtherApplicationOnly = !entries.isEmpty && entry == nil
        func detail(_ tag: Tag) -> [UInt8] { entry.map { value(tag, within: $0.value) } ?? [] }

        applicationVersion = value(SmartTapTag.applicationVersion)
        transactionMode = value(SmartTapTag.transactionDetails).first.map(TransactionMode.init(rawValue:))
        deviceNonce = [detail(SmartTapTag.directoryNonce), value(SmartTapTag.deviceNonce)].first { $0.count == 32 }
        deviceEphemeralKey = [detail(SmartTapTag.directoryEphemeralKey), value(SmartTapTag.deviceEphemeralKey)]
            .first { $0.count == 33 }
        versions = SmartTapVersions(
            minimum: detail(SmartTapTag.minimumVersion), maximum: detail(SmartTapTag.maximumVersion))
        capabilities = Capabilities(rawValue: detail(SmartTapTag.capabilities).first ?? 0)
    }

    /// Whether NEGOTIATE may follow at once. Without a nonce the second SELECT is needed to get one.
    public var maySkipSecondSelect: Bool {
        capabilities.contains(.secondSelectMayBeSkipped) && versions != nil && deviceNonce != nil
    }
}

/// The range of protocol versions that a phone speaks.
public struct SmartTapVersions: Equatable, Sendable {
    public let minimum: UInt16
    public let maximum: UInt16

    /// - Returns: `nil` unless both are two bytes.
    init?(minimum: [UInt8], maximum: [UInt8]) {
        guard minimum.count == 2, maximum.count == 2 else { return nil }
        self.minimum = UInt16(minimum[0]) << 8 | UInt16(minimum[1])
        self.maximum = UInt16(maximum[0]) << 8 | UInt16(maximum[1])
    }

    /// Whether version 0001, the only certified one, is in the range.
    public var includeOurs: Bool { minimum <= SmartTap.version && SmartTap.version <= maximum }
}
