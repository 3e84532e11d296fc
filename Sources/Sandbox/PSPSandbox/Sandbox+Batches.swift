// SPDX-License-Identifier: Apache-2.0
import Envelope
import PaymentValues
import StoreAndForward

/// Receipt for a batch, as the sandbox gives it.
struct SandboxReceipt: Codable, Equatable, Sendable {
    /// For `nfc-tap queue resolve`.
    var token: String
}

extension Sandbox {
    /// How long a receipt may be used.
    static let receiptSeconds: Int64 = 24 * 3_600

    /// Verifies a batch, books each of its payments once, whichever way it came before, and signs for it.
    func receive(_ batch: QueueBatch) throws(StoreError) -> SandboxAnswer {
        let records: [SignedRecord]
        let token: String
        do {
            let key = try VerificationKey(jwk: Array(batch.key.utf8))
            records = try SignedBatch.verify(signature: batch.signature, records: batch.records, key: key)
            let receipt = BatchReceipt(
                batch: batch.id, count: records.count, hash: SignedBatch.hash(of: batch.records),
                expiresAt: Timestamp.now.advanced(bySeconds: Sandbox.receiptSeconds))
            token = try receipt.token(key: TestReceiptKey.signingKey())
        } catch {
            return .error(422, .queueRecordAltered)
        }
        for record in records { try book(record.content.authorization) }
        return SandboxAnswer(200, SandboxReceipt(token: token))
    }
}
