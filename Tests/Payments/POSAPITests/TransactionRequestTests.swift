// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import Testing

@Suite("The request for a transaction")
struct TransactionRequestTests {
    private func decode(_ json: String) throws(WireError) -> TransactionRequest {
        try WireJSON.decode(TransactionRequest.self, from: Array(json.utf8))
    }

    private func refusal(_ json: String) -> WireError? {
        do throws(WireError) {
            _ = try decode(json)
            return nil
        } catch {
            return error
        }
    }

    @Test("A purchase needs no more than its type and amount")
    func minimal() throws {
        let request = try decode(#"{"type":"purchase","amount":{"value":1250,"currency":"EUR"}}"#)
        #expect(request.type == .purchase)
        #expect(request.amount.description == "12.50 EUR")
        #expect(request.detached == nil && request.deadline == nil)
    }

    @Test("A whole request survives encoding")
    func roundTrip() throws {
        let json = """
            {"type":"refund","lane":"till-1","amount":{"value":900,"currency":"EUR"},"items":[
            {"label":"Coat","amount":{"value":1000,"currency":"EUR"}},
            {"label":"Voucher","amount":{"value":-100,"currency":"EUR"},"kind":"discount"}],
            "order":"A-17","deadline":30,"detached":true}
            """
        let request = try decode(json)
        let again = try WireJSON.decode(TransactionRequest.self, from: try WireJSON.encode(request))
        #expect(again == request)
        #expect(request.items?.count == 2)
    }

    static let refusals: [(String, ErrorCode, String?)] = [
        ("", .requestMalformedJSON, nil),
        ("[", .requestMalformedJSON, nil),
        (#"{"type":"purchase"}"#, .requestMissingField, "amount"),
        (#"{"amount":{"value":1,"currency":"EUR"}}"#, .requestMissingField, "type"),
        (#"{"type":"gift","amount":{"value":1,"currency":"EUR"}}"#, .requestInvalidField, "type"),
        (
            #"{"type":"loyalty","amount":{"value":1,"currency":"EUR"}}"#, .requestFieldNotApplicable, "amount"
        ),
        (#"{"type":"loyalty","currency":"EUR"}"#, .requestFieldNotApplicable, "currency"),
        (#"{"type":"loyalty","loyalty":{"stopOnPass":true}}"#, .requestFieldNotApplicable, "loyalty"),
        (#"{"type":"loyalty","loyalty":{"programmes":[]}}"#, .requestInvalidField, "loyalty.programmes"),
        (#"{"type":"loyalty","loyalty":{"programmes":["a","a"]}}"#, .requestInvalidField, "loyalty.programmes"),
        (#"{"type":"loyalty","loyalty":{"merchants":["a"]}}"#, .requestUnknownField, "loyalty.merchants"),
        (#"{"type":"loyalty","accessible":true}"#, .requestFieldNotApplicable, "accessible"),
        (
            #"{"type":"refund","amount":{"value":1,"currency":"EUR"},"accessible":true}"#, .requestFieldNotApplicable,
            "accessible"
        ),
        (#"{"type":"loyalty","language":"d e"}"#, .requestInvalidField, "language"),
        (#"{"type":"purchase","amount":{"value":1,"currency":"EUR"},"language":""}"#, .requestInvalidField, "language"),
        (
            #"{"type":"refund","amount":{"value":1,"currency":"EUR"},"loyalty":{}}"#, .requestFieldNotApplicable,
            "loyalty"
        ),
        (#"{"type":"purchase","amount":{"value":1,"currency":"XXX"}}"#, .amountCurrencyUnknown, "amount.currency"),
        (#"{"type":"purchase","ammount":{"value":1,"currency":"EUR"}}"#, .requestUnknownField, "ammount"),
        (
            #"{"type":"purchase","amount":{"value":1,"currency":"EUR","decimals":2}}"#, .requestUnknownField,
            "amount.decimals"
        ),
        (#"{"type":"purchase","amount":{"value":"1","currency":"EUR"}}"#, .requestInvalidField, "amount.value"),
        (#"{"type":"purchase","amount":{"value":1.5,"currency":"EUR"}}"#, .requestInvalidField, "amount.value"),
        (#"{"type":"purchase","amount":{"value":1e30,"currency":"EUR"}}"#, .requestInvalidField, "amount.value"),
        (#"{"type":"purchase","amount":{"value":0,"currency":"EUR"}}"#, .amountTotalNotPositive, "amount"),
        (#"{"type":"purchase","amount":{"value":-5,"currency":"EUR"}}"#, .amountTotalNotPositive, "amount"),
        (#"{"type":"purchase","amount":{"value":1000000000000,"currency":"EUR"}}"#, .amountTooLarge, "amount"),
        (#"{"type":"purchase","amount":{"value":1,"currency":"EUX"}}"#, .amountCurrencyUnknown, "amount.currency"),
        (#"{"type":"purchase","amount":{"value":1,"currency":"eur"}}"#, .amountCurrencyUnknown, "amount.currency"),
        (#"{"type":"purchase","amount":{"value":1,"currency":"EUR"},"items":[]}"#, .requestInvalidField, "items"),
        (
            #"{"type":"purchase","amount":{"value":2,"currency":"EUR"},"items":[{"label":"A","amount":{"value":1,"currency":"EUR"}}]}"#,
            .amountItemsMismatch, "items"
        ),
        (
            #"{"type":"purchase","amount":{"value":1,"currency":"EUR"},"items":[{"label":"A","amount":{"value":1,"currency":"USD"}}]}"#,
            .amountCurrencyMismatch, "items"
        ),
        (
            #"{"type":"purchase","amount":{"value":1,"currency":"EUR"},"items":[{"label":"A","amount":{"value":1,"currency":"EUR"},"size":1}]}"#,
            .requestUnknownField, "items[0].size"
        ),
        (#"{"type":"purchase","amount":{"value":1,"currency":"EUR"},"deadline":0}"#, .requestInvalidField, "deadline"),
        (
            #"{"type":"purchase","amount":{"value":1,"currency":"EUR"},"deadline":1.5}"#, .requestInvalidField,
            "deadline"
        ),
        (#"{"type":"purchase","amount":{"value":1,"currency":"EUR"},"order":" a"}"#, .requestInvalidField, "order"),
        (
            #"{"type":"purchase","amount":{"value":1,"currency":"EUR"},"reason":"other"}"#, .requestFieldNotApplicable,
            "reason"
        ),
        (#"{"type":"verification","amount":{"value":1,"currency":"EUR"}}"#, .requestFieldNotApplicable, "amount"),
        (#"{"type":"verification"}"#, .requestMissingField, "currency"),
        (#"{"type":"verification","currency":"EUR","reason":"saveCard"}"#, .requestMissingField, "consent"),
        (
            #"{"type":"refund","amount":{"value":1,"currency":"EUR"},"amountStatus":"pending"}"#,
            .requestFieldNotApplicable, "amountStatus"
        ),
    ]

    @Test("Each wrong request is refused with its code and the field's name", arguments: refusals)
    func refused(json: String, code: ErrorCode, field: String?) {
        #expect(refusal(json) == WireError(code, field: field))
    }

    /// Numbers that schemes publish for tests; ISO/IEC 7812-1. An order is in receipts, logs and lists.
    @Test(
        "A10: a card number is no order",
        arguments: [
            "4111111111111111", "4111-1111-1111-1111", "5555555555554444", "378282246310005", "6011111111111117",
            "3530111333300000", "30569309025904", "2223003122003222",
        ])
    func cardNumber(order: String) {
        let json = #"{"type":"purchase","amount":{"value":1,"currency":"EUR"},"order":"\#(order)"}"#
        #expect(refusal(json) == WireError(.requestInvalidField, field: "order"))
    }

    /// Whatever else a merchant calls something stands beside the order.
    @Test("A10: a card number is no reference of a capture, no label of a day, and no label of an item")
    func cardNumberElsewhere() {
        func fault<Demand: Decodable>(_ json: String, _ type: Demand.Type) -> WireError? {
            do throws(WireError) {
                _ = try WireJSON.decode(type, from: Array(json.utf8))
                return nil
            } catch { return error }
        }
        for number in ["4111111111111111", "5555-5555-5555-4444"] {
            #expect(
                fault(#"{"reference":"\#(number)"}"#, CaptureRequest.self)
                    == WireError(.requestInvalidField, field: "reference"))
            #expect(
                fault(#"{"label":"\#(number)"}"#, EndOfDayRequest.self)
                    == WireError(.requestInvalidField, field: "label"))
            #expect(
                fault(#"{"label":"\#(number)","amount":{"value":1,"currency":"EUR"}}"#, Item.self)
                    == WireError(.requestInvalidField, field: "label"))
        }
        #expect(fault(#"{"reference":"tab-7"}"#, CaptureRequest.self) == nil)
        #expect(fault(#"{"label":"2026-11-28"}"#, EndOfDayRequest.self) == nil)
        #expect(fault(#"{"label":"4006381333931","amount":{"value":1,"currency":"EUR"}}"#, Item.self) == nil)
    }

    /// Texts that are kept for years and shown to whoever asks: what a customer agrees to, how he was told, why money goes back.
    @Test(
        "A10: a card number is in no text of a person, whatever stands around it, and an IBAN or a booking number is none",
        arguments: [
            ("You paid with 4111 1111 1111 1111.", false), ("PAN:4111111111111111", false),
            ("(5555-5555-5555-4444)", false), ("card 4111.1111.1111.1111", false), ("a\\n4111111111111111\\nb", false),
            ("no. \u{0664}\u{0661}\u{0661}\u{0661}1111 11111111", false), ("3782 822463 10005 of the customer", false),
            ("Form 12, signed", true), ("DE89 3704 0044 0532 0130 00", true), ("DK5000400440116243", true),
            ("booking 20261128045123451", true), ("up to 25.00 EUR each month, 24 months from 2026-12-01", true),
        ])
    func words(text: String, isTaken: Bool) {
        let amount = #""type":"purchase","amount":{"value":1,"currency":"EUR"}"#
        let verification = #""type":"verification","currency":"EUR","reason":"saveCard""#
        let terms = #"{"kind":"unscheduled","text":"\#(text)","language":"en"}"#
        let label = #"[{"label":"\#(text)","amount":{"value":1,"currency":"EUR"}}]"#
        var texts: [(field: String, json: String)] = [
            ("consent", #"{\#(verification),"consent":"\#(text)"}"#),
            ("agreement", #"{\#(verification),"agreement":\#(terms)}"#),
            ("agreement", #"{\#(amount),"store":true,"agreement":\#(terms)}"#),
        ]
        // One line of at most 32 letters, and one of at most 64.
        if !text.contains("\\n") {
            if text.count <= 32 { texts.append(("items", #"{\#(amount),"items":\#(label)}"#)) }
            texts.append(("reason", #"{"type":"refund","of":"\#(TransactionID().text)","reason":"\#(text)"}"#))
        }
        for (field, json) in texts {
            let answer = refusal(json)
            #expect(answer == (isTaken ? nil : WireError(.requestInvalidField, field: field)), "\(json)")
        }
    }

    /// What an earlier version has taken is read as it is.
    @Test("A10: agreements that are kept are read, whatever their text")
    func keptWords() throws {
        let kept = #"{"kind":"unscheduled","text":"4111 1111 1111 1111","language":"en"}"#
        #expect(try WireJSON.decode(AgreementTerms.self, from: Array(kept.utf8)).text.hasPrefix("4111"))
    }

    /// Odoo's order names (`pos.order`: "Order" and three numbers), and what people write on a bill.
    @Test(
        "D3: an order may have blanks inside, in every request that has one",
        arguments: [
            ("Order 00001-001-0001", true), ("Table 5", true), ("a  b", true), (" Table 5", false), ("Table 5 ", false),
            (" ", false), ("Table\\t5", false), ("Tisch f\u{FC}nf", false), ("4111 1111 1111 1111", false),
            ("Table 4111 1111 1111 1111", false), ("5 4111111111111111 x", false), ("12 4111 1111 1111 1111", false),
            ("4111 1111 1111 1112", true), (String(repeating: "a b", count: 22), false),
        ])
    func blanks(order: String, isTaken: Bool) {
        let id = TransactionID().text
        for members in [
            #""type":"purchase","amount":{"value":1,"currency":"EUR"}"#,
            #""type":"refund","amount":{"value":1,"currency":"EUR"}"#, #""type":"refund","of":"\#(id)""#,
            #""type":"verification","currency":"EUR""#, #""type":"loyalty""#,
            #""type":"link","amount":{"value":1,"currency":"EUR"}"#,
        ] {
            let wanted = isTaken ? nil : WireError(.requestInvalidField, field: "order")
            #expect(refusal(#"{\#(members),"order":"\#(order)"}"#) == wanted, "\(members) \(order)")
        }
    }

    /// Odoo's order names, times in milliseconds, dates with a count, GTIN-13, a card number's digits with a wrong last one.
    @Test(
        "A10: numbers that merchants use are orders still",
        arguments: [
            "00001-001-0001", "1732780000000", "20261128045123451", "4006381333931", "4111111111111112",
            "A4111111111111111", "1000000000000008", "41111111111111",
        ])
    func merchantNumber(order: String) {
        #expect(refusal(#"{"type":"purchase","amount":{"value":1,"currency":"EUR"},"order":"\#(order)"}"#) == nil)
    }

    @Test("JSON nested ten thousand deep is refused, not followed")
    func deep() {
        let json = #"{"type":"# + String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000) + "}"
        #expect(refusal(json)?.code.entry.status == 400)
    }

    @Test("Bytes that are not UTF-8 are refused")
    func notText() {
        #expect(throws: WireError.self) {
            try WireJSON.decode(
                TransactionRequest.self, from: Array(#"{"type":""#.utf8) + [0xFF, 0xFE] + Array(#""}"#.utf8))
        }
    }

    @Test("A hostile field name is cut and made printable before it is named")
    func hostileName() {
        let json = #"{"type":"purchase","\#(String(repeating: "ä\u{7}", count: 4_000))":1}"#
        let error = refusal(json.replacing("\u{7}", with: "\\u0007"))
        #expect(error?.code == .requestUnknownField)
        #expect((error?.field ?? "").utf8.allSatisfy { (0x20...0x7E).contains($0) })
        #expect((error?.field ?? "").utf8.count == 128)
    }

    @Test("A negative discount and a free item are fine as long as the sum is right and above zero")
    func discount() throws {
        let request = try decode(
            """
            {"type":"purchase","amount":{"value":750,"currency":"JPY"},"items":[
            {"label":"Tea","amount":{"value":1000,"currency":"JPY"}},
            {"label":"Sample","amount":{"value":0,"currency":"JPY"}},
            {"label":"Coupon","amount":{"value":-250,"currency":"JPY"},"kind":"discount"}]}
            """)
        #expect(request.items?.map(\.amount.value) == [1000, 0, -250])
    }

    @Test("Items whose sum does not fit a number are refused, not trapped on")
    func overflow() {
        let huge = #"{"label":"A","amount":{"value":9223372036854775807,"currency":"EUR"}}"#
        let error = refusal(
            #"{"type":"purchase","amount":{"value":1,"currency":"EUR"},"items":[\#(huge),\#(huge)]}"#)
        #expect(error == WireError(.amountItemsMismatch, field: "items"))
    }
}
