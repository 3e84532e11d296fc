// SPDX-License-Identifier: Apache-2.0
/// The cryptography of kernel 8: P-256, SHA-256 and AES of algorithm suite 00 (EMV Contactless Book E). The kernel
/// decides what is computed and when; the computing is another module's.
public struct SecureChannelCryptography: Sendable {
    /// The public point of an ephemeral private key of 32 bytes as x ‖ y, 64 bytes; `nil` where the key is 0 or not
    /// below the order of the curve.
    public var publicKey: @Sendable (_ privateKey: [UInt8]) -> [UInt8]?
    /// The session keys between an ephemeral private key and a card's blinded public key, given by its x-coordinate of
    /// 32 bytes; `nil` where one of them is no key (Book E §7.2).
    public var sessionKeys: @Sendable (_ privateKey: [UInt8], _ cardKey: [UInt8]) -> SecureChannelKeys?
    /// SHA-256, 32 bytes.
    public var hash: @Sendable (_ data: [UInt8]) -> [UInt8]
    /// Local authentication: certificates and blinding factor; `nil` where everything is right.
    public var authenticate: @Sendable (LocalAuthenticationRequest) -> LocalAuthenticationFailure?

    public init(
        publicKey: @escaping @Sendable (_ privateKey: [UInt8]) -> [UInt8]?,
        sessionKeys: @escaping @Sendable (_ privateKey: [UInt8], _ cardKey: [UInt8]) -> SecureChannelKeys?,
        hash: @escaping @Sendable (_ data: [UInt8]) -> [UInt8],
        authenticate: @escaping @Sendable (LocalAuthenticationRequest) -> LocalAuthenticationFailure?
    ) {
        self.publicKey = publicKey
        self.sessionKeys = sessionKeys
        self.hash = hash
        self.authenticate = authenticate
    }

    /// None at all: kernel 8 ends every transaction before its first command.
    public static let unavailable = SecureChannelCryptography(
        publicKey: { _ in nil }, sessionKeys: { _, _ in nil }, hash: { _ in [] },
        authenticate: { _ in .caKeyMissing })
}
