// SPDX-License-Identifier: Apache-2.0
public import Envelope
public import PSPAPI
public import PaymentValues

/// A stored payment as the installation has signed it: a JWS that holds all that the payment service gets, so that
/// nothing of it can be altered unnoticed between the tap and the books.
public struct SignedRecord: Equatable, Sendable {
    /// `typ` of the JWS.
    public static let type = "nfc-tap-record+jws"

    /// What is signed.
    public struct Content: Codable, Equatable, Sendable {
        /// Version of this form: 1.
        public var v = 1
        /// As it is forwarded, `offline` being true.
        public var authorization: AuthorizationRequest
        public var storedAt: Timestamp
        /// Name of the payment service that it is for.
        public var serviceName: String
        /// Of the machine when it was stored.
        public var boot: String

        public init(authorization: AuthorizationRequest, storedAt: Timestamp, serviceName: String, boot: String) {
            self.authorization = authorization
            self.storedAt = storedAt
            self.serviceName = serviceName
            self.boot = boot
        }
    }

    public let content: Content
    /// Compact JWS.
    public let jws: String

    /// - Throws: where the key cannot sign.
    public init(_ content: Content, key: SigningKey) throws(SignedRecordError) {
        self.content = content
        do { jws = try JWS.sign(WireJSON.encode(content), key: key, type: SignedRecord.type) } catch {
            throw .notSigned
        }
    }

    /// - Throws: `.altered` where the key's owner has not signed exactly this, `.unreadable` for what is no such record.
    public init(jws: String, key: VerificationKey) throws(SignedRecordError) {
        self.jws = jws
        let payload: [UInt8]
        do throws(JWSError) { payload = try JWS.verify(jws, with: key, type: SignedRecord.type) } catch {
            throw error == .notAuthentic || error == .wrongKey ? .altered : .unreadable
        }
        do { content = try WireJSON.decode(Content.self, from: payload) } catch { throw .unreadable }
        guard content.v == 1, content.authorization.offline else { throw .unreadable }
    }
}

public enum SignedRecordError: Error, Equatable, Sendable {
    case notSigned
    /// A signature does not hold, or is another key's.
    case altered
    /// No signed record, or one of a form that is not known.
    case unreadable
}

extension SignedRecord.Content {
    private enum CodingKeys: String, CodingKey { case v, authorization, storedAt, serviceName, boot }

    /// The name in records that were signed before 2026-11-28.
    private enum FormerKeys: String, CodingKey { case serviceName = "issuer" }

    /// Reads what is signed now, or with the name's former key.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let former = try decoder.container(keyedBy: FormerKeys.self)
        v = try members.decode(Int.self, forKey: .v)
        authorization = try members.decode(AuthorizationRequest.self, forKey: .authorization)
        storedAt = try members.decode(Timestamp.self, forKey: .storedAt)
        serviceName =
            try members.decodeIfPresent(String.self, forKey: .serviceName)
            ?? former.decode(String.self, forKey: .serviceName)
        boot = try members.decode(String.self, forKey: .boot)
    }
}
