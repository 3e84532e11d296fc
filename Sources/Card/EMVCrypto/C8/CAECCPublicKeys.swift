// SPDX-License-Identifier: Apache-2.0
/// The ECC CA public keys a terminal trusts, all of one environment, and the issuer certificates it no longer does.
public struct CAECCPublicKeys: Sendable {
    public let environment: CAPublicKey.Environment
    private let keys: [CAECCPublicKey]
    private let revoked: Set<RevokedCertificate>

    /// - Throws: `.wrongEnvironment` for a key of the other environment, and for a live key that is this project's test
    ///   key in disguise; `.duplicate` where RID and index name two keys.
    public init(
        environment: CAPublicKey.Environment, keys: [CAECCPublicKey], revoked: Set<RevokedCertificate> = []
    ) throws(CAPublicKeyError) {
        for (position, key) in keys.enumerated() {
            guard key.environment == environment,
                environment == .test || !CAECCPublicKeys.test.keys.contains(where: { $0.point == key.point })
            else { throw .wrongEnvironment }
            let isNew = keys[..<position].allSatisfy { $0.rid != key.rid || $0.index != key.index }
            guard isNew else { throw .duplicate(index: key.index) }
        }
        self.init(environment, keys, revoked)
    }

    private init(
        _ environment: CAPublicKey.Environment, _ keys: [CAECCPublicKey], _ revoked: Set<RevokedCertificate>
    ) {
        self.environment = environment
        self.keys = keys
        self.revoked = revoked
    }

    /// No keys: every local authentication fails for want of one.
    public static func none(_ environment: CAPublicKey.Environment) -> CAECCPublicKeys {
        CAECCPublicKeys(environment, [], [])
    }

    public var count: Int { keys.count }

    /// The key that a card names.
    public func key(rid: [UInt8], index: UInt8) -> CAECCPublicKey? {
        keys.first { $0.rid == rid && $0.index == index }
    }

    /// Whether an issuer certificate is on the revocation list (EMV Contactless Book E Annex B.2).
    public func isRevoked(_ certificate: RevokedCertificate) -> Bool { revoked.contains(certificate) }

    /// The key of this project's own test card. Its secret is known to everybody.
    public static let test = CAECCPublicKeys(
        .test, CAECCPublicKey.publishedTestKey.map { [$0] } ?? [], [])
}
