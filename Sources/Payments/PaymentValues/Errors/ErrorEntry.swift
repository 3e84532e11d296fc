// SPDX-License-Identifier: Apache-2.0
/// What programs go by in one row of the error catalogue; its texts are in the message files.
public struct ErrorEntry: Equatable, Sendable {
    /// HTTP status of an answer that is this error.
    public let status: Int
    /// The same request may succeed later.
    public let retryable: Bool
    public let who: ResponsibleParty
    /// What the POS can offer the customer instead.
    public let next: [NextStep]
}

/// Who can do something about an error.
public enum ResponsibleParty: String, Codable, CaseIterable, Sendable {
    case customer, cashier, administrator, integrator, support
}

/// What a POS can offer after a payment that failed.
public enum NextStep: String, Codable, CaseIterable, Sendable {
    case retrySameCard, otherCard, otherInterface, otherMethod, paymentLink
}
