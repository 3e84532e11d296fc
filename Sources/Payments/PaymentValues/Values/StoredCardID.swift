// SPDX-License-Identifier: Apache-2.0
/// Name of a stored card: a UUID. It is the key of its deletion, too, so that a repetition is carried out once.
public struct StoredCardID: RawRepresentable, Hashable, Codable, Sendable, CustomStringConvertible {
    public let rawValue: String

    public init() { rawValue = TransactionID().text }

    /// - Returns: `nil` for what is no UUID in the usual form; upper case is folded.
    public init?(rawValue: String) {
        guard let id = TransactionID(rawValue) else { return nil }
        self.rawValue = id.text
    }

    public var description: String { rawValue }
}

/// Name of what a customer has agreed to: a UUID.
public struct AgreementID: RawRepresentable, Hashable, Codable, Sendable, CustomStringConvertible {
    public let rawValue: String

    public init() { rawValue = TransactionID().text }

    /// - Returns: `nil` for what is no UUID in the usual form; upper case is folded.
    public init?(rawValue: String) {
        guard let id = TransactionID(rawValue) else { return nil }
        self.rawValue = id.text
    }

    public var description: String { rawValue }
}
