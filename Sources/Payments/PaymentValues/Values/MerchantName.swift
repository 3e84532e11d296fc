// SPDX-License-Identifier: Apache-2.0
/// The shop in the words of its customers.
public struct Merchant: Codable, Equatable, Sendable {
    /// Name over the door, the same as on the statement where that is possible.
    public var displayName: String
    /// What the card's statement says.
    public var statementDescriptor: String?
    /// Lines of the address, top to bottom.
    public var address: [String]?
    /// The business that the customer deals with, where `displayName` only collects the money for it.
    public var onBehalfOf: String?

    public init(
        displayName: String, statementDescriptor: String? = nil, address: [String]? = nil, onBehalfOf: String? = nil
    ) {
        self.displayName = displayName
        self.statementDescriptor = statementDescriptor
        self.address = address
        self.onBehalfOf = onBehalfOf
    }

    /// Whom the customer pays: `Example Shop`, or `End (via Collector)` through an intermediary.
    public var payee: String { onBehalfOf.map { "\($0) (via \(displayName))" } ?? displayName }
}
