// SPDX-License-Identifier: Apache-2.0
import CardBytes
public import EMV

/// The CA public keys a terminal trusts, all of one environment, and the issuer certificates it no longer does.
public struct CAPublicKeys: Sendable {
    public let environment: CAPublicKey.Environment
    private let keys: [Name: [CAPublicKey]]
    private let revoked: Set<RevokedCertificate>
    /// What was recovered under these keys. The copies of a list share it; another list has its own.
    let issuers: KnownIssuers

    private struct Name: Hashable {
        let rid: [UInt8]
        let index: UInt8
    }

    /// - Throws: `.wrongEnvironment` for a key of the other environment, and for a live key that is a published test
    ///   key in disguise; `.duplicate` where RID, index and length do not tell two keys apart.
    public init(
        environment: CAPublicKey.Environment, keys: [CAPublicKey], revoked: Set<RevokedCertificate> = []
    ) throws(CAPublicKeyError) {
        var named: [Name: [CAPublicKey]] = [:]
        for key in keys {
            guard key.environment == environment,
                environment == .test || !CAPublicKeys.publishedChecksums.contains(key.checksum)
            else { throw .wrongEnvironment }
            let name = Name(rid: key.rid, index: key.index)
            let others = named[name, default: []]
            guard others.allSatisfy({ $0.key.byteCount != key.key.byteCount }) else {
                throw .duplicate(index: key.index)
            }
            named[name] = others + [key]
        }
        self.init(environment: environment, named: named, revoked: revoked)
    }

    private init(
        environment: CAPublicKey.Environment, named: [Name: [CAPublicKey]], revoked: Set<RevokedCertificate>,
        remembering capacity: Int = 32
    ) {
        issuers = KnownIssuers(capacity: capacity)
        self.environment = environment
        self.keys = named
        self.revoked = revoked
    }

    /// No keys: every authentication fails for want of one.
    public static func none(_ environment: CAPublicKey.Environment) -> CAPublicKeys {
        CAPublicKeys(environment: environment, named: [:], revoked: [])
    }

    /// The same keys with a memory of their own.
    ///
    /// - Parameter issuers: how many issuer certificates are remembered; 0 recovers each anew.
    package func remembering(issuers: Int) -> CAPublicKeys {
        CAPublicKeys(environment: environment, named: keys, revoked: revoked, remembering: issuers)
    }

    public var count: Int { keys.values.reduce(0) { $0 + $1.count } }

    /// The key that a card names. Where a RID uses one index twice, the length of the issuer certificate decides: it is
    /// that of the key's modulus (EMV Book 2 §5.3 step 1).
    ///
    /// - Parameters:
    ///   - certificateLength: length of 90 in bytes; `nil` for any.
    ///   - date: a day on which the key has to be in use; `nil` for any.
    public func key(
        rid: [UInt8], index: UInt8, certificateLength: Int? = nil, on date: EMVDate? = nil
    ) -> CAPublicKey? {
        keys[Name(rid: rid, index: index)]?.first { key in
            (certificateLength == nil || key.key.byteCount == certificateLength)
                && date.map { key.isValid(on: $0) } ?? true
        }
    }

    /// Whether an issuer certificate is on the revocation list (EMV Book 2 §5.3 step 10).
    public func isRevoked(_ certificate: RevokedCertificate) -> Bool { revoked.contains(certificate) }

    /// Of keys that are known for test keys. An unconfirmed one may be live after all, and is not refused there.
    private static let publishedChecksums: Set<[UInt8]> = {
        let unconfirmed = Set(furtherTestKeys.filter { !$0.isConfirmed }.map { $0.row.checksum })
        return Set(test.keys.values.joined().map(\.checksum).filter { !unconfirmed.contains(Hex.string($0)) })
    }()

    /// The keys of public test cards and of this project's own test cards. Their secrets are known to everybody.
    public static let test: CAPublicKeys = {
        let keys = (publishedTestKeys + furtherTestKeys.map(\.row)).compactMap { row in
            try? CAPublicKey(
                rid: row.rid, index: row.index, modulus: row.modulus, exponent: row.exponent, checksum: row.checksum,
                environment: .test)
        }
        return (try? CAPublicKeys(environment: .test, keys: keys)) ?? none(.test)
    }()
}
