// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import POSAPI
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing
import Transactions

@testable import TapDaemon

@Suite("The adapter's connection, opened while the card is read", .timeLimit(.minutes(5)))
struct EarlyConnectionTests {
    private static let approval = HTTPResponse.text(200, #"{"outcome":"approved","approvalCode":"77"}"#)

    private func link(_ folder: TestFolder) -> AdapterLink {
        AdapterLink(path: folder.path + "/psp.sock", times: Shop.Wish().times)
    }

    private func wait(until condition: () -> Bool) async throws { try await eventually("the connections", condition) }

    @Test("What was opened is what is used, and it is closed with its owner")
    func opened() async throws {
        let folder = try TestFolder()
        let count = ConnectionCount()
        try await withAdapter(in: folder, connections: count) { _ in
            Self.approval
        } _: { _ in
            var early: EarlyConnection? = EarlyConnection(link(folder))
            early?.open()
            early?.open()
            try await wait { count.count == 1 }
            var first = try await early?.take()
            let isSame = first === (try await early?.take())
            #expect(isSame)
            #expect(count.count == 1)
            early = nil
            #expect(first?.isOpen == true)
            first = nil
            try await wait { count.count == 0 }
        }
    }

    @Test("Nobody who never used it is left with an open connection")
    func unused() async throws {
        let folder = try TestFolder()
        let count = ConnectionCount()
        try await withAdapter(in: folder, connections: count) { _ in
            Self.approval
        } _: { _ in
            do {
                let early = EarlyConnection(link(folder))
                early.open()
                try await wait { count.count == 1 }
                withExtendedLifetime(early) {}
            }
            try await wait { count.count == 0 }
            // Given up in the middle of opening.
            for _ in 0..<50 { EarlyConnection(link(folder)).open() }
            // Those that were opened nevertheless have arrived by then.
            try await Task.sleep(for: .milliseconds(200))
            try await wait { count.count == 0 }
        }
    }

    @Test("Closed by the adapter meanwhile, or too old, it is replaced by a new one")
    func replaced() async throws {
        let folder = try TestFolder()
        var limits = HTTPLimits()
        limits.idleTime = .milliseconds(20)
        try await withAdapter(in: folder, limits: limits) { _ in
            Self.approval
        } _: { _ in
            let early = EarlyConnection(link(folder))
            early.open()
            let first = try await early.take()
            try await wait { !first.isOpen }
            let second = try await early.take()
            #expect(second !== first)
            // The card is presented once more.
            early.open()
            let third = try await early.take()
            #expect(third !== first && third !== second)
            let brief = EarlyConnection(link(folder), life: .zero)
            brief.open()
            let old = try await brief.take()
            try await Task.sleep(for: .milliseconds(1))
            let new = try await brief.take()
            #expect(new !== old)
        }
    }

    @Test("Without an adapter there is none; once it is there, it is found although it was not when the card came")
    func away() async throws {
        let folder = try TestFolder()
        let early = EarlyConnection(link(folder))
        early.open()
        await #expect(throws: AdapterUnreachable.self) { try await early.take() }
        try await withAdapter(in: folder) { _ in
            Self.approval
        } _: { _ in
            let connection = try await early.take()
            #expect(connection.isOpen)
        }
    }

    @Test("What was not sent for want of a connection is known never to have been seen; what was sent is not")
    func neverSent() async throws {
        let folder = try TestFolder()
        try await withAdapter(in: folder) { _ in
            .text(503, "")
        } _: { adapter in
            let link = link(folder)
            let message = HTTPClientRequest(.post, "/v1/authorizations", body: Array("{}".utf8))
            let closed = try await link.connect()
            await closed.close()
            #expect(await link.reply(to: link.begin(message, over: closed, within: hangLimit)) == .neverSeen)
            #expect(adapter.requests.isEmpty)
            let open = try await link.connect()
            #expect(await link.reply(to: link.begin(message, over: open, within: hangLimit)) == .unusable)
            #expect(adapter.requests.count == 1)
        }
    }

    /// A shop with an adapter that approves what is sent, and knows nothing that is asked for; its connections are counted.
    private func withShop(
        _ limits: HTTPLimits = HTTPLimits(), _ body: (Shop, ScriptedAdapter, ConnectionCount) async throws -> Void
    ) async throws {
        let folder = try TestFolder()
        let count = ConnectionCount()
        try await withAdapter(in: folder, limits: limits, connections: count) {
            $0.method == .post ? Self.approval : .text(404, "{}")
        } _: { adapter in
            try await Shop.open(in: folder) { try await body($0, adapter, count) }
        }
    }

    @Test("It stands while the card is still being read")
    func whileReading() async throws {
        try await withShop { shop, adapter, count in
            // The card is read for so long that nobody comes too late to see it.
            try shop.reader.obey("delay 2000")
            try shop.reader.obey("present visa")
            let id = try await shop.post(purchase(500)).transaction().id
            _ = try await shop.reach([.reading], id)
            try await wait { count.count == 1 }
            #expect(try await shop.runner.transaction(id)?.state == .reading)
            #expect(adapter.requests.isEmpty)
            try shop.reader.obey("delay 0")
            #expect(try await shop.reach([.approved], id).result?.approvalCode == "77")
            #expect(adapter.requests.count == 1)
        }
    }

    /// Just before, while and after the payment is sent.
    @Test("An adapter that closes silent connections gets each payment under one key", arguments: [15, 30, 45])
    func impatientAdapter(milliseconds: Int) async throws {
        var limits = HTTPLimits()
        limits.idleTime = .milliseconds(milliseconds)
        try await withShop(limits) { shop, adapter, _ in
            try shop.reader.obey("delay 10")
            var asked: Set<String?> = []
            for _ in 1...5 {
                try shop.reader.obey("present visa")
                let transaction = try await shop.post(purchase(500), wait: 20).transaction()
                asked.insert(transaction.id.text)
                let seen = Set(adapter.requests.filter { $0.path.last == "authorizations" }.map(\.key))
                #expect(seen.isSubset(of: asked))
                // A machine so busy that it never sends within that time gives up, and takes back what it may have sent.
                let isPaid = transaction.state == .approved && seen.contains(transaction.id.text)
                #expect(isPaid || [.unknown, .reversing, .reversed].contains(transaction.state))
                try shop.reader.obey("remove")
            }
        }
    }

    @Test("A card that comes to nothing leaves no connection behind")
    func nothingRead() async throws {
        try await withShop { shop, adapter, count in
            try shop.reader.obey("delay 2000")
            try shop.reader.obey("present visa")
            let id = try await shop.post(purchase(500)).transaction().id
            _ = try await shop.reach([.reading], id)
            try await wait { count.count == 1 }
            try shop.reader.obey("remove")
            _ = try await shop.delete("/v1/transactions/\(id)")
            _ = try await shop.reach([.cancelled, .failed], id)
            try await wait { count.count == 0 }
            #expect(adapter.requests.isEmpty)
        }
    }
}
