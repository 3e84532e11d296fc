// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ISO8583
import PSPAPI
import PaymentValues
import TestSupport
import Testing

@testable import Switch

/// Codes are those of ISO 8583:1987, field 39.
struct DecisionTests {
    @Test(
        "A6: a replica's unit has descriptors for all that it lets in, and as many connections to its database as it may have"
    )
    func unit() throws {
        let most = try #require(try Checkout.number("LimitNOFILE", ofUnit: "nfc-tap-switch@.service"))
        var settings = SwitchSettings(socket: "/s", database: "", packager: try Packager(.bcd1987))
        settings.connections = 64
        // 8,192 connections of which half are refused, 32 streams, the operators' door and the process's own.
        let needed = SwitchServer.descriptors(settings)
        #expect(needed > 8_192 && needed <= most, "\(needed)")
    }

    private func message(_ fields: [Int: String]) throws -> ISOMessage {
        var message = ISOMessage(try #require(MessageType(210)))
        for (field, text) in fields { message.set(field, text) }
        return message
    }

    private func euro(_ value: Int64) throws -> Money { Money(value: value, currency: try #require(Currency("EUR"))) }

    private func answer(_ outcome: HostOutcome, _ kind: AuthorizationRequest.Kind = .sale) throws -> AuthorizationAnswer
    {
        HostDecision(outcome).answer(
            to: try euro(1_000), kind, reference: "632614000042-1122", token: "ct_x",
            holdUntil: Timestamp(milliseconds: 1_000))
    }

    @Test func `an approval brings its code, what the issuer has for the card, and its names`() throws {
        var message = try message([39: "00", 38: "A1 23 ", 4: "000000001000"])
        message[55] = try Hex.bytes("910A1626250242A730A03030")
        let answer = try answer(.approved(message))
        #expect(answer.outcome == .approved)
        #expect(answer.approvalCode == "A123")
        #expect(answer.issuerData?.authenticationData == "1626250242A730A03030")
        #expect(answer.issuerData?.scripts == nil)
        #expect(answer.pspReference == "632614000042-1122")
        #expect(answer.cardToken == "ct_x")
        #expect(answer.captureBefore == nil && answer.account == nil)
    }

    @Test func `a part is told as a part, and a hold with its figures`() throws {
        let answer = try answer(.partial(try message([39: "10", 4: "000000000400"])), .preauth)
        #expect(answer.outcome == .partial)
        #expect(answer.amountApproved == (try euro(400)))
        #expect(answer.account?.authorised == 400)
        #expect(answer.captureBefore == Timestamp(milliseconds: 1_000))
    }

    @Test func `a part without an amount is no approval`() throws {
        let answer = try answer(.partial(try message([39: "10"])))
        #expect(answer.outcome == .declined && answer.amountApproved == nil)
    }

    @Test func `what was not answered, or not sent, is declined for now`() throws {
        for outcome in [HostOutcome.unknown, .notSent(.notSignedOn)] {
            let answer = try answer(outcome)
            #expect(answer.outcome == .declined)
            #expect(answer.responseCode == "91")
            #expect(answer.action == .tryAgain)
            #expect(answer.approvalCode == nil)
        }
    }

    @Test(
        "A decline says what can be done",
        arguments: [
            ("01", AuthorizationAnswer.Action.callIssuer), ("65", .useContact), ("70", .pinRequired),
            ("1A", .useContact),
            ("91", .tryAgain), ("51", .none), ("43", .none),
        ])
    func action(_ code: String, _ action: AuthorizationAnswer.Action) throws {
        let answer = try answer(.declined(.declined(code)))
        #expect(answer.responseCode == code)
        #expect(answer.action == action)
    }

    @Test func `half of an operation is none`() throws {
        let id = OperationID()
        let account = PaymentFigures(kind: .sale).account(try euro(0).currency)
        let part = HostDecision(.partial(try message([39: "10", 4: "000000000400"])))
        let answer = part.operationAnswer(id, try euro(1_000), reference: nil, account)
        #expect(answer.outcome == .declined)
        #expect(answer.reason == .issuer)
        #expect(answer.amountDone == nil)
    }
}
