// SPDX-License-Identifier: Apache-2.0
import Foundation
import Journal
import POSAPI
import PaymentValues
import Testing
import Transactions

@Suite("Stored payments in the journal")
struct QueueTests {
    private func open(_ body: (Journal) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "queue-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(try Journal(directory: path))
    }

    private func store(_ journal: Journal, refusing refusal: String? = nil) throws -> TransactionID {
        let id = TransactionID()
        let amount = Money(value: 500, currency: try #require(Currency("EUR")))
        let card = try #require(MaskedCard(scheme: "Visa", last4: "0010", masked: "************0010"))
        _ = try journal.create(
            NewTransaction(
                id: id, owner: Principal(uid: 1), idempotencyKey: id.text, requestHash: "h", type: .purchase,
                mode: .test, lane: "main",
                amount: amount, order: nil, at: .now))
        var sealed = StateChange(.sealed)
        sealed.card = card
        let changes = [StateChange(.armed), StateChange(.reading), sealed, StateChange(.stored)]
        let refused = try journal.store(
            changes, NewQueueRecord(record: "r-\(id)", serviceName: "psp", storedAt: .now), to: id, card: card,
            since: .init(milliseconds: 0)
        ) { _ in refusal }
        #expect(refused == refusal)
        return id
    }

    private func batch(_ id: String = "b", _ count: Int = 1) -> BatchRecord {
        BatchRecord(id: id, serviceName: "psp", count: count, hash: "h", signature: "s", createdAt: .now)
    }

    @Test("The queue is in the order of storing, and counts what the next decision needs")
    func order() throws {
        try open { journal in
            let ids = [try store(journal), try store(journal)]
            let queue = try journal.queue()
            #expect(queue.map(\.transaction.id) == ids)
            let extent = try journal.queueExtent()
            #expect(extent == QueueExtent(count: 2, oldest: queue[0].storedAt))
            let facts = QueueFacts(queue)
            #expect(facts.count == 2 && facts.totals == ["EUR": 1_000] && facts.serviceNames == ["psp"])
            let card = try #require(queue.first?.transaction.card)
            let count = try journal.storedCount(of: card, since: .init(milliseconds: 0))
            #expect(count == 2)
        }
    }

    @Test("What is refused leaves nothing behind")
    func refused() throws {
        try open { journal in
            let id = try store(journal, refusing: "no")
            let state = try journal.record(id)?.transaction.state
            let queue = try journal.queue()
            let extent = try journal.queueExtent()
            #expect(state == .created && queue.isEmpty && extent == QueueExtent(count: 0, oldest: nil))
        }
    }

    @Test("The forwarder's word for a stored payment replaces no other, and opens nothing that has ended")
    func openOnce() throws {
        try open { journal in
            let id = try store(journal)
            let first = try journal.keepOpen(.unanswered, whileQueued: id)
            let second = try journal.keepOpen(.recordAltered, whileQueued: id)
            #expect(first && !second)
            try journal.keepOpen(.refusedAfterDoubt, for: id)
            let third = try journal.keepOpen(.unanswered, whileQueued: id)
            let kept = try journal.record(id)?.open
            #expect(!third && kept == .refusedAfterDoubt)
            try journal.append([StateChange(.sent), StateChange(.approved)], to: id)
            let late = try journal.keepOpen(.unanswered, whileQueued: id)
            let items = try journal.openItems()
            #expect(!late && items.isEmpty)
        }
    }

    @Test("What is being forwarded gets into no batch, and what is in a batch is neither forwarded nor declined")
    func neverBoth() throws {
        try open { journal in
            let ids = [try store(journal), try store(journal)]
            let isTaken = try journal.beginForward(ids[0], StateChange(.sent))
            let mixed = try journal.begin(batch("a", 2), of: ids)
            #expect(isTaken && !mixed)
            let alone = try journal.begin(batch(), of: [ids[1]])
            let second = try journal.begin(batch("c"), of: [])
            #expect(alone && !second)
            let forwarded = try journal.beginForward(ids[1], StateChange(.sent))
            let declined = try journal.declineStored(ids[1], StateChange(.declined)) { _ in true }
            #expect(!forwarded && declined == .inBatch)
            // Not even by the general way.
            #expect(throws: JournalError.self) { try journal.append([StateChange(.sent)], to: ids[1]) }
            let after = try journal.record(ids[1])?.transaction.state
            #expect(after == .stored)
        }
    }

    @Test("A reset batch gives everything back, a resolved one lets it go, and each ends once")
    func ends() throws {
        try open { journal in
            let id = try store(journal)
            _ = try journal.begin(batch("a"), of: [id])
            let resets = [try journal.reset("a", at: .now), try journal.reset("a", at: .now)]
            #expect(resets == [true, false])
            _ = try journal.begin(batch("b"), of: [id])
            let gone = try journal.resolve("b", StateChange(.delivered), receipt: "t")
            let again = try journal.resolve("b", StateChange(.delivered), receipt: "t")
            #expect(gone == [id] && again == nil)
            let state = try journal.record(id)?.transaction.state
            let queue = try journal.queue()
            let record = try journal.queueRecord(id)
            #expect(state == .delivered && queue.isEmpty && record == nil)
        }
    }

    @Test("An answer takes a payment out of the queue in the same write; going back keeps it there")
    func answered() throws {
        try open { journal in
            let id = try store(journal)
            _ = try journal.beginForward(id, StateChange(.sent))
            let waiting = try journal.unfinished()
            #expect(waiting.isEmpty, "the forwarder's, not to be reversed at a start")
            try journal.append([StateChange(.stored)], to: id)
            _ = try journal.beginForward(id, StateChange(.sent))
            let before = try journal.queue().count
            try journal.append([StateChange(.unknown), StateChange(.approved)], to: id)
            let after = try journal.queue().count
            #expect(before == 1 && after == 0)
        }
    }

    @Test("The last contact with the payment service is kept, and replaced by the next")
    func contact() throws {
        try open { journal in
            let none = try journal.lastOnline()
            try journal.noteOnline(at: .init(milliseconds: 1), boot: "a", serviceName: "i")
            try journal.noteOnline(at: .init(milliseconds: 2), boot: "b", serviceName: "j")
            let last = try journal.lastOnline()
            #expect(none == nil && last?.at.milliseconds == 2 && last?.boot == "b" && last?.serviceName == "j")
        }
    }
}
