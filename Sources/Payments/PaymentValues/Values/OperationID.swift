// SPDX-License-Identifier: Apache-2.0
/// Identity of an operation on a payment (a capture, an adjustment, a release): a UUID of version 7 like the payment's own.
public struct OperationID: Hashable, Comparable, Sendable {
    /// 36 characters.
    public let text: String

    /// A new one.
    public init(at time: Timestamp = .now) { text = TransactionID(at: time).text }

    /// - Returns: `nil` where `text` is no UUID of version 7 in the usual form; upper case is folded.
    public init?(_ text: String) {
        guard let id = TransactionID(text) else { return nil }
        self.text = id.text
    }

    public static func < (left: OperationID, right: OperationID) -> Bool { left.text < right.text }
}

extension OperationID: CustomStringConvertible {
    public var description: String { text }
}

extension OperationID: Codable {
    public init(from decoder: any Decoder) throws {
        guard let id = OperationID(try decoder.singleValueContainer().decode(String.self)) else {
            throw decoder.refusal(.requestInvalidField)
        }
        self = id
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
