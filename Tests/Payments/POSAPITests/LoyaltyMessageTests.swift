// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import Testing

@Suite("Messages about passes")
struct LoyaltyMessageTests {
    private func decode(_ json: String) throws -> TransactionRequest {
        try WireJSON.decode(TransactionRequest.self, from: Array(json.utf8))
    }

    private var result: LoyaltyResult {
        var pass = LoyaltyResult.Pass(carrier: .google, isAuthentic: true)
        pass.member = "MEMBER-0001"
        pass.objects = [LoyaltyResult.Object(kind: "ly", values: ["n": "MEMBER-0001"])]
        return LoyaltyResult(
            wallet: .google, customerAction: .nothing,
            programmes: [
                LoyaltyResult.Entry(id: "club", displayName: "Club", status: .delivered, pass: pass),
                LoyaltyResult.Entry(id: "other", displayName: "Other", status: .noPass),
            ])
    }

    @Test(
        "A request is the same after a way through JSON",
        arguments: [
            #"{"type":"loyalty"}"#,
            #"{"type":"loyalty","loyalty":{"programmes":["club","voucher"]},"language":"de-AT","order":"A-1"}"#,
            #"{"type":"purchase","amount":{"value":1,"currency":"EUR"},"loyalty":{"stopOnPass":true},"language":"en"}"#,
        ])
    func roundTrip(json: String) throws {
        let request = try decode(json)
        #expect(try WireJSON.decode(TransactionRequest.self, from: try WireJSON.encode(request)) == request)
        #expect((request.type == .loyalty) == (request.amount == .none))
    }

    @Test("A read of passes has no amount in its JSON, and a payment has one")
    func amount() throws {
        for (type, amount) in [
            (TransactionType.loyalty, Money.none),
            (.purchase, Money(value: 5, currency: try #require(Currency("EUR")))),
        ] {
            var transaction = Transaction(
                id: TransactionID(), type: type, mode: .test, lane: "till-1", amount: amount, createdAt: .now)
            transaction.loyalty = result
            let json = try WireJSON.encode(transaction)
            #expect(String(decoding: json, as: UTF8.self).contains("amount") == (type == .purchase))
            #expect(try WireJSON.decode(Transaction.self, from: json) == transaction)
        }
    }

    @Test("Without its passes a result says as much, and nothing of them")
    func redacted() throws {
        let text = String(decoding: try WireJSON.encode(result.withoutPasses), as: UTF8.self)
        #expect(text.contains("delivered") && text.contains("club"))
        #expect(!text.contains("MEMBER"))
        var event = Event(.loyaltyResult)
        event.loyalty = result
        #expect(event.withoutResult.loyalty == nil)
        #expect(event.withoutPasses.loyalty == result.withoutPasses)
        for text in ["\(result)", String(reflecting: result), "\(event.loyalty.map { "\($0)" } ?? "")"] {
            #expect(!text.contains("MEMBER"))
        }
    }

    @Test("What the customer should do is said in two languages, without a word about payment")
    func words() {
        for action in LoyaltyResult.CustomerAction.allCases {
            let english = action.text(in: nil)
            let german = action.text(in: "de-AT")
            #expect((english == nil) == (action == .nothing) && (german == nil) == (action == .nothing))
            #expect(action == .nothing || english != german)
            #expect(action.text(in: "fi") == english)
            for word in ["pay", "card payment", "zahl", "charge", "amount", "betrag"] {
                #expect(!"\(english ?? "") \(german ?? "")".lowercased().contains(word))
            }
        }
    }

    @Test(
        "The errors of the loyalty flow do not speak of payments",
        arguments: [
            ErrorCode.loyaltyNotConfigured, .loyaltyProgrammeUnknown, .loyaltyTimedOut, .loyaltyUnreadable,
        ])
    func errors(code: ErrorCode) {
        let text = "\(code.texts(in: .english).message) \(code.texts(in: .english).resolution)".lowercased()
        for word in ["pay", "charge", "amount", "purchase"] { #expect(!text.contains(word)) }
        #expect(code.entry.next.isEmpty)
    }
}
