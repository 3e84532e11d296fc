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

/// Body of `POST /v1/queue/batches`.
public struct BatchRequest: Equatable, Sendable {
    /// At most so many of the oldest, 1…100; missing for 100.
    public var size: Int?

    public init(size: Int? = nil) { self.size = size }
}

extension BatchRequest: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case size
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
        size = members.contains(.size) ? try members.decodeWhole(Int.self, forKey: .size) : nil
        if let size, !Limits.batchSize.contains(size) {
            throw decoder.refusal(.requestInvalidField, at: CodingKeys.size)
        }
    }
}

/// Body of `POST /v1/queue/batches/{id}/resolve`.
public struct BatchResolution: Equatable, Sendable {
    /// The payment service's receipt: a JWS that names batch, number and hash.
    public var token: String

    public init(token: String) { self.token = token }
}

extension BatchResolution: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case token
    }

    public init(from decoder: any Decoder) throws {
        token = try decoder.strictContainer(keyedBy: CodingKeys.self).decode(String.self, forKey: .token)
    }
}

/// Answer to a batch that was resolved or reset.
public struct BatchAnswer: Codable, Equatable, Sendable {
    /// Payments that are still stored.
    public var left: Int

    public init(left: Int) { self.left = left }
}
