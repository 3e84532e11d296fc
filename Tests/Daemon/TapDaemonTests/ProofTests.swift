// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import POSAPI
import PaymentValues
import ReaderVirtual
import Testing

@testable import TapDaemon

/// Rule R1: what was ever in doubt, or ever approved, ends only on proof from the payment service that was asked.
@Suite("Proof from the payment service", .timeLimit(.minutes(5)))
struct ProofTests {
    private static let approval = #"{"outcome":"approved","approvalCode":"123456","pspReference":"P-1"}"#

    @Test("A1: that an approval was never seen acknowledges no reversal, however often it is said")
    func forgottenApproval() async throws {
        let folder = try TestFolder()
        try await withAdapter(in: folder) { request in
            guard request.path.last == "reversals" else { return .text(200, Self.approval) }
            return request.earlier(.post, "reversals") < 5 ? .text(404, "{}") : .text(200, #"{"status":"done"}"#)
        } _: { adapter in
            try await Shop.open(in: folder) { shop in
                try shop.reader.obey("present visa")
                let id = try await shop.post(purchase(500), wait: 20).transaction().id
                _ = try await shop.post(to: "/v1/transactions/\(id)/reversal", #"{"reason":"customerCancel"}"#)
                _ = try await shop.reach([.reversed], id)
                let reversals = adapter.requests.filter { $0.path.last == "reversals" }
                #expect(reversals.count == 6)
                let body = #"{"amount":{"currency":"EUR","value":500},"pspReference":"P-1","reason":"customerCancel"}"#
                #expect(reversals.allSatisfy { $0.text == body })
            }
        }
    }

    @Test("A1: a page in HTML acknowledges no reversal")
    func page() async throws {
        let folder = try TestFolder()
        try await withAdapter(in: folder) { request in
            guard request.path.last == "reversals" else { return .text(200, Self.approval) }
            return .text(200, request.earlier(.post, "reversals") < 2 ? "<html>Welcome</html>" : #"{"status":"done"}"#)
        } _: { adapter in
            try await Shop.open(in: folder) { shop in
                try shop.reader.obey("present visa")
                let id = try await shop.post(purchase(500), wait: 20).transaction().id
                _ = try await shop.post(to: "/v1/transactions/\(id)/reversal", #"{"reason":"customerCancel"}"#)
                _ = try await shop.reach([.reversed], id)
                #expect(adapter.requests.count { $0.path.last == "reversals" } == 3)
            }
        }
    }

    @Test(
        "A5: a resend that is refused after a doubt is taken back, not declined",
        arguments: [(400, "{}"), (422, "{}"), (200, #"{"outcome":"declined","responseCode":"94"}"#)])
    func refusedResend(status: Int, body: String) async throws {
        let folder = try TestFolder()
        try await withAdapter(in: folder) { request in
            if request.path.last == "reversals" { return .text(200, #"{"status":"done"}"#) }
            guard request.method == .post else { return .text(404, "{}") }
            // The first one is booked, and its answer lost.
            return request.earlier(.post, "authorizations") == 0 ? .text(200, "{") : .text(status, body)
        } _: { adapter in
            try await Shop.open(in: folder, .hasty) { shop in
                try shop.reader.obey("present visa")
                let transaction = try await shop.post(purchase(500), wait: 20).transaction()
                let end = try await shop.reach([.reversed], transaction.id)
                #expect(end.history.map(\.state).suffix(4) == [.sent, .unknown, .reversing, .reversed])
                #expect(end.result?.outcome == .declined)
                #expect(adapter.requests.contains { $0.path.last == "reversals" })
            }
        }
    }

    @Test("A5: that a sale was never seen is no refusal of it: it may be booked, and is asked about")
    func neverSeenSale() async throws {
        let folder = try TestFolder()
        try await withAdapter(in: folder) { request in
            // One behind a proxy books it, and the proxy has forgotten where it sent it.
            request.method == .post ? .text(404, "{}") : .text(200, Self.approval)
        } _: { adapter in
            try await Shop.open(in: folder, .hasty) { shop in
                try shop.reader.obey("present visa")
                let transaction = try await shop.post(purchase(500), wait: 20).transaction()
                #expect(transaction.state == .approved)
                #expect(transaction.history.contains { $0.state == .unknown })
            }
        }
    }

    static let contradictions = [
        #"{"outcome":"approved","amountApproved":{"value":1,"currency":"EUR"}}"#,
        #"{"outcome":"approved","amountApproved":{"value":50000,"currency":"EUR"}}"#,
        #"{"outcome":"approved","amountApproved":{"value":500,"currency":"USD"}}"#,
        #"{"outcome":"approved","amountApproved":{"value":-500,"currency":"EUR"}}"#,
        #"{"outcome":"approved","responseCode":"51"}"#, #"{"outcome":"partial"}"#,
        #"{"outcome":"partial","amountApproved":{"value":500,"currency":"EUR"}}"#,
        #"{"outcome":"partial","amountApproved":{"value":0,"currency":"EUR"}}"#,
    ]

    @Test(
        "A7: an approval that contradicts the demand is none: asked about, then taken back", arguments: contradictions)
    func contradiction(answer: String) async throws {
        let folder = try TestFolder()
        try await withAdapter(in: folder) { request in
            request.path.last == "reversals" ? .text(200, #"{"status":"done"}"#) : .text(200, answer)
        } _: { adapter in
            try await Shop.open(in: folder, .hasty) { shop in
                try shop.reader.obey("present visa")
                let transaction = try await shop.post(purchase(500), wait: 20).transaction()
                let end = try await shop.reach([.reversed], transaction.id)
                #expect(end.history.contains { $0.state == .unknown })
                #expect(!end.history.contains { $0.state == .approved })
                #expect(end.result?.amountApproved == nil)
                #expect(adapter.requests.contains { $0.method == .get }, "it was asked about")
            }
        }
    }

    @Test("A7: a word of a later version in an approval that is otherwise whole changes nothing")
    func unknownWord() async throws {
        let folder = try TestFolder()
        try await withAdapter(in: folder) { _ in
            .text(200, #"{"outcome":"approved","action":"waveGoodbye","colour":"green"}"#)
        } _: { _ in
            try await Shop.open(in: folder, .hasty) { shop in
                try shop.reader.obey("present visa")
                #expect(try await shop.post(purchase(500), wait: 20).transaction().state == .approved)
            }
        }
    }
}
