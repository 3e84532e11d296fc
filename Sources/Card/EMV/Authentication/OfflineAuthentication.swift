// SPDX-License-Identifier: Apache-2.0
/// Verifies a card's offline data authentication. The kernels decide when; the cryptography is another module's.
public struct OfflineAuthentication: Sendable {
    /// Whether the CA public key of this name is known, and in use on this day.
    public var keyState: @Sendable (_ name: CAKeyName, _ date: EMVDate) -> CAKeyState
    public var verify: @Sendable (AuthenticationRequest) -> AuthenticationResult
    /// Kernel 8's secure channel and certificates.
    public var secureChannel = SecureChannelCryptography.unavailable
    /// The one-way functions of kernel 2's data storage.
    public var oneWayHash = OneWayHash.unavailable

    public init(
        keyState: @escaping @Sendable (_ name: CAKeyName, _ date: EMVDate) -> CAKeyState,
        verify: @escaping @Sendable (AuthenticationRequest) -> AuthenticationResult
    ) {
        self.keyState = keyState
        self.verify = verify
    }

    /// With keys that never expire.
    public init(
        hasKey: @escaping @Sendable (_ rid: [UInt8], _ index: UInt8) -> Bool,
        verify: @escaping @Sendable (AuthenticationRequest) -> AuthenticationResult
    ) {
        self.init(keyState: { name, _ in hasKey(name.rid, name.index) ? .usable : .absent }, verify: verify)
    }

    /// Whether the CA public key with this index (8F) of this RID (five bytes) may be used on `date`.
    public func hasKey(_ rid: [UInt8], _ index: UInt8, on date: EMVDate) -> Bool {
        keyState(CAKeyName(rid: rid, index: index), date) == .usable
    }

    /// No CA keys at all: every request fails with `.caKeyMissing`.
    public static let unavailable = OfflineAuthentication(
        keyState: { _, _ in .absent }, verify: { _ in .failed(.caKeyMissing) })
}
