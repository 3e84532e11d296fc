// SPDX-License-Identifier: Apache-2.0
import PSPAPI
import PaymentValues
import Testing

/// The adapter's messages, as texts that an adapter in another language reads and writes.
struct AdapterMessageTests {
    static let id = "01890000-0000-7000-8000-000000000003"

    private func read<Message: Decodable>(_ type: Message.Type, _ text: String) throws -> Message {
        try WireJSON.decode(type, from: Array(text.utf8))
    }

    private func text(_ message: some Encodable) throws -> String {
        String(decoding: try WireJSON.encode(message), as: UTF8.self)
    }

    @Test func `an operation's answer is read with all that it may hold`() throws {
        let answer = try read(
            AdapterOperationAnswer.self,
            #"""
            {"id":"\#(Self.id)","outcome":"approved","responseCode":"00","pspReference":"S-7","captureBefore":"2026-11-29T12:00:00Z",
            "amountDone":{"value":13400,"currency":"EUR"},"receiptLines":["A"],"cardToken":"card_a","later":[1],
            "account":{"currency":"EUR","authorised":20000,"captured":13400,"released":6600,"refunded":0,"later":1}}
            """#)
        #expect(answer.id.text == Self.id && answer.outcome == .approved && answer.pspReference == "S-7")
        #expect(answer.amountDone?.value == 13_400 && answer.captureBefore?.description == "2026-11-29T12:00:00.000Z")
        #expect(answer.account?.captured == 13_400 && answer.account?.released == 6_600)
    }

    @Test func `words of later versions do not make an answer unusable`() throws {
        let operation = try read(
            AdapterOperationAnswer.self, #"{"id":"\#(Self.id)","outcome":"declined","reason":"weather"}"#)
        #expect(operation.reason == .other)
        let reversal = try read(ReversalAnswer.self, #"{"status":"done","how":"forgiven"}"#)
        #expect(reversal.how == .other)
        // The careful reading: without the card a refund could go wrong.
        let sale = try read(AuthorizationAnswer.self, #"{"outcome":"approved","refundCard":"fingerprint"}"#)
        #expect(sale.refundCard == .present)
        let health = try read(
            AdapterHealth.self, #"{"status":"ok","protocolVersions":["v1"],"supports":["sale","teleport","capture"]}"#)
        #expect(health.supports(.capture) && !health.supports(.refundLinked))
    }

    @Test(
        "An answer without an id, with an unknown outcome or with a wrong id is no answer",
        arguments: [
            #"{"outcome":"approved"}"#, #"{"id":"7","outcome":"approved"}"#,
            #"{"id":"01890000-0000-7000-8000-000000000003","outcome":"done"}"#,
            #"{"id":"01890000-0000-7000-8000-000000000003"}"#,
        ])
    func broken(_ text: String) {
        #expect(throws: WireError.self) { try read(AdapterOperationAnswer.self, text) }
    }

    @Test func `requests are written as the contract has them`() throws {
        let id = try #require(OperationID(Self.id))
        let refund = try #require(TransactionID(Self.id))
        func euro(_ value: Int64) throws -> Money { Money(value: value, currency: try #require(Currency("EUR"))) }
        #expect(
            try text(
                CaptureRequest(
                    id: id, mode: .test, amount: euro(13_400), tip: euro(1_400), final: true, order: "T-7",
                    pspReference: "S-3"))
                == #"{"amount":{"currency":"EUR","value":13400},"final":true,"id":"\#(Self.id)","mode":"test","order":"T-7","pspReference":"S-3","tip":{"currency":"EUR","value":1400}}"#
        )
        #expect(
            try text(AdjustmentRequest(id: id, mode: .live, total: euro(25_000)))
                == #"{"id":"\#(Self.id)","mode":"live","total":{"currency":"EUR","value":25000}}"#)
        #expect(
            try text(AdjustmentRequest(id: id, mode: .live, extend: true))
                == #"{"extend":true,"id":"\#(Self.id)","mode":"live"}"#)
        #expect(
            try text(ReleaseRequest(id: id, mode: .test, amount: euro(1)))
                == #"{"amount":{"currency":"EUR","value":1},"id":"\#(Self.id)","mode":"test"}"#)
        #expect(
            try text(RefundRequest(id: refund, mode: .test, amount: euro(500), reason: "return"))
                == #"{"amount":{"currency":"EUR","value":500},"card":"none","id":"\#(Self.id)","mode":"test","reason":"return"}"#
        )
    }
}
