// SPDX-License-Identifier: Apache-2.0
import PaymentValues

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
