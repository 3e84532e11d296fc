// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHTTP
import POSAPI
import PaymentValues
import Testing
import Transactions

@testable import TapDaemon

@Suite("Requests that may begin until a time, and no later", .timeLimit(.minutes(5)))
struct NotAfterTests {
    private func member(_ seconds: Int64) -> String {
        #","notAfter":"\#(Timestamp.now.advanced(bySeconds: seconds))""#
    }

    @Test("N1: a request that comes after its time is refused, arms nothing, and stays refused under its key")
    func late() async throws {
        try await Shop.withSandbox { shop, _ in
            for (index, body) in [
                purchase(500, more: member(-1)), purchase(500, more: #","notAfter":"2001-01-01T00:00:00+02:00""#),
                #"{"type":"refund","amount":{"value":500,"currency":"EUR"}\#(member(-1))}"#,
                #"{"type":"verification","currency":"EUR","reason":"lookUp"\#(member(-1))}"#,
                #"{"type":"loyalty"\#(member(-1))}"#,
            ].enumerated() {
                for _ in 1...2 {
                    let answer = try await shop.post(body, key: "late-\(index)")
                    #expect(answer.status == 409)
                    #expect(try answer.error().code == "request.too_late" && answer.error().field == "notAfter")
                }
                // Whatever the clock says by then.
                let again = try await shop.post(purchase(500), key: "late-\(index)")
                #expect(try again.error().code == "request.too_late")
                let look = try await shop.get("/v1/transactions?key=late-\(index)")
                #expect(try look.error().code == "request.too_late")
            }
            #expect(try shop.journal("SELECT count(*) FROM payment") == "0")
            #expect(await shop.runner.laneStatuses().first?.state == .ready)
            // A dry run says the same, and leaves its key free.
            let trial = try await shop.post(purchase(500, more: member(-1) + #","dryRun":true"#), key: "trial")
            #expect(try trial.error().code == "request.too_late")
            #expect(try await shop.post(purchase(500), key: "trial").status == 201)
        }
    }

    @Test(
        "N1: a time without its zone is refused by name, and so is one where no card is read",
        arguments: [
            (purchase(500, more: #","notAfter":"2026-11-28T20:00:00""#), "request.invalid_field"),
            (purchase(500, more: #","notAfter":1795896000"#), "request.invalid_field"),
            (
                #"{"type":"link","amount":{"value":500,"currency":"EUR"},"notAfter":"2026-11-28T20:00:00Z"}"#,
                "request.field_not_applicable"
            ),
        ])
    func wrong(body: String, code: String) async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder) { shop in
            let answer = try await shop.post(body)
            #expect(try answer.error().code == code && answer.error().field == "notAfter")
        }
    }

    @Test(
        "N1: the wait for a card ends at its time, however long the deadline is, and a repeat is told what became of it"
    )
    func end() async throws {
        try await Shop.withSandbox { shop, _ in
            // However long the way to the daemon is on a busy machine.
            for seconds: Int64 in [1, 2, 4, 8, 16, 32, 64] {
                let until = Timestamp.now.advanced(bySeconds: seconds)
                let body = purchase(500, more: #","deadline":600,"detached":true,"notAfter":"\#(until)""#)
                let answer = try await shop.post(body, key: "k-\(seconds)")
                guard answer.status == 201 else { continue }
                let id = try answer.transaction().id
                let end = try await shop.reach([.failed], id)
                guard end.error?.code == "read.timed_out" else { continue }
                let again = try await shop.post(body, key: "k-\(seconds)")
                #expect(again.status == 201 && again.fields.only("Idempotency-Replayed") == "true")
                #expect(try again.transaction().id == id)
                return
            }
            Issue.record("none of them was armed in time")
        }
    }

    @Test(
        "N1: live, a time says nothing to a machine whose clock nobody believes; test mode goes by the clock as it is")
    func doubt() {
        let now = Timestamp.now
        for (mode, doubt, seconds, code): (Mode, ClockTrust.Doubt?, Int64, String?) in [
            (.live, nil, 5, nil), (.live, nil, 0, "request.too_late"), (.live, .behind, 5, "clock.unbelievable"),
            (.live, .ahead, -5, "clock.unbelievable"), (.test, .behind, 5, nil),
            (.test, .ahead, -5, "request.too_late"),
        ] {
            let refusal = TransactionAdmission.lateness(now.advanced(bySeconds: seconds), at: now, mode, doubt)
            #expect(refusal?.error.code == code && (code == nil || refusal?.error.field == "notAfter"))
            #expect(TransactionAdmission.lateness(nil, at: now, mode, doubt) == nil)
        }
    }
}
