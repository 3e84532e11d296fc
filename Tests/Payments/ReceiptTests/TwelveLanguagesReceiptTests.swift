// SPDX-License-Identifier: Apache-2.0
import Codes
import POSAPI
import PaymentValues
import Printing
import Receipt
import Testing

@Suite("Paper in the twelve languages")
struct TwelveLanguagesReceiptTests {
    private static let states: [TransactionState] = [
        .approved, .declined, .stored, .unknown, .reversing, .reversed, .cancelled, .failed,
    ]
    private static let types: [TransactionType] = [.purchase, .refund, .verification, .charge, .link]
    private static let descriptions: [AmountDescription?] = [
        nil, .membership(cycle: .yearly), .surchargePercent(hundredths: 235), .preauthorization,
        .preauthorizationRelease,
    ]

    /// Receipts in every state, of every kind, both copies.
    private static func receipts(in language: Language) throws -> [Receipt] {
        var receipts: [Receipt] = []
        for (index, state) in states.enumerated() {
            for copy in Receipt.Copy.allCases {
                for type in [types[index % types.count], types[(index + 2) % types.count]] {
                    receipts.append(
                        try ReceiptBench.receipt(state, copy, language) { transaction in
                            transaction.type = type
                            transaction.message = .seePhone
                            transaction.details?.description = descriptions[index % descriptions.count]
                            transaction.chip?.verification = .signature
                        })
                }
            }
        }
        return receipts
    }

    /// The day's report with everything it can say.
    private static func report() throws -> EndOfDay {
        let euro = try #require(Currency("EUR"))
        let at = Timestamp(milliseconds: 1_772_353_860_000)
        let figure = Figure(count: 12, value: 1_234_567)
        var line = TotalsLine(mode: .test, currency: euro)
        (line.captured, line.reversed, line.refunded, line.corrected) = (figure, figure, figure, figure)
        (line.tips, line.held, line.released, line.handedOver) = (figure, figure, figure, figure)
        (line.net, line.declined, line.cancelled) = (1_234_567, 3, 2)
        let open = OpenEntry.Kind.allCases.map {
            OpenEntry($0, TransactionID(), amount: Money(value: 100, currency: euro), since: at)
        }
        let days = BusinessDay.State.allCases.map { BusinessDay(id: "d", number: 6, state: $0, openedAt: at) }
        let totals = Totals(
            lines: [line], net: [NetSum(mode: .test, currency: euro, value: 1_234_567)], open: open,
            openCount: open.count + 1, days: days)
        let day = BusinessDay(id: "d", number: 7, state: .differs, openedAt: at, closedAt: at)
        var end = EndOfDay(day: day, totals: totals)
        end.service = ServiceFigures(reference: "SUM-1", contradiction: true, elsewhere: 2)
        return end
    }

    /// Without the marks around the pieces of a line that is written from the right.
    private static func bare(_ text: String) -> String { text.filter { $0 != "\u{2068}" && $0 != "\u{2069}" } }

