// SPDX-License-Identifier: Apache-2.0
/// A batch of stored payments, as `POST /v1/queue/batches` and `GET /v1/queue/batches/{id}` give it to whoever carries it
/// to the payment service.
public struct QueueBatch: Codable, Equatable, Sendable {
    public var id: String
    public var count: Int
    /// SHA-256 over the records, each followed by a line feed, in hexadecimal.
    public var hash: String
    public var createdAt: Timestamp
    /// Oldest first; each a JWS with the whole authorisation request.
    public var records: [String]
    /// JWS over id, count and hash.
    public var signature: String
    /// The installation's public key, a JWK in JSON: the payment service compares it with the one it knows.
    public var key: String

    public init(
        id: String, count: Int, hash: String, createdAt: Timestamp, records: [String], signature: String, key: String
    ) {
        self.id = id
        self.count = count
        self.hash = hash
        self.createdAt = createdAt
        self.records = records
        self.signature = signature
        self.key = key
    }
}
