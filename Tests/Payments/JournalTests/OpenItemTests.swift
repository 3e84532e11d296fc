// SPDX-License-Identifier: Apache-2.0
import Foundation
import POSAPI
import PSPAPI
import PaymentValues
import Testing
import Transactions

@testable import Journal

@Suite("Open items in the journal")
struct OpenItemTests {
    private let start = Timestamp(milliseconds: 1_000_000)
    private let service = AskedService(serviceName: "a", socket: "/a.sock")

    /// A payment that is being taken back, of a service.
    private func reversing(_ body: (Journal, TransactionID, String) throws -> Void) throws {
        let books = try BookedJournal()
        var new = try books.new(.purchase, 5)
        (new.order, new.service) = ("A-1", service)
        let (journal, id) = (try books.journal, new.id)
        _ = try journal.create(new)
        var change = StateChange(.reversing, at: start)
        change.reversal = ReversalPlan(reason: .timeout, due: start)
        try journal.append(
            [StateChange(.armed), StateChange(.reading), StateChange(.sealed), StateChange(.sent), change], to: id)
        try body(journal, id, books.path)
    }

    private func settled(_ id: TransactionID, _ journal: Journal) throws -> ErrorCode? {
        let settlement = Settlement(.notCharged, at: start, uid: 7, note: "by telephone")
        var change = StateChange(.reversed, at: start)
        change.settlement = settlement
        return try journal.settle(id, change, settlement)
    }

    @Test("An item is open since when it was, whatever its reason becomes, and says what may be charged where")
    func listed() throws {
        try reversing { journal, id, _ in
            let plan = ReversalPlan(reason: .timeout, attempts: 3, due: start)
            try journal.keepOpen(.otherService, for: id, at: start)
            try journal.keepOpen(.neverSeen, [], plan, for: id, at: start.advanced(bySeconds: 60))
            let items = try journal.openItems()
            #expect(items.map(\.reason) == [.neverSeen] && items.map(\.since) == [start])
            #expect(items.first?.service == service && items.first?.order == "A-1" && items.first?.amount.value == 5)
            let record = try journal.record(id)
            #expect(record?.open == .neverSeen && record?.service == service && record?.reversal == plan)
            let extent = try journal.openItemExtent()
            #expect(extent == OpenItemExtent(count: 1, oldest: start))
        }
    }

    @Test("What goes on is no open item any more, and cannot be settled")
    func ended() throws {
        try reversing { journal, id, _ in
            let early = try settled(id, journal)
            #expect(early == .openItemNotOpen)
            try journal.keepOpen(.unacknowledged, for: id)
            try journal.append([StateChange(.reversed)], to: id)
            let (items, late) = (try journal.openItems(), try settled(id, journal))
            #expect(items.isEmpty && late == .openItemEnded)
        }
    }

    @Test("A settlement is kept, counts once, and what contradicts it is written beside it")
    func settled() throws {
        try reversing { journal, id, _ in
            try journal.keepOpen(.unacknowledged, for: id)
            let (first, second) = (try settled(id, journal), try settled(id, journal))
            #expect(first == nil && second == .openItemAlreadySettled)
            try journal.contradict(id, at: start)
            try journal.contradict(id, at: start.advanced(bySeconds: 60))
            let transaction = try journal.record(id)?.transaction
            #expect(transaction?.state == .reversed && transaction?.settlement?.note == "by telephone")
            #expect(transaction?.settlement?.uid == 7 && transaction?.settlement?.contradictedAt == start)
        }
    }
}
