// SPDX-License-Identifier: Apache-2.0
import Configuration
import LocalHTTP
import POSAPI
import PSPAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import Testing

@testable import TapDaemon

@Suite("Faults on the way to the payment service", .timeLimit(.minutes(5)))
struct AdapterFaultTests {
    static let tornAnswers: [Int64] = [94, 95, 96, 97]

    @Test("An answer that comes twice, torn, as garbage or late is resolved, and charged once", arguments: tornAnswers)
    func tornAnswer(digits: Int64) async throws {
        try await Shop.withSandbox { shop, sandbox in
            try shop.reader.obey("present visa")
            let transaction = try await shop.post(purchase(1_000 + digits), wait: 20).transaction()
            #expect(transaction.state == .approved)
            #expect(transaction.history.contains { $0.state == .unknown } == (digits == 95 || digits == 96))
            let ledger = await sandbox.ledger
            #expect(ledger.transactions.map(\.outstanding) == [1_000 + digits])
            #expect(ledger.unseen.isEmpty)
        }
    }

    @Test("A payment without an answer in time is declined for the shop and taken back", arguments: [Int64](98...99))
    func reversed(digits: Int64) async throws {
        try await Shop.withSandbox(.hasty) { shop, sandbox in
            try shop.reader.obey("present visa")
            let answer = try await shop.post(purchase(1_000 + digits, order: "B-1"), wait: 20).transaction()
            #expect(answer.state == .reversing || answer.state == .reversed)
            #expect(answer.result?.outcome == .declined && answer.result?.reason == .hostTimeout)
            #expect(answer.error?.code == "psp.no_answer")
            let end = try await shop.reach([.reversed], answer.id)
            #expect(end.result?.reversal == .done)
            #expect(!end.history.contains { $0.state == .approved }, "a late approval is never shown")
            let ledger = await sandbox.ledger
            #expect(ledger.transactions.map(\.outstanding) == [0])
            #expect(ledger.unseen.isEmpty)
        }
    }

    @Test("An adapter that fails with 500 every time leaves nothing charged")
    func serverError() async throws {
        try await Shop.withSandbox(.hasty) { shop, sandbox in
            try shop.reader.obey("present visa")
            let answer = try await shop.post(purchase(1_093), wait: 20).transaction()
            #expect(try await shop.reach([.reversed], answer.id).result?.outcome == .declined)
            #expect(await sandbox.ledger.transactions.allSatisfy { $0.outstanding == 0 })
        }
    }

