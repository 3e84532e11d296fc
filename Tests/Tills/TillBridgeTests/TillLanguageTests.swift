// SPDX-License-Identifier: Apache-2.0
import Codes
import ECR
import POSAPI
import PaymentValues
import Testing

@testable import TillBridge

/// What a till's people read: twelve languages, from the message files of the till in the browser.
@Suite("The languages of a till")
struct TillLanguageTests {
    private static func event(
        _ name: EventName, _ message: CardholderMessage? = nil, _ language: Language
    ) -> Event {
        var event = Event(name)
        event.message = message
        // As the daemon writes it, in the language of the transaction.
        event.customerText = message?.text(in: language) ?? name.customerText(in: language.rawValue)
        return event
    }

    /// Everything that the bridge says in a language.
    private static func said(in language: Language) -> [String] {
        let names: [EventName] = [
            .readReadyForTap, .readRetry, .readRemoveCard, .readCancelled, .paymentAuthorizing, .pinRequested,
            .paymentDeclined, .paymentUnknown, .paymentReversed,
        ]
        let messages: [CardholderMessage] = [.seePhone, .presentOneCardOnly, .insertCard]
        let codes: [ErrorCode] = [
            .orderPaid, .orderUnresolved, .readOtherInterface, .readCardUnsupported, .pspNoAnswer, .readTimedOut,
            .termsNotAccepted,
        ]
        return names.compactMap { language.text(event($0, nil, language)) }
            + messages.compactMap { language.text(event(.readRetry, $0, language)) }
            + codes.compactMap { language.text(ErrorDetail($0)) } + DeclineReason.allCases.map { $0.text(in: language) }
            + [
                language.text(.receipt(.receiptNumber)), language.text(.report(.endOfDay)),
                language.text(.receipt(.total)),
            ]
    }

    @Test("T3: the bridge has the twelve languages of the till in the browser, each with every text")
    func complete() {
        #expect(Language.allCases.count == 12)
        let english = Self.said(in: .english)
        for language in Language.allCases {
            let said = Self.said(in: language)
            #expect(said.count == english.count && !said.contains(""), "\(language)")
            #expect(language.tillKeys == Language.english.tillKeys && language.tillKeys.count > 250, "\(language)")
        }
    }

    @Test("T3: nothing that a till's people read is in another language", arguments: Language.allCases.dropFirst())
    func translated(language: Language) {
        // In Spanish and Portuguese a total is a total.
        let equal: Set = ["TOTAL"]
        for (text, english) in zip(Self.said(in: language), Self.said(in: .english)) where !equal.contains(text) {
            #expect(text != english, "\(language): \(text)")
        }
        // What the language has no text for is told in the till's words, and not in the daemon's English.
        #expect(language.text(ErrorDetail(.readerInUse)) != ErrorDetail(.readerInUse).message)
        var unknown = ErrorDetail(.pspRefused)
        unknown.code = "psp.something_new"
        unknown.message = "Something new"
        #expect(language.isComplete || language.text(unknown) == language.tillText("till.refused"))
        #expect(language.text(nil as ErrorDetail?) == nil)
    }

    @Test("T3: what accuses the customer is told to nobody, in any language", arguments: Language.allCases)
    func discreet(language: Language) {
        for reason in [DeclineReason.lostCard, .stolenCard, .suspectedFraud] {
            let refusal = TillRefusal(
                declined: PaymentResult(mode: .test, outcome: .declined, reason: reason), in: language)
            #expect(refusal.text == DeclineReason.notAccepted.text(in: language))
        }
    }

    @Test("T3: a language whose letters ZVT's paper lacks is refused there; the others lose no letter")
    func letters() {
        for language in Language.allCases where language.hasCodePage437 {
            for text in Self.said(in: language) {
                let written = Letters.replaced(in: text) { $0.isASCII }
                #expect(written.filter { $0 == "?" }.count == text.filter { "?¿".contains($0) }.count, "\(text)")
            }
        }
        for language in [Language.arabic, .japanese] {
            #expect(!language.hasCodePage437)
            #expect(Letters.replaced(in: language.tillText("hold")) { $0.isASCII }.contains("?"))
        }
    }
}
