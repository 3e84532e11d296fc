// SPDX-License-Identifier: Apache-2.0
import Codes
import PaymentValues
import Testing

@Suite("What a shop and its customers read, in each of the twelve languages")
struct TwelveLanguagesTests {
    private static let foreign = Language.allCases.filter { $0 != .english }

    /// Texts that are the same as in English, because the word is.
    private static let equal: [Language: Set<String>] = [
        .german: ["receipt.kernel", "receipt.terminal", "report.test"],
        .french: [
            "receipt.application", "receipt.date", "receipt.signature", "receipt.terminal", "receipt.total",
            "receipt.verificationSignature", "report.open.contradiction", "report.service", "report.test",
            "status.mode", "summary.transaction",
        ],
        .spanish: ["receipt.terminal", "receipt.total"],
        .italian: ["receipt.kernel", "report.test"],
        .dutch: [
            "receipt.kernel", "receipt.order", "receipt.terminal", "report.openTitle", "report.test",
            "status.adapter", "status.test",
        ],
        .polish: ["receipt.terminal", "report.test", "status.adapter", "status.test"],
        .portuguese: ["receipt.terminal", "receipt.total"],
        .swedish: [
            "format.dateTime", "receipt.order", "receipt.terminal", "report.test", "status.adapter", "status.test",
        ],
        .turkish: ["receipt.number", "receipt.terminal", "report.test", "status.test"],
        .arabic: ["format.dateTime", "format.decimalSeparator"],
        .japanese: ["format.decimalSeparator"],
    ]

    private static func texts(_ key: TextKey, _ language: Language) -> [String] {
        if case .helpText = key { return language.paragraphs(key) }
        return [language.text(key)]
    }

    @Test("P8: no text is English in another language, but for words that are the same there", arguments: foreign)
    func translated(language: Language) {
        let keys = TextKey.required(in: language) + TextKey.optional(in: language).filter { language.find($0) != nil }
        let same = keys.filter { Self.texts($0, language) == Self.texts($0, .english) }.map(\.name)
        #expect(Set(same) == Self.equal[language])
    }

    @Test("P8: a text is in its language's letters", arguments: [Language.arabic, .japanese])
    func letters(language: Language) {
        let own: ClosedRange<UInt32> = language == .arabic ? 0x600...0x6FF : 0x3041...0x9FFF
        for key in TextKey.required(in: language) where !key.name.hasPrefix("format.") {
            for text in Self.texts(key, language) {
                #expect(text.unicodeScalars.contains { own.contains($0.value) }, "\(key.name): \(text)")
            }
        }
    }

    /// What stands on paper or in a report, and on the till's screen: the letters' size alone may differ.
    private static let alike: [(TextKey, String)] = [
        (.receipt(.statusApproved), "approved"),
        (.receipt(.statusReversed), "word.reversed"), (.receipt(.statusReleased), "word.released"),
        (.summary(.approved), "approved"), (.summary(.refunded), "word.refunded"),
        (.summary(.reversed), "word.reversed"), (.summary(.handedOver), "word.handedOver"),
        (.state(.approved), "approved"), (.state(.reversed), "word.reversed"),
        (.report(.payments), "word.captured"), (.report(.reversed), "word.reversed"),
        (.report(.refunds), "word.refunded"), (.report(.corrected), "word.corrected"), (.report(.held), "word.held"),
        (.report(.released), "word.released"), (.report(.handedOver), "word.handedOver"),
        (.report(.endOfDay), "day.end"), (.report(.openTitle), "word.open"),
    ]

    @Test("P8: the same thing has the same word on paper, in a report, at the command line and on the till's screen")
    func oneWord() {
        for language in Language.allCases {
            for (key, tillKey) in Self.alike {
                let own = Self.folded(language.text(key), language)
                #expect(own == Self.folded(language.tillText(tillKey), language), "\(language) \(key.name)")
            }
        }
    }

    /// In small letters; Turkish has its own of I.
    private static func folded(_ text: String, _ language: Language) -> String {
        let text = language == .turkish ? text.replacing("İ", with: "i").replacing("I", with: "ı") : text
        return text.lowercased()
    }

    @Test("D10: the labels of a result fit their column in every language", arguments: Language.allCases)
    func labels(_ language: Language) throws {
        for label in SummaryWord.labels {
            #expect((1...14).contains(Columns.count(language.text(label))), "\(label) in \(language)")
            #expect(Columns.count(language.line(label, "x")) == 18)
        }
        for label in StatusPhrase.labels {
            #expect((1...14).contains(Columns.count(language.text(label))), "\(label) in \(language)")
            #expect(Columns.count(language.line(label, "x")) == Columns.count(language.line(nil, "x")))
        }
        let amount = language.text(Money(value: 1_250, currency: try #require(Currency("EUR"))))
        let hasPoint = [.english, .arabic, .japanese].contains(language)
        let mark = language == .arabic ? "\u{200E}" : ""
        #expect(amount == mark + (hasPoint ? "12.50 EUR" : "12,50 EUR"))
    }

    /// CLDR 46, ar.xml, numbers in Latin digits: the minus sign is U+200E U+002D. A date is of several values, and one itself.
    @Test(
        "P11: among words from the right a value follows a mark, and is shown as it is written",
        arguments: Language.allCases)
    func inOrder(_ language: Language) throws {
        let mark = language == .arabic ? "\u{200E}" : ""
        let debt = Money(value: -237, currency: try #require(Currency("EUR")))
        #expect(language.text(debt).hasPrefix(mark + "-2"))
        #expect(language.line(.transaction, "1f-2").hasSuffix(" \(mark)1f-2"))
        #expect(language.text(.lookUpFirst, [.command: "nfc-tap list"]).contains(mark + "nfc-tap list"))
        #expect(language.inOrder("") == "" && language.inOrder("مردود") == "مردود")
        let date = language.text(.dateTime, [.year: "2026", .month: "11", .day: "29", .clock: "08:31"])
        #expect(!date.contains("\u{200E}") && Columns.count(language.inOrder("-2.37")) == 5)
    }

    @Test("P8: what only an administrator or a programmer reads is English, whole, where it is not translated")
    func administrators() throws {
        for language in Language.allCases where !language.isComplete {
            for code in ErrorCode.allCases where !code.isToldAtTill {
                #expect(code.texts(in: language) == code.texts(in: .english))
                #expect(code.neutralTexts(in: language) == code.neutralTexts(in: .english))
            }
        }
        #expect(ErrorCode.allCases.filter(\.isToldAtTill).count > 60 && !ErrorCode.requestNotJSON.isToldAtTill)
    }
}
