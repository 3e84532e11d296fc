// SPDX-License-Identifier: Apache-2.0
import Envelope
import LocalHTTP
import PSPAPI
import PaymentValues
import Testing

@testable import PSPSandbox

struct ContractTests {
    private func code(_ answer: HTTPClientAnswer) throws -> String {
        try WireJSON.decode(ErrorBody.self, from: answer.body).error.code
    }

    @Test func `the same key and body get the same answer, another body 422`() async throws {
        var request = try SandboxBench.request(1_200)
        try await SandboxBench.run { bench in
            let first = try await bench.authorize(request)
            let second = try await bench.authorize(request)
            #expect(first.body == second.body)
            #expect(try await bench.ledger().transactions.count == 1)
            request.order = "changed"
            let third = try await bench.authorize(request)
            #expect(third.status == 422)
            #expect(try code(third) == "idempotency.key_reused")
        }
    }

    @Test func `a key counts for its path: a reversal carries the transaction's too`() async throws {
        let request = try SandboxBench.request(1_200)
        try await SandboxBench.run { bench in
            _ = try await bench.answer(to: request)
            #expect(try await bench.reverse(request.id).status == 200)
            #expect(try await bench.reverse(request.id).status == 200)
            let entry = try #require(try await bench.ledger().transactions.first)
            #expect(entry.reversed == 1_200)
            #expect(entry.outstanding == 0)
        }
    }

    @Test func `requests without a key or with broken bodies name what is wrong`() async throws {
        try await SandboxBench.run { bench in
            let noKey = try await bench.post("/v1/authorizations", Array("{}".utf8), key: nil)
            #expect(noKey.status == 400)
            #expect(try code(noKey) == "idempotency.key_missing")
            let long = try await bench.post("/v1/authorizations", [], key: String(repeating: "k", count: 129))
            #expect(try code(long) == "idempotency.key_invalid")
            let broken = try await bench.post("/v1/authorizations", Array("{".utf8), key: "k")
            #expect(try code(broken) == "request.malformed_json")
            let empty = try await bench.post("/v1/authorizations", Array("{}".utf8), key: "k")
            #expect(try code(empty) == "request.missing_field")
            #expect(try await bench.ledger().transactions.isEmpty)
        }
    }

    @Test func `a part is reversed, but never more than was authorised`() async throws {
        let request = try SandboxBench.request(1_200)
        try await SandboxBench.run { bench in
            _ = try await bench.answer(to: request)
            let target = "/v1/authorizations/\(request.id)/reversals"
            func part(_ value: Int64, _ currency: String, key: String) async throws -> HTTPClientAnswer {
                let amount = Money(value: value, currency: try #require(Currency(currency)))
                return try await bench.post(
                    target, WireJSON.encode(ReversalRequest(reason: .customerCancel, amount: amount)), key: key)
            }
            #expect(try await part(200, "EUR", key: "1").status == 200)
            #expect(try await bench.ledger().transactions.first?.outstanding == 1_000)
            #expect(try await bench.ledger().transactions.first?.state == .approved)
            #expect(try code(await part(200, "USD", key: "2")) == "amount.currency_mismatch")
            #expect(try code(await part(-200, "EUR", key: "3")) == "amount.total_not_positive")
            #expect(try code(await part(.max, "EUR", key: "4")) == "amount.too_large")
            #expect(try await part(900_000, "EUR", key: "5").status == 200)
            #expect(try await bench.ledger().transactions.first?.reversed == 1_200)
        }
    }

    @Test func `keys are the public half of the test key`() async throws {
        try await SandboxBench.run { bench in
            let answer = try await bench.get("/v1/keys")
            #expect(try RecipientKeySet(json: answer.body).keys == [.sandboxTest])
            #expect(!String(decoding: answer.body, as: UTF8.self).contains(#""d""#))
        }
        #expect(try TestRecipient.privateKey().publicKey == .sandboxTest)
    }

    @Test func `health, unknown paths and wrong methods`() async throws {
        try await SandboxBench.run { bench in
            let health = try await WireJSON.decode(AdapterHealth.self, from: bench.get("/v1/health").body)
            #expect(health.status == .ok)
            #expect(health.protocolVersions == ["v1"] && health.keyLife == 86_400)
            #expect(
                health.supports == [
                    "sale", "preauth", "refund", "verify", "capture", "multicapture", "overcapture", "adjust", "extend",
                    "release", "refundLinked", "refundReversal", "reconcile", "charge", "tokenDeletion", "pin",
                    "singleTap", "pinFallback", "link", "handover", "receipt",
                ] && health.terminals == SandboxLinks.terminals)
            for path in [
                "/", "/v1", "/v1/profile", "/v1/authorizations/nonsense", "/v1/authorizations/\(TransactionID())/x",
                "/v1/operations/nonsense", "/v1/operations/\(TransactionID())",
            ] {
                #expect(try await bench.get(path).status == 404, "\(path)")
            }
            #expect(try await bench.post("/v1/keys", [], key: "k").status == 405)
            #expect(try await bench.get("/v1/authorizations").status == 405)
            #expect(try await bench.get("/v1/authorizations/\(TransactionID())/reversals").status == 405)
        }
    }
}
