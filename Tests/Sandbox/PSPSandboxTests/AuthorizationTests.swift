// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Envelope
import LocalHTTP
import PSPAPI
import PaymentValues
import Testing

@testable import PSPSandbox

struct AuthorizationTests {
    @Test(arguments: ["visa", "mastercard"])
    func `a tapped test card is approved after its cryptogram was verified`(card: String) async throws {
        let request = try SandboxBench.request(1_250, card: card)
        try await SandboxBench.run { bench in
            let answer = try await bench.answer(to: request)
            #expect(answer.outcome == .approved)
            #expect(answer.responseCode == "00")
            #expect(answer.approvalCode?.utf8.count == 6)
            #expect(answer.pspReference == "SANDBOX-1")
            let entry = try #require(try await bench.ledger().transactions.first)
            #expect(entry.cryptogram == "verified")
            #expect(entry.state == .approved)
            #expect(entry.authorised == 1_250)
            #expect(entry.answered)
        }
    }

    @Test(
        arguments: [
            (1_001, .declined, "01", .callIssuer), (1_005, .declined, "05", AuthorizationAnswer.Action.none),
            (1_008, .approved, "08", nil), (1_012, .declined, "12", AuthorizationAnswer.Action.none),
            (1_051, .declined, "51", AuthorizationAnswer.Action.none),
            (1_061, .declined, "61", AuthorizationAnswer.Action.none),
            (1_065, .declined, "65", .useContact), (1_070, .declined, "70", .pinRequired),
            (1_078, .declined, "1A", .useContact), (1_091, .declined, "91", .tryAgain), (1_000, .approved, "00", nil),
            (1_033, .approved, "00", nil), (50, .approved, "00", nil),
        ] as [(Int64, AuthorizationAnswer.Outcome, String, AuthorizationAnswer.Action?)])
    func `the last two digits of the amount choose the answer`(
        amount: Int64, outcome: AuthorizationAnswer.Outcome, code: String, action: AuthorizationAnswer.Action?
    ) async throws {
        let request = try SandboxBench.request(amount)
        try await SandboxBench.run { bench in
            let answer = try await bench.answer(to: request)
            #expect(answer.outcome == outcome)
            #expect(answer.responseCode == code)
            #expect(answer.action == action)
            #expect((answer.approvalCode != nil) == (outcome == .approved))
            #expect((answer.receiptURL != nil) == (outcome == .approved))
        }
    }

    @Test func `the amount table is complete`() {
        let declined = (0..<100).filter { digits in
            if case .decline = AmountRule(minorUnits: Int64(500 + digits)) { true } else { false }
        }
        #expect(declined == [1, 5, 12, 14, 41, 43, 51, 54, 55, 57, 61, 65, 70, 78, 91])
        let faults = (0..<100).filter { digits in
            if case .fault = AmountRule(minorUnits: Int64(digits)) { true } else { false }
        }
        #expect(faults == Array(93...99))
        #expect(AmountRule(minorUnits: .min) == AmountRule(minorUnits: 8))
    }

    @Test func `10 is approved for half`() async throws {
        let request = try SandboxBench.request(1_110)
        try await SandboxBench.run { bench in
            let answer = try await bench.answer(to: request)
            #expect(answer.outcome == .partial)
            #expect(answer.amountApproved?.value == 555)
            #expect(try await bench.ledger().transactions.first?.authorised == 555)
        }
    }

    @Test func `one altered byte of the record's data makes the cryptogram wrong`() async throws {
        let request = try SandboxBench.request(1_200)
        let opened = try OpenedRecord(JWE.open(request.envelope, with: TestRecipient.privateKey()))
        #expect(TestIssuer.verify(opened.objects) == .verified)
        for tag in [0x9F02, 0x9F37, 0x9F36, 0x9F26] as [CardBytes.Tag] {
            let altered = opened.objects.map { object in
                object.0 == tag ? (tag, object.1.dropLast() + [~(object.1.last ?? 0)]) : object
            }
            #expect(TestIssuer.verify(altered) == .wrongCryptogram, "\(tag)")
        }
    }