    /// The right value is UAX #9, W2 and W6: a number after Arabic letters is of their run, a hyphen before or in it is not. How it is shown, Tests/Browser/day.py
    /// looks at in Chromium.
    @Test(
        "P11: on paper from the right each piece of a line stands apart: a minus before its number, a date in its order"
    )
    func fromTheRight() throws {
        let euro = try #require(Currency("EUR"))
        var end = try Self.report()
        var line = try #require(end.totals.lines.first)
        line.refunded = Figure(count: 1, value: -237)
        end.totals = Totals(
            lines: [line], net: [NetSum(mode: .test, currency: euro, value: -237)], open: [], openCount: 0)
        end.day.label = "2026-11-29"
        let arabic = EndOfDayReport(end, language: .arabic).text(width: 32, secondsFromUTC: 0)
        for piece in ["2026-11-29", "2026-03-01 08:31", "1", "-2.37", "-2.37 EUR"] {
            #expect(arabic.contains("\u{2068}\(piece)\u{2069}"), "\(piece) in\n\(arabic)")
        }
        let receipt = try ReceiptBench.receipt(.approved, .customer, .arabic) {
            $0.details?.items = [Item(label: "خصم", amount: Money(value: -237, currency: euro), kind: .discount)]
            $0.details?.merchant?.displayName = "Shop \u{202E}\u{2067}"
        }
        let text = receipt.text(width: 48, withCode: true)
        #expect(text.contains("\u{2068}خصم\u{2069}") && text.contains("\u{2068}-2.37 EUR\u{2069}"), "\(text)")
        // Whatever stands in a line is apart, a row of a code too, and each piece ends in its line; nobody else's marks are there.
        for line in (arabic + text).split(separator: "\n") where !line.allSatisfy({ $0 == "-" }) {
            let outside = line.replacing(#/\u{2068}[^\u{2068}\u{2069}]*\u{2069}/#, with: "")
            #expect(outside.allSatisfy { $0 == " " }, "\(line)")
        }
        #expect(!text.contains("\u{202E}") && !text.contains("\u{2067}"))
        for language in Language.allCases where language != .arabic {
            let text = EndOfDayReport(end, language: language).text() + (try Self.receipts(in: language)[0].text())
            #expect(text == Self.bare(text), "\(language)")
        }
    }

    @Test("P8: no word of a receipt or of a day's report is English in another language", arguments: Language.allCases)
    func words(language: Language) throws {
        guard language != .english else { return }
        let keys =
            ReceiptWord.allCases.map(TextKey.receipt) + ReportWord.allCases.map(TextKey.report)
            + OpenEntry.Kind.allCases.map(TextKey.openEntry) + DeclineReason.allCases.map(TextKey.decline)
        let own = keys.map { language.text($0) }.joined(separator: "\n")
        // What stands in the language's own texts, too, is its word.
        let foreign = Set(keys.map { Language.english.text($0).drop { $0 == " " } }.map(String.init))
            .filter { $0.count > 2 && !$0.contains("{") && !own.contains($0) }
        var lines = try Self.receipts(in: language).flatMap {
            $0.text(width: 48).split(separator: "\n").map(String.init)
        }
        let report = EndOfDayReport(try Self.report(), language: language, isCopy: true)
        lines += report.text(width: 48).split(separator: "\n").map(String.init)
        #expect(lines.count > 500)
        for line in Set(lines.map(Self.bare)) {
            // The label, the value, or the sentence.
            let parts = line.split(separator: #/ {2,}/#).map(String.init) + [String(line.drop { $0 == " " })]
            for part in parts { #expect(!foreign.contains(part), "\(line)") }
        }
    }

    @Test(
        "P9: no line of a receipt or of a day's report takes more columns than the paper has", arguments: [32, 42, 48])
    func width(width: Int) throws {
        for language in Language.allCases {
            let report = EndOfDayReport(try Self.report(), language: language, isCopy: true).text(width: width)
            let receipts = try Self.receipts(in: language).map { $0.text(width: width) }
            for line in (receipts + [report]).flatMap({ $0.split(separator: "\n") }) {
                #expect(Columns.count(line) <= width, "\(language): \(line)")
            }
            // A word is broken on no paper, but for numbers.
            for word in ReceiptWord.allCases {
                for part in language.text(.receipt(word)).split(separator: " ") where language != .japanese {
                    #expect(Columns.count(part) <= 32, "\(language): \(part)")
                }
            }
        }
    }

    @Test("P9: a Japanese line breaks between letters, and a full stop begins none")
    func japanese() {
        #expect(Columns.count("合計 12.50") == 10 && Columns.count("ﾒﾓ") == 2 && Columns.count("é") == 1)
        #expect(Columns.broken("レシートはコードです。", at: 8) == ["レシート", "はコード", "です。"])
        #expect(Columns.broken("あいうえ。", at: 8) == ["あいう", "え。"])
        #expect(Columns.broken("QRコード abcdefghij", at: 6) == ["QRコー", "ド", "abcdef", "ghij"])
    }

    /// Letters of each page, by Python's codecs (`'Łódź'.encode('cp852')`).
    @Test(
        "P10: ESC/POS has the language's code page, and its letters in it",
        arguments: [
            (Language.polish, UInt8(18), "Łódź ćśę", [0x9D, 0xA2, 0x64, 0xAB, 0x20, 0x86, 0x98, 0xA9] as [UInt8]),
            (.turkish, 13, "Şişli ğı İ", [0x9E, 0x69, 0x9F, 0x6C, 0x69, 0x20, 0xA7, 0x8D, 0x20, 0x98]),
            (.french, 19, "À côté ø", [0xB7, 0x20, 0x63, 0x93, 0x74, 0x82, 0x20, 0x9B]),
        ])
    func pages(language: Language, page: UInt8, name: String, code: [UInt8]) throws {
        let bytes = try ReceiptBench.receipt(.approved, .customer, language) {
            $0.details?.merchant?.displayName = name
            $0.details?.merchant?.onBehalfOf = nil
        }.escPOS()
        #expect(bytes.prefix(5) == [0x1B, 0x40, 0x1B, 0x74, page])
        #expect(bytes.firstRange(of: code) != nil)
    }

    @Test("P10: a printer prints every letter of every language's words, and English where it has no page for them")
    func printed() throws {
        for language in Language.allCases {
            for receipt in try Self.receipts(in: language) {
                let bytes = receipt.escPOS(width: 32)
                // A question mark that no text has stands for a lost letter.
                #expect(!bytes.dropFirst(5).prefix { $0 != 0x1D }.contains(0x3F), "\(language)")
            }
            let hasPage = ![.arabic, .japanese].contains(language)
            let bytes = try ReceiptBench.receipt(.approved, .customer, language).escPOS()
            let isEnglish = bytes.firstRange(of: Array("Customer copy".utf8)) != nil
            #expect(isEnglish == (language == .english || !hasPage), "\(language)")
        }
    }

    @Test("P10: what ZVT's code page lacks is written letter by letter, so that no line grows")
    func codePage437() {
        for language in Language.allCases where ![.arabic, .japanese].contains(language) {
            for word in ReceiptWord.allCases {
                let text = language.text(.receipt(word))
                let written = Letters.replaced(in: text) { $0.isASCII || "äöüßÄÖÜåÅæÆéÉ".contains($0) }
                #expect(written.count == text.count && !written.contains("?"), "\(language): \(text)")
            }
        }
    }
}
