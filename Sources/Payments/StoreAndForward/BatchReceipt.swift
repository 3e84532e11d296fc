// SPDX-License-Identifier: Apache-2.0
public import Envelope
public import PaymentValues

/// The payment service's word that it has a batch: a JWS that names the batch, how many records it has and their hash.
/// Only against it are stored payments let go.
public struct BatchReceipt: Codable, Equatable, Sendable {
    /// `typ` of the JWS.
    public static let type = "nfc-tap-batch-receipt+jws"

    public var batch: String
    public var count: Int
    /// `SignedBatch.hash` of the records.
    public var hash: String
    /// Not to be accepted later.
    public var expiresAt: Timestamp

    public init(batch: String, count: Int, hash: String, expiresAt: Timestamp) {
        self.batch = batch
        self.count = count
        self.hash = hash
        self.expiresAt = expiresAt
    }

    /// As the payment service signs it.
    public func token(key: SigningKey) throws(SignedRecordError) -> String {
        do { return try JWS.sign(WireJSON.encode(self), key: key, type: BatchReceipt.type) } catch {
            throw .notSigned
        }
    }

    /// Why a token is no receipt for a batch; `nil` where it is one.
    ///
    /// - Parameters:
    ///   - key: of the payment service.
    ///   - batch: the open batch.
    public static func refusal(
        of token: String, for batch: (id: String, count: Int, hash: String), key: VerificationKey, now: Timestamp
    ) -> ErrorCode? {
        let receipt: BatchReceipt
        do {
            let payload = try JWS.verify(token, with: key, type: type)
            receipt = try WireJSON.decode(BatchReceipt.self, from: payload)
        } catch {
            return .queueTokenInvalid
        }
        guard receipt.batch == batch.id, receipt.count == batch.count, receipt.hash == batch.hash else {
            return .queueTokenMismatch
        }
        return now < receipt.expiresAt ? nil : .queueTokenExpired
    }
}
