// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import Testing

@Suite("Money, time and ids")
struct ValueTests {
    @Test func `journals from before have other words for the same`() throws {
        let service = AskedService(serviceName: "psp", socket: "/s")
        for name in ["serviceName", "issuer"] {
            let text = #"{"\#(name)":"psp","socket":"/s"}"#
            #expect(try WireJSON.decode(AskedService.self, from: Array(text.utf8)) == service)
        }
        #expect(String(decoding: try WireJSON.encode(service), as: UTF8.self).contains(#""serviceName":"psp""#))
        for word in ["reversed", "takenBack"] {
            #expect(try WireJSON.decode([DeclineReason].self, from: Array(#"["\#(word)"]"#.utf8)) == [.reversed])
        }
        #expect(throws: (any Error).self) { try WireJSON.decode([DeclineReason].self, from: Array(#"["books"]"#.utf8)) }
    }

    static let amounts: [(Int64, String, String)] = [
        (1250, "EUR", "12.50 EUR"), (5, "EUR", "0.05 EUR"), (-5, "EUR", "-0.05 EUR"), (1250, "JPY", "1250 JPY"),
        (1250, "KWD", "1.250 KWD"), (1, "CLF", "0.0001 CLF"), (0, "EUR", "0.00 EUR"),
    ]

    @Test("An amount is written with the decimals of its currency", arguments: amounts)
    func description(value: Int64, code: String, text: String) throws {
        #expect(Money(value: value, currency: try #require(Currency(code))).description == text)
    }

    @Test("Every currency has three capital letters, a numeric code of its own and 0, 2, 3 or 4 decimals")
    func currencies() throws {
        var numerics: Set<UInt16> = []
        for code in Currency.codes {
            let currency = try #require(Currency(code))
            #expect(code.utf8.count == 3 && code.utf8.allSatisfy { (0x41...0x5A).contains($0) })
            #expect([0, 2, 3, 4].contains(currency.exponent))
            #expect(numerics.insert(currency.numeric).inserted, "numeric code of \(code) used twice")
        }
        #expect(Currency("EUR")?.numeric == 978 && Currency("BHD")?.exponent == 3 && Currency("XXX") == nil)
    }

    static let times: [(Int64, String)] = [
        (0, "1970-01-01T00:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"), (1_772_353_800_125, "2026-03-01T08:30:00.125Z"),
        (4_102_444_799_999, "2099-12-31T23:59:59.999Z"),
    ]

    @Test("A time is RFC 3339 in UTC, and reads back", arguments: times)
    func time(milliseconds: Int64, text: String) {
        #expect(Timestamp(milliseconds: milliseconds).description == text)
        #expect(Timestamp(text)?.milliseconds == milliseconds)
    }

    @Test(
        "What is no time of day in UTC is refused",
        arguments: [
            "", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01 00:00:00Z", "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00+01:00", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00.1x3Z", "2026-1-1T00:00:00Z",
        ])
    func wrongTime(_ text: String) { #expect(Timestamp(text) == nil) }

    @Test("Fractions of any length count as milliseconds", arguments: [("", 0), (".5", 500), (".123456789", 123)])
    func fractions(_ fraction: String, _ expected: Int64) {
        #expect(Timestamp("1970-01-01T00:00:00\(fraction)Z")?.milliseconds == expected)
    }

    @Test("New ids are UUIDs of version 7 that sort by time and do not repeat")
    func ids() {
        let early = TransactionID(at: Timestamp(milliseconds: 1_700_000_000_000))
        let late = TransactionID(at: Timestamp(milliseconds: 1_700_000_000_001))
        #expect(early < late)
        #expect(early.text.hasPrefix("018bcfe5-6800-7"))
        #expect(Set((0..<1_000).map { _ in TransactionID().text }).count == 1_000)
        #expect(TransactionID(late.text.uppercased()) == late)
    }

    @Test(
        "What is no such id is refused",
        arguments: [
            "", "0192f3a4-5b6c-4d8e-9f01-23456789abcd", "0192f3a4-5b6c-7d8e-cf01-23456789abcd",
            "0192f3a45b6c7d8e9f0123456789abcd", "0192f3a4-5b6c-7d8e-9f01-23456789abcg",
            "ä192f3a4-5b6c-7d8e-9f01-23456789abc",
        ])
    func wrongID(_ text: String) { #expect(TransactionID(text) == nil) }

    static let cards: [(String, String, Bool)] = [
        ("0010", "************0010", true), ("0010", "476173******0010", true), ("0119", "•••• 0119", true),
        ("3452", "1234567890123452", false), ("0010", "47617390****0010", false),
        ("3452", "1234 5678 9012 3452", false),
        ("001", "*001", false), ("0010", "****0011", false),
    ]

    @Test("A masked card cannot hold a whole card number", arguments: cards)
    func masking(last4: String, masked: String, isAccepted: Bool) throws {
        #expect((MaskedCard(scheme: "Visa", last4: last4, masked: masked) != nil) == isAccepted)
        let json = #"{"scheme":"Visa","last4":"\#(last4)","masked":"\#(masked)"}"#
        let decoded = try? WireJSON.decode(MaskedCard.self, from: Array(json.utf8))
        #expect((decoded != nil) == isAccepted)
    }
}