    @Test func `a wrong cryptogram is declined with 82, a bad check digit with 14`() async throws {
        let request = try SandboxBench.request(1_200)
        let json = try Plaintext(request.envelope)
        let cases = [
            (json.replacing("9F2608", with: "9F2508"), "82", "wrongCryptogram"),
            (json.replacing("9F3704", with: "9F2504"), "30", "incompleteData"),
            (json.replacing("4761739001010010\"", with: "4761739001020010\""), "14", "invalidNumber"),
        ]
        for (plaintext, code, check) in cases {
            let altered = try request.with(envelope: plaintext.sealed())
            try await SandboxBench.run { bench in
                let answer = try await bench.answer(to: altered)
                #expect(answer.responseCode == code)
                #expect(try await bench.ledger().transactions.first?.failedCheck == check)
            }
        }
    }

    @Test func `what does not fit the envelope is declined with its own code`() async throws {
        let good = try SandboxBench.request(1_200)
        let other = try SandboxBench.request(1_300)
        var cases: [(AuthorizationRequest, String, String)] = []
        var request = good
        request.envelope = String(good.envelope.dropLast(4)) + (good.envelope.hasSuffix("AAAA") ? "QQQQ" : "AAAA")
        cases.append((request, "30", "unreadable"))
        request = good
        request.id = TransactionID()
        cases.append((request, "30", "mismatch"))
        request = good
        request.amount.value = 1_300
        cases.append((request, "30", "mismatch"))
        request = good
        request.card = try #require(MaskedCard(scheme: "Visa", last4: "0011", masked: "************0011"))
        cases.append((request, "30", "mismatch"))
        request = good
        request.envelope = other.envelope
        cases.append((request, "30", "mismatch"))
        try await SandboxBench.run { bench in
            for (request, code, check) in cases {
                // Each under an id of its own ledger: the same id with another body would be refused.
                try await SandboxBench.run { bench in
                    let answer = try await bench.answer(to: request)
                    #expect(answer.outcome == .declined)
                    #expect(answer.responseCode == code)
                    #expect(try await bench.ledger().transactions.first?.failedCheck == check)
                }
            }
            #expect(try await bench.ledger().transactions.isEmpty)
        }
    }

    @Test func `a record is taken once, and only in its five minutes`() async throws {
        let now = Timestamp.now
        let request = try SandboxBench.request(1_200, now: now)
        try await SandboxBench.run(now: { now.advanced(bySeconds: 299) }) { bench in
            #expect(try await bench.answer(to: request).outcome == .approved)
            // The same envelope under another key and body.
            var again = request
            again.order = "second"
            let body = try WireJSON.encode(again)
            let answer = try await bench.post("/v1/authorizations", body, key: "another-key")
            #expect(try WireJSON.decode(AuthorizationAnswer.self, from: answer.body).responseCode == "94")
        }
        try await SandboxBench.run(now: { now.advanced(bySeconds: 300) }) { bench in
            let answer = try await bench.answer(to: request)
            #expect(answer.responseCode == "68")
        }
    }

    @Test func `an expired card is declined`() async throws {
        let later = Timestamp.now.advanced(bySeconds: 40 * 366 * 86_400)
        let request = try SandboxBench.request(1_200, now: later)
        try await SandboxBench.run(now: { later }) { bench in
            let answer = try await bench.answer(to: request)
            #expect(answer.responseCode == "54")
        }
    }

    @Test func `no answer and no book shows a card number`() async throws {
        let request = try SandboxBench.request(1_200)
        try await SandboxBench.run { bench in
            let answer = try await bench.authorize(request)
            let ledger = try await bench.get("/debug/ledger")
            for body in [answer.body, ledger.body] {
                #expect(!String(decoding: body, as: UTF8.self).contains("476173"))
            }
        }
    }
}

extension AuthorizationRequest {
    fileprivate func with(envelope: String) -> AuthorizationRequest {
        var copy = self
        copy.envelope = envelope
        return copy
    }
}
