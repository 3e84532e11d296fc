/// One row of the error catalogue.
public struct ErrorEntry: Equatable, Sendable {
    /// HTTP status of an answer that is this error.
    public let status: Int
    /// Noun phrase of at most 128 characters, sentence case, no final period.
    public let message: String
    /// What to do about it, for the person `who` names.
    public let resolution: String
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

/// What a POS can offer after a payment that did not come about.
public enum NextStep: String, Codable, CaseIterable, Sendable {
    case retrySameCard, otherCard, otherInterface, otherMethod, paymentLink
}
