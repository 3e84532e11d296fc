// SPDX-License-Identifier: Apache-2.0
/// A key that a payment service has published and that no card data is sealed to.
public struct RefusedKey: Codable, Equatable, Sendable {
    public enum Source: String, Codable, CaseIterable, Sendable {
        /// `recipientKeys` of the profile.
        case profile
        /// `GET /v1/keys` of the adapter.
        case adapter
    }

    public var source: Source
    /// Its place in the set, and its `kid` where it has one: `keys[1] "shop-2026-12"`. `keys` for the set as a whole.
    public var key: String
    /// The rule that it breaks.
    public var reason: String

    public init(source: Source, key: String, reason: String) {
        self.source = source
        self.key = key
        self.reason = reason
    }
}
