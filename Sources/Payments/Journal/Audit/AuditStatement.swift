// SPDX-License-Identifier: Apache-2.0
public import Envelope
public import PaymentValues

/// What the installation's key signs about its chain.
public struct AuditStatement: Codable, Equatable, Sendable {
    public enum Kind: String, Codable, Sendable {
        /// The chain has at least the entries up to this one.
        case head
        /// The entries up to this one have been erased because their time was over.
        case checkpoint
    }

    public var kind: Kind
    /// The installation's name for support.
    public var installation: String
    public var sequence: Int64
    /// Of the entry with that number.
    public var hash: String
    public var at: Timestamp

    public init(_ kind: Kind, installation: String, sequence: Int64, hash: String, at: Timestamp = .now) {
        self.kind = kind
        self.installation = installation
        self.sequence = sequence
        self.hash = hash
        self.at = at
    }

    /// The `typ` of the token.
    public static let type = "nfc-tap-audit+jws"

    /// - Throws: where the key cannot sign.
    public func signed(by key: SigningKey) throws(JWSError) -> String {
        guard let payload = try? WireJSON.encode(self) else { throw .notAuthentic }
        return try JWS.sign(payload, key: key, type: AuditStatement.type)
    }

    /// - Throws: where signature or content do not hold.
    public init(_ token: String, signedBy key: VerificationKey) throws(JWSError) {
        let payload = try JWS.verify(token, with: key, type: AuditStatement.type)
        guard let statement = try? WireJSON.decode(AuditStatement.self, from: payload) else { throw .malformedToken }
        self = statement
    }
}
