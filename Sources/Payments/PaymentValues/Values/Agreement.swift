// SPDX-License-Identifier: Apache-2.0
/// What a customer has agreed to, with its proof.
public struct Agreement: Codable, Equatable, Sendable {
    public enum End: String, Codable, CaseIterable, Sendable {
        /// By the wish of the shop or the customer, or by the one charge that it was for.
        case ended
        /// The payment service said that this card is not to be charged again.
        case stopped
        /// The card was not stored after all.
        case notGiven
        /// With the stored card.
        case deleted
    }

    public var id: AgreementID
    public var kind: AgreementTerms.Kind
    public var text: String
    /// SHA-256 of the text in UTF-8, in lower-case hexadecimal: the audit chain has it, too.
    public var hash: String
    public var language: String
    public var maximum: Money?
    public var until: Timestamp?
    public var cycle: AgreementTerms.Cycle?
    /// The first charge that is approved ends it.
    public var once: Bool?
    /// Written before the card was read.
    public var agreedAt: Timestamp
    public var transaction: TransactionID?
    public var endedAt: Timestamp?
    public var end: End?

    public init(
        _ id: AgreementID, _ terms: AgreementTerms, hash: String, agreedAt: Timestamp, transaction: TransactionID? = nil
    ) {
        self.id = id
        kind = terms.kind
        text = terms.text
        self.hash = hash
        language = terms.language
        maximum = terms.maximum
        until = terms.until
        cycle = terms.cycle
        once = terms.once
        self.agreedAt = agreedAt
        self.transaction = transaction
    }
}

extension Agreement {
    /// What was agreed to, without what became of it.
    public var terms: AgreementTerms {
        AgreementTerms(kind, text: text, language: language, maximum: maximum, until: until, cycle: cycle, once: once)
    }
}
