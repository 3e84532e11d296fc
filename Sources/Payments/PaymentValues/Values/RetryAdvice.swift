// SPDX-License-Identifier: Apache-2.0
/// What a payment service says of trying a declined charge again.
public enum RetryAdvice: String, Codable, CaseIterable, Sendable {
    /// The shop must not charge under this agreement again.
    case never
    case later

    /// A word of a later version is no ban.
    public init(from decoder: any Decoder) throws {
        self = RetryAdvice(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .later
    }
}
