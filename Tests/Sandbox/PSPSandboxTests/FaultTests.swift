// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import PSPAPI
import PaymentValues
import Testing

@testable import PSPSandbox

/// The amounts that do not get a proper answer: what a daemon sees, and what the books say.
struct FaultTests {
    @Test func `93 is an HTTP 500, nothing is authorised, and the same key may be sent again`() async throws {
        let request = try SandboxBench.request(1_093)
        try await SandboxBench.run { bench in
            let first = try await bench.authorize(request)
            let second = try await bench.authorize(request)
            #expect([first.status, second.status] == [500, 500])
            #expect(try await bench.ledger().transactions.isEmpty)
            #expect(try await bench.get("/v1/authorizations/\(request.id)").status == 404)
            #expect(try await bench.reverse(request.id).status == 200)
        }
    }

    @Test func `94 answers twice; the first answer counts`() async throws {
        let request = try SandboxBench.request(1_094)
        try await SandboxBench.run { bench in
            do {
                let answer = try await bench.answer(to: request)
                #expect(answer.outcome == .approved)
            } catch let error as HTTPClientError {
                #expect(error == .badAnswer(.malformed))
            }
            #expect(try await bench.ledger().transactions.first?.authorised == 1_094)
        }
    }

    @Test func `95 closes in the middle of the answer; a query tells that it was approved`() async throws {
        let request = try SandboxBench.request(1_095)
        try await SandboxBench.run { bench in
            await #expect(throws: HTTPClientError.badAnswer(.truncated)) { try await bench.authorize(request) }
            #expect(try await bench.ledger().unseen == [request.id])
            let status = try await bench.get("/v1/authorizations/\(request.id)")
            #expect(try WireJSON.decode(AuthorizationAnswer.self, from: status.body).outcome == .approved)
            #expect(try await bench.ledger().unseen.isEmpty)
        }
    }

    @Test func `96 is no JSON and no UTF-8`() async throws {
        let request = try SandboxBench.request(1_096)
        try await SandboxBench.run { bench in
            let answer = try await bench.authorize(request)
            #expect(answer.status == 200)
            #expect(throws: WireError.self) { try WireJSON.decode(AuthorizationAnswer.self, from: answer.body) }
            #expect(try await bench.ledger().unseen == [request.id])
        }
    }

    @Test func `97 answers after its time`() async throws {
        let request = try SandboxBench.request(1_097)
        try await SandboxBench.run { bench in
            let answer = try await bench.answer(to: request)
            #expect(answer.outcome == .approved)
            #expect(try await bench.ledger().transactions.first?.answered == true)
        }
    }

    @Test func `97 is pending until then, and the same request is refused meanwhile`() async throws {
        let request = try SandboxBench.request(1_097)
        try await SandboxBench.run(timing: SandboxTiming(slow: .seconds(600), late: .seconds(600))) { bench in
            try await bench.authorizeInVain(request)
            let status = try await bench.get("/v1/authorizations/\(request.id)")
            #expect(try WireJSON.decode(AuthorizationAnswer.self, from: status.body).outcome == .pending)
            #expect(try await bench.authorize(request).status == 409)
        }
    }

    @Test func `98 never answers and stays pending; the reversal settles the books`() async throws {
        let request = try SandboxBench.request(1_098)
        try await SandboxBench.run { bench in
            try await bench.authorizeInVain(request)
            let status = try await bench.get("/v1/authorizations/\(request.id)")
            #expect(try WireJSON.decode(AuthorizationAnswer.self, from: status.body).outcome == .pending)
            #expect(try await bench.ledger().unseen == [request.id])
            #expect(try await bench.reverse(request.id).status == 200)
            let ledger = try await bench.ledger()
            #expect(ledger.unseen.isEmpty)
            #expect(ledger.transactions.first?.state == .reversed)
            #expect(ledger.transactions.first?.reversed == 1_098)
        }
    }

    @Test func `99 answers when nobody waits any more: it is unseen until it is reversed`() async throws {
        let request = try SandboxBench.request(1_099)
        try await SandboxBench.run(timing: SandboxTiming(late: .seconds(2))) { bench in
            try await bench.authorizeInVain(request)
            // Sent again with the same key it is still running, and once it is not, gives the late approval.
            var answer = try await bench.authorize(request)
            while answer.status == 409 { answer = try await bench.authorize(request) }
            #expect(try WireJSON.decode(AuthorizationAnswer.self, from: answer.body).outcome == .approved)
            _ = try await bench.reverse(request.id)
            #expect(try await bench.ledger().transactions.first?.outstanding == 0)
        }
    }
}
