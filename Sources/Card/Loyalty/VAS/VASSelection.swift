// SPDX-License-Identifier: Apache-2.0
internal import CardBytes

/// What an iPhone or Apple Watch says of itself when OSE.VAS.01 is selected.
public struct VASSelection: Equatable, Sendable {
    /// Bits of the last byte of tag 9F23.
    public struct Capabilities: OptionSet, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        public static let plaintext = Capabilities(rawValue: 0x01)
        public static let encrypted = Capabilities(rawValue: 0x02)
        public static let passMayBeSkipped = Capabilities(rawValue: 0x04)
        public static let passMayBeRead = Capabilities(rawValue: 0x08)
        public static let paymentMayBeSkipped = Capabilities(rawValue: 0x10)
        public static let paymentMayBeMade = Capabilities(rawValue: 0x20)
    }

    /// Major and minor version from 9F21; `nil` where absent or not two bytes.
    public var version: (major: UInt8, minor: UInt8)? {
        versionBytes.count == 2 ? (versionBytes[0], versionBytes[1]) : nil
    }
    /// 9F24; empty where absent.
    public let deviceNonce: [UInt8]
    /// `nil` where 9F23 is absent or not four bytes.
    public let capabilities: Capabilities?
    let versionBytes: [UInt8]

    init(_ bytes: [UInt8], nodes: [TLVNode]) {
        func value(_ tag: Tag) -> [UInt8] {
            nodes.first { $0.tag == tag && $0.depth == 1 }.map { Array(bytes[$0.value]) } ?? []
        }
        versionBytes = value(VASTag.mobileVersion)
        deviceNonce = value(VASTag.deviceNonce)
        let flags = value(VASTag.mobileCapabilities)
        capabilities = flags.count == 4 ? Capabilities(rawValue: flags[3]) : nil
    }

    /// Why no pass can be asked for; `nil` where one can. Only major version 1 is known.
    public var obstacle: PassStatus? {
        guard let version else { return .unreadable(.malformed) }
        guard version.major == 1 else { return .unsupportedVersion }
        if let capabilities, !capabilities.contains(.passMayBeRead) { return .noPass }
        return nil
    }
}
