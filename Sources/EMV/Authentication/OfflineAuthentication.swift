// SPDX-License-Identifier: Apache-2.0
/// Verifies a card's offline data authentication. The kernels decide when; the cryptography is another module's.
public struct OfflineAuthentication: Sendable {
    /// Whether the CA public key with this index (8F) of this RID (five bytes) is known and valid.
    public var hasKey: @Sendable (_ rid: [UInt8], _ index: UInt8) -> Bool
    public var verify: @Sendable (AuthenticationRequest) -> AuthenticationResult
    /// Kernel 8's secure channel and certificates.
    public var secureChannel = SecureChannelCryptography.unavailable

    public init(
        hasKey: @escaping @Sendable (_ rid: [UInt8], _ index: UInt8) -> Bool,
        verify: @escaping @Sendable (AuthenticationRequest) -> AuthenticationResult
    ) {
        self.hasKey = hasKey
        self.verify = verify
    }

    /// No CA keys at all: every request fails with `.caKeyMissing`.
    public static let unavailable = OfflineAuthentication(
        hasKey: { _, _ in false }, verify: { _ in .failed(.caKeyMissing) })
}
