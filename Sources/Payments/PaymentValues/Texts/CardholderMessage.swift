// SPDX-License-Identifier: Apache-2.0
/// What the card or the kernel asks the customer to do or to know (EMV Contactless Book A table 9-3).
public enum CardholderMessage: String, Codable, CaseIterable, Sendable {
    /// Approved by the card alone; the payment service's answer is the event `payment.approved`.
    case approved
    case notAuthorised
    case enterPIN
    case processingError
    case removeCard
    case welcome
    case presentCard
    case processing
    case cardReadOK
    case insertOrSwipe
    case presentOneCardOnly
    case approvedPleaseSign
    case authorising
    case insertSwipeOrTryAnotherCard
    case insertCard
    /// A phone or watch waits for its owner: a fingerprint, a code, a choice.
    case seePhone
    case presentCardAgain

    public func text(in language: Language) -> String { language.text(.cardholder(self)) }

    /// - Parameter language: BCP 47; English for what has no texts.
    public func text(in language: String?) -> String { text(in: Language(tag: language)) }
}