    @Test("Without an adapter nothing is sent, and the transaction fails at once with what to do")
    func away() async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder) { shop in
            try shop.reader.obey("present visa")
            let transaction = try await shop.post(purchase(500, order: "C-1"), wait: 20).transaction()
            #expect(transaction.state == .failed)
            #expect(transaction.error?.code == "psp.unreachable")
            #expect(transaction.error?.next?.contains(.otherMethod) == true)
            #expect(!transaction.history.contains { $0.state == .sent })
            #expect(try shop.journal("SELECT authorization IS NULL FROM payment") == "1")
        }
    }

    @Test("The lost answer is asked for by query, and what was never seen is sent again under the same key")
    func resent() async throws {
        let folder = try TestFolder()
        try await withAdapter(in: folder) { request in
            switch (request.method, request.path.count) {
            case (.post, 2) where request.earlier(.post) == 0: .text(200, "{")
            case (.post, 2): .text(200, #"{"outcome":"approved","approvalCode":"77"}"#)
            default: .text(404, "{}")
            }
        } _: { adapter in
            try await Shop.open(in: folder) { shop in
                try shop.reader.obey("present visa")
                let transaction = try await shop.post(purchase(500), wait: 20).transaction()
                #expect(transaction.state == .approved && transaction.result?.approvalCode == "77")
                let posts = adapter.requests.filter { $0.method == .post }
                #expect(posts.count == 2)
                #expect(Set(posts.map(\.key)) == [transaction.id.text])
                #expect(Set(posts.map(\.body)).count == 1)
                #expect(adapter.requests.contains { $0.method == .get && $0.path.last == transaction.id.text })
            }
        }
    }

    @Test func `a 421 says that nobody was asked: the payment ends at once, and nothing is taken back`() async throws {
        let folder = try TestFolder()
        try await withAdapter(in: folder) { _ in
            .text(421, #"{"error":{"code":"adapter.no_upstream"}}"#)
        } _: { adapter in
            try await Shop.open(in: folder) { shop in
                try shop.reader.obey("present visa")
                let transaction = try await shop.post(purchase(500), wait: 20).transaction()
                #expect(transaction.state == .declined && transaction.error?.code == "psp.unreachable")
                #expect(adapter.requests.map(\.method) == [.post])
            }
        }
    }

    @Test func `a 421 to what is sent again says nothing of the first time: it is taken back`() async throws {
        let folder = try TestFolder()
        try await withAdapter(in: folder) { request in
            switch (request.method, request.path.last) {
            case (_, "reversals"): .text(200, #"{"status":"done"}"#)
            case (.post, _): request.earlier(.post) == 0 ? .text(200, "{") : .text(421, "{}")
            default: .text(404, "{}")
            }
        } _: { adapter in
            var wish = Shop.Wish()
            wish.times.answer = .milliseconds(600)
            try await Shop.open(in: folder, wish) { shop in
                try shop.reader.obey("present visa")
                let transaction = try await shop.post(purchase(500), wait: 20).transaction()
                _ = try await shop.reach([.reversed], transaction.id)
                #expect(adapter.requests.contains { $0.path.last == "reversals" })
            }
        }
    }

    @Test("A refusal by the adapter ends the payment without a reversal")
    func refused() async throws {
        let folder = try TestFolder()
        try await withAdapter(in: folder) { _ in
            .text(422, "{}")
        } _: { adapter in
            try await Shop.open(in: folder) { shop in
                try shop.reader.obey("present visa")
                let transaction = try await shop.post(purchase(500), wait: 20).transaction()
                #expect(transaction.state == .declined && transaction.error?.code == "psp.refused")
                #expect(!adapter.requests.contains { $0.path.last == "reversals" })
            }
        }
    }

    @Test("A reversal is tried by its schedule until it is acknowledged, and the order stays blocked until then")
    func schedule() async throws {
        let folder = try TestFolder()
        try await withAdapter(in: folder) { request in
            guard request.path.last == "reversals" else { return .text(503, "") }
            return request.earlier(.post, "reversals") < 3 ? .text(500, "") : .text(202, #"{"status":"queued"}"#)
        } _: { adapter in
            try await Shop.open(in: folder, .hasty) { shop in
                try shop.reader.obey("present visa")
                let transaction = try await shop.post(purchase(500, order: "D-1"), wait: 20).transaction()
                if transaction.state == .reversing {
                    let blocked = try await shop.post(purchase(500, order: "D-1"))
                    if blocked.status != 201 {
                        #expect(try blocked.error().code == "order.unresolved")
                        #expect(try blocked.error().transaction == transaction.id)
                    }
                }
                _ = try await shop.reach([.reversed], transaction.id)
                let reversals = adapter.requests.filter { $0.path.last == "reversals" }
                #expect(reversals.count == 4)
                #expect(Set(reversals.map(\.key)) == [transaction.id.text])
                let body = #"{"amount":{"currency":"EUR","value":500},"reason":"timeout"}"#
                #expect(reversals.allSatisfy { $0.text == body })
            }
        }
    }

    @Test("A cancel after sending answers that it is too late, and takes the approval back")
    func cancelAfterSending() async throws {
        try await Shop.withSandbox { shop, sandbox in
            try shop.reader.obey("present visa")
            let connection = try await shop.client.connect()
            let id = try await shop.post(purchase(1_097), over: connection).transaction().id
            _ = try await shop.reach([.sent], id)
            let answer = try await shop.delete("/v1/transactions/\(id)").cancel()
            #expect(answer.outcome == .tooLate && answer.becomesReversal == true)
            let end = try await shop.reach([.reversed], id)
            #expect(end.result?.reason == .cancelledAfterSending)
            #expect(await sandbox.ledger.transactions.map(\.outstanding) == [0])
        }
    }

    @Test("Acceptance test 4 (requirement 21): the adapter has the read before the reader or any event says so")
    func order() async throws {
        let folder = try TestFolder()
        try await withAdapter(in: folder) { request in
            .text(200, #"{"outcome":"approved"}"#)
        } _: { adapter in
            try await Shop.open(in: folder) { shop in
                try shop.reader.obey("present visa")
                let transaction = try await shop.post(purchase(500), wait: 20).transaction()
                let received = try #require(adapter.requests.first { $0.method == .post }?.at)
                let events = shop.runner.events.kept(about: transaction.id)
                let completed = try #require(events.first { $0.name == .readCompleted })
                let remove = try #require(events.first { $0.name == .readRemoveCard })
                #expect(received <= completed.at && received <= remove.at)
            }
        }
    }
}
