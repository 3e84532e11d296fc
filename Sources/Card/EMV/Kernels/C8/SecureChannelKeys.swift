// SPDX-License-Identifier: Apache-2.0
/// What the two session keys of a secure channel do. The keys themselves stay where they were made.
public struct SecureChannelKeys: Sendable {
    /// AES in counter mode with the key for confidentiality; the message counter is the start value's first two bytes.
    /// Encrypts and decrypts alike (EMV Contactless Book E §8.6.2).
    public var apply: @Sendable (_ counter: UInt16, _ data: [UInt8]) -> [UInt8]
    /// AES-CMAC with the key for integrity, 16 bytes.
    public var mac: @Sendable (_ data: [UInt8]) -> [UInt8]
    /// AES-CMAC+ with the key for integrity, 16 bytes (Book E §8.6.5).
    public var macPlus: @Sendable (_ data: [UInt8]) -> [UInt8]

    public init(
        apply: @escaping @Sendable (_ counter: UInt16, _ data: [UInt8]) -> [UInt8],
        mac: @escaping @Sendable (_ data: [UInt8]) -> [UInt8],
        macPlus: @escaping @Sendable (_ data: [UInt8]) -> [UInt8]
    ) {
        self.apply = apply
        self.mac = mac
        self.macPlus = macPlus
    }
}

extension SecureChannelKeys: CustomStringConvertible, CustomReflectable {
    public var description: String { "secure channel keys" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
