// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import Testing

@Suite("Acceptance test 2: the table of amounts")
struct AmountTableTests {
    static let totals: [(value: String, currency: String, code: ErrorCode?, field: String?)] = [
        ("1", "EUR", nil, nil), ("999999999999", "EUR", nil, nil), ("999999999999", "JPY", nil, nil),
        ("1000000000", "IDR", nil, nil), ("1000000000", "LBP", nil, nil), ("1000000000", "IRR", nil, nil),
        ("1000000000", "COP", nil, nil),
        ("0", "EUR", .amountTotalNotPositive, "amount"), ("-1", "EUR", .amountTotalNotPositive, "amount"),
        ("-9223372036854775808", "EUR", .amountTotalNotPositive, "amount"),
        ("1000000000000", "EUR", .amountTooLarge, "amount"), ("9999999999999", "IDR", .amountTooLarge, "amount"),
        ("9223372036854775807", "EUR", .amountTooLarge, "amount"),
        ("9223372036854775808", "EUR", .requestInvalidField, "amount.value"),
        ("12.5", "EUR", .requestInvalidField, "amount.value"), (#""12""#, "EUR", .requestInvalidField, "amount.value"),
        ("1", "EUX", .amountCurrencyUnknown, "amount.currency"), ("1", "", .amountCurrencyUnknown, "amount.currency"),
        ("1", "eur", .amountCurrencyUnknown, "amount.currency"),
        ("1", "XXX", .amountCurrencyUnknown, "amount.currency"),
        ("1", "978", .amountCurrencyUnknown, "amount.currency"), ("1250", "JPY", nil, nil), ("1250", "KWD", nil, nil),
        ("1250", "CLF", nil, nil),
    ]

    @Test(
        "M10, requirements 47 and 55: a total is above zero, of at most twelve digits, in a known currency",
        arguments: totals)
    func total(value: String, currency: String, code: ErrorCode?, field: String?) {
        for type in ["purchase", "refund"] {
            let json = #"{"type":"\#(type)","amount":{"value":\#(value),"currency":"\#(currency)"}}"#
            #expect(RequestFieldTests.refusal(json) == code.map { WireError($0, field: field) })
        }
    }

    static let sums: [(parts: [Int64], total: Int64, code: ErrorCode?, field: String?)] = [
        ([1_000], 1_000, nil, nil), ([1_000, -250], 750, nil, nil), ([0, 1_000], 1_000, nil, nil),
        ([1_500, -500, 0], 1_000, nil, nil), ([-500, 1_500], 1_000, nil, nil),
        ([1_000], 999, .amountItemsMismatch, "items"), ([1_000, -250], 1_250, .amountItemsMismatch, "items"),
        ([500, -500], 1, .amountItemsMismatch, "items"), ([], 1_000, .requestInvalidField, "items"),
        ([500, -500], 0, .amountTotalNotPositive, "amount"), ([500, -600], -100, .amountTotalNotPositive, "amount"),
        ([.max, .max], 1_000, .amountItemsMismatch, "items"), ([.min, .min], 1_000, .amountItemsMismatch, "items"),
    ]

    @Test("Requirements 52 and 55: items of any sign make up the total exactly", arguments: sums)
    func sum(parts: [Int64], total: Int64, code: ErrorCode?, field: String?) {
        let items = parts.map { #"{"label":"A","amount":{"value":\#($0),"currency":"EUR"}}"# }
        let json = """
            {"type":"purchase","amount":{"value":\(total),"currency":"EUR"},"items":[\(items.joined(separator: ","))]}
            """
        #expect(RequestFieldTests.refusal(json) == code.map { WireError($0, field: field) })
    }

    @Test("A 65th item is refused, 64 are taken")
    func count() {
        for (count, field) in [(64, nil), (65, "items")] as [(Int, String?)] {
            let items = Array(repeating: #"{"label":"A","amount":{"value":1,"currency":"EUR"}}"#, count: count)
            let json = """
                {"type":"purchase","amount":{"value":\(count),"currency":"EUR"},"items":[\(items.joined(separator: ","))]}
                """
            #expect(RequestFieldTests.refusal(json)?.field == field)
        }
    }

    @Test(
        "Amounts are written with the decimals that their currency has",
        arguments: [
            ("EUR", "12.50 EUR"), ("JPY", "1250 JPY"), ("KWD", "1.250 KWD"), ("BHD", "1.250 BHD"),
            ("CLF", "0.1250 CLF"), ("CLP", "1250 CLP"), ("USD", "12.50 USD"),
        ])
    func decimals(currency: String, text: String) throws {
        #expect(Money(value: 1_250, currency: try #require(Currency(currency))).description == text)
    }
}
