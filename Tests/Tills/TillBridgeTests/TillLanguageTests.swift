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
    private static let foreign = TillLanguage.allCases.filter { $0.ownAtDaemon == nil }

    private static func event(_ name: EventName, _ message: CardholderMessage? = nil) -> Event {
        var event = Event(name)
        event.message = message
        // The daemon's, in English for what it has no texts of.
        event.customerText = "Hold your card or phone here"
        return event
    }

    /// Everything that the bridge says in a language.
    private static func said(in language: TillLanguage) -> [String] {
        let names: [EventName] = [
            .readReadyForTap, .readRetry, .readRemoveCard, .readCancelled, .paymentAuthorizing, .pinRequested,
            .paymentDeclined, .paymentUnknown, .paymentReversed,
        ]
        let messages: [CardholderMessage] = [.seePhone, .presentOneCardOnly, .insertCard]
        let codes: [ErrorCode] = [
            .orderPaid, .orderUnresolved, .readOtherInterface, .readCardUnsupported, .pspNoAnswer, .readTimedOut,
            .termsNotAccepted,
        ]
        return names.compactMap { language.text(event($0)) }
            + messages.compactMap { language.text(event(.readRetry, $0)) }
            + codes.compactMap { language.text(ErrorDetail($0)) } + DeclineReason.allCases.map { language.text($0) }
            + [language.receiptNumber, language.endOfDay, language.total]
    }

    @Test("T3: the bridge has the twelve languages of the till in the browser, each with every text")
    func complete() {
        #expect(TillLanguage.allCases.count == 12)
        let english = TillLanguage.english.messages
        #expect(english.count > 250)
        for language in TillLanguage.allCases {
            #expect(Set(language.messages.keys) == Set(english.keys), "\(language)")
            let said = Self.said(in: language)
            #expect(said.count == Self.said(in: .english).count && !said.contains(""), "\(language)")
        }
    }

    @Test("T3: nothing that a till's people read is in another language", arguments: foreign)
    func translated(language: TillLanguage) {
        let own = Set(language.messages.values)
        // The daemon's sentence comes in English then, and is not passed on.
        for text in Self.said(in: language) { #expect(own.contains(text), "\(language): \(text)") }
        #expect(language.text(Self.event(.readReadyForTap)) != "Hold your card or phone here")
        #expect(language.onReceipts == .english)
    }

    @Test("T3: English and German are the daemon's own words, as before")
    func own() {
        #expect(
            TillLanguage.german.text(DeclineReason.insufficientFunds)
                == DeclineReason.insufficientFunds.text(in: .german))
        #expect(TillLanguage.german.text(Self.event(.readReadyForTap)) == "Hold your card or phone here")
        #expect(TillLanguage.german.onReceipts == .german)
    }

    @Test("T3: what accuses the customer is told to nobody, in any language", arguments: TillLanguage.allCases)
    func discreet(language: TillLanguage) {
        for reason in [DeclineReason.lostCard, .stolenCard, .suspectedFraud] {
            let refusal = TillRefusal(
                declined: PaymentResult(mode: .test, outcome: .declined, reason: reason), in: language)
            #expect(refusal.text == language.text(DeclineReason.notAccepted))
        }
    }

    @Test("T3: a language whose letters ZVT's paper lacks is refused there; the others lose no letter")
    func letters() {
        for language in TillLanguage.allCases where language.hasCodePage437 {
            for text in Self.said(in: language) {
                let written = Letters.replaced(in: text) { $0.isASCII }
                #expect(written.filter { $0 == "?" }.count == text.filter { "?¿".contains($0) }.count, "\(text)")
            }
        }
        for language in [TillLanguage.arabic, .japanese] {
            #expect(!language.hasCodePage437)
            #expect(Letters.replaced(in: language.text("hold")) { $0.isASCII }.contains("?"))
        }
    }
}
