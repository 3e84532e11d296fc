// SPDX-License-Identifier: Apache-2.0
import Foundation
import PaymentValues
import TestSupport
import Testing

@Suite("P8: the commands of a shop's day speak their user's language, whole", .timeLimit(.minutes(10)))
struct SpokenLanguagesTests {
    /// Commands and the code with which each ends; SALE, HELD and KEY are payments of the day. What only an administrator or a programmer
    /// types is English (decision 193 names those commands), and so are wrong arguments.
    private static let day: [(arguments: String, status: Int32)] = [
        ("pay 12.50 EUR", 0), ("pay 12.51 EUR", 10), ("pay 9.00 EUR --confirm-within 60", 0),
        ("refund 5.00 EUR", 0), ("refund --of SALE 0.10 EUR", 0), ("refund --of SALE 9000.00 EUR", 13),
        ("verify", 0), ("look-up", 0), ("loyalty --deadline 1", 0),
        ("pay 3.00 EUR --dry-run", 0), ("try 12.50 EUR", 0),
        ("list", 0), ("last main", 0), ("find KEY", 0), ("receipt SALE", 0),
        ("capture HELD 1.00 EUR --tip 0.10EUR --dry-run", 0), ("adjust HELD 19.00 EUR --dry-run", 0),
        ("capture HELD 1.00 EUR --not-final", 0), ("release SALE", 13), ("prepare", 0),
        ("cancel SALE", 0), ("decline SALE", 13), ("store-card --consent yes", 0),
        ("help-topics", 0), ("help-topics taps", 0),
        ("totals --by scheme,type,lane,cashier", 0), ("end-of-day show 1", 0), ("end-of-day list", 0),
    ]

    /// Words of the program itself: commands, names of card, lane and currency, and the texts of the payment service.
    private static let names: Set<String> = [
        "nfc", "tap", "eur", "visa", "main", "test", "sandbox", "shop", "confirm", "all", "aid", "tvr", "virtual",
        "reader", "uid", "merchant", "pay", "example", "teststrasse", "member", "club", "voucher", "help", "topics",
        "terms", "unsuitable", "atc", "arc", "agreement", "unscheduled",
    ]

    private static func words(_ text: String) -> Set<String> {
        let bare = text.replacing(
            /[0-9a-f]{8}-[0-9a-f-]{27}|[0-9A-F]{8,}|\([a-z_.]+\)|https:\S+|card_\w+|\d{4}-\d\d-\d\d\S+/, with: " ")
        return Set(bare.lowercased().matches(of: /\p{L}{3,}/).map { String($0.output) })
    }

    /// The words that a language's message files have.
    private static func vocabulary(_ language: String) throws -> Set<String> {
        try words(
            Checkout.text("Sources/Payments/CTexts/\(language).json")
                + Checkout.text("share/till/messages/\(language).json"))
    }

    @Test func `no command prints a word of another language`() throws {
        let shop = try Shop()
        try shop.awaitReader()
        try shop.card("present visa")
        let sale = try shop.pay("20.00 EUR", ["--idempotency-key", "day-sale"])
        let held = try shop.pay("20.00 EUR", ["--manual-capture"])
        let names = try ["SALE": sale, "HELD": held].mapValues { try #require($0.transaction["id"] as? String) }
        #expect(try shop.tap("end-of-day").status == 0)

        func run(_ line: String, in language: String) throws -> Finished {
            let line = names.reduce(line.replacing("KEY", with: "day-sale")) { $0.replacing($1.key, with: $1.value) }
            return try Program.tap.run(
                line.split(separator: " ").map(String.init), in: shop.folder,
                environment: ["NFC_TAP_SOCKET": shop.posSocket, "LC_ALL": "\(language)_XX.UTF-8"])
        }
        let languages = Language.allCases.filter { $0 != .english }.map(\.rawValue)
        #expect(languages.count == 11)
        let vocabularies = try Dictionary(uniqueKeysWithValues: languages.map { ($0, try Self.vocabulary($0)) })
        var checked = 0
        for (line, status) in Self.day {
            let english = try run(line, in: "en")
            #expect(english.status == status, "\(line): \(english.said)")
            let own = Self.words(english.said)
            for language in languages {
                let told = try run(line, in: language)
                #expect(told.status == status, "\(language) \(line): \(told.errors)")
                let foreign = Self.words(told.said).intersection(own)
                    .subtracting(vocabularies[language] ?? []).subtracting(Self.names)
                #expect(foreign.isEmpty, "\(language) \(line): \(foreign)\n\(told.said)")
                checked += 1
            }
        }
        #expect(checked == Self.day.count * languages.count)
    }
}
