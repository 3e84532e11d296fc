// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Crypto
public import Envelope
public import PaymentValues

/// Several signed records under one more signature, which says how many they are, which, and in which order.
public struct SignedBatch: Equatable, Sendable {
    /// `typ` of the JWS.
    public static let type = "nfc-tap-batch+jws"

    /// What is signed.
    public struct Content: Codable, Equatable, Sendable {
        /// Version of this form: 1.
        public var v = 1
        public var batch: String
        public var count: Int
        /// `SignedBatch.hash` of the records.
        public var hash: String
        public var createdAt: Timestamp

        init(batch: String, records: [String], createdAt: Timestamp) {
            self.batch = batch
            self.createdAt = createdAt
            count = records.count
            hash = SignedBatch.hash(of: records)
        }
    }

    public let content: Content
    /// Compact JWS over the content.
    public let signature: String

    /// - Throws: where the key cannot sign.
    public init(
        id: String, records: [String], createdAt: Timestamp, key: SigningKey
    ) throws(SignedRecordError) {
        content = Content(batch: id, records: records, createdAt: createdAt)
        do { signature = try JWS.sign(WireJSON.encode(content), key: key, type: SignedBatch.type) } catch {
            throw .notSigned
        }
    }

    /// Verifies a batch as its receiver does: the signature, the number and order of the records, and each of them.
    ///
    /// - Returns: what the records hold, in order.
    /// - Throws: `.altered`
    public static func verify(
        signature: String, records: [String], key: VerificationKey
    ) throws(SignedRecordError) -> [SignedRecord] {
        let content: Content
        do {
            content = try WireJSON.decode(Content.self, from: try JWS.verify(signature, with: key, type: type))
        } catch {
            throw .altered
        }
        guard content.v == 1, content.count == records.count, content.hash == hash(of: records) else {
            throw .altered
        }
        var verified: [SignedRecord] = []
        for record in records { verified.append(try SignedRecord(jws: record, key: key)) }
        return verified
    }

    /// SHA-256, in hexadecimal, over the records in order, each followed by a line feed.
    public static func hash(of records: [String]) -> String {
        var hash = SHA256()
        for record in records { hash.update(data: Array((record + "\n").utf8)) }
        return Hex.string(hash.finalize())
    }
}
