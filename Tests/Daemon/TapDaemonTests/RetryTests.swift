// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import POSAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing
import Transactions

@testable import TapDaemon

@Suite("Cards that cannot be read", .timeLimit(.minutes(5)))
struct RetryTests {
    @Test("Requirement 58: after three failed reads of an order another way to pay is offered")
    func order() async throws {
        try await Shop.withSandbox { shop, _ in
            var errors: [ErrorDetail?] = []
            for _ in 1...4 {
                try shop.reader.obey("present visa")
                try shop.reader.obey("fault garbage at 3")
                errors.append(try await shop.post(purchase(700, order: "A-1"), wait: 20).transaction().error)
                try shop.reader.obey("fault none")
                try shop.reader.obey("remove")
            }
            #expect(errors[0]?.code == "read.card_unreadable")
            #expect(errors[0]?.next?.contains(.retrySameCard) == true)
            #expect(errors[2]?.code == "read.retries_exhausted")
            #expect(errors[2]?.next == [.otherInterface, .otherMethod, .paymentLink])
            #expect(errors[3]?.code == "read.retries_exhausted", "nothing has been read since")
            try shop.reader.obey("present visa")
            #expect(try await shop.post(purchase(700, order: "A-1"), wait: 20).transaction().state == .approved)
        }
    }

    @Test("Requirement 58: the failed reads of one order are no other order's, and a read that works forgets them")
    func counted() async throws {
        try await Shop.open(in: try TestFolder()) { shop in
            func fail(_ order: String?) async throws {
                try shop.reader.obey("present visa")
                try shop.reader.obey("fault garbage at 3")
                _ = try await shop.post(purchase(700, order: order), wait: 20)
                try shop.reader.obey("fault none")
                try shop.reader.obey("remove")
            }
            try await fail("A-1")
            try await fail("A-1")
            #expect(await shop.runner.books.failedReads.count(of: "A-1") == 2)
            try await fail("A-2")
            try await fail(nil)
            #expect(await shop.runner.books.failedReads.count(of: "A-2") == 1)
            #expect(await shop.runner.books.failedReads.count(of: nil) == 0)
            try shop.reader.obey("present visa")
            _ = try await shop.post(purchase(700, order: "A-1"), wait: 20)
            #expect(await shop.runner.books.failedReads.count(of: "A-1") == 0)
        }
    }

    @Test("R4: a phone that wants its holder is told of before its field goes off, for as long as the kernel says")
    func phone() async throws {
        try await Shop.withSandbox { shop, _ in
            try shop.reader.obey("present see-phone")
            let id = try await shop.post(purchase(700, more: #","detached":true"#)).transaction().id
            #expect(try await shop.reach([.approved, .failed], id).state == .approved)
            let events = try #require(try await shop.get("/v1/transactions/\(id)").transaction().events)
            let asked = try #require(events.firstIndex { $0.name == .readRetry && $0.message == .seePhone })
            let again = try #require(events[asked...].first { $0.name == .readCardDetected })
            // M 20 05 13: see phone, for 1.3 seconds.
            #expect(again.at.milliseconds - events[asked].at.milliseconds >= 1_200)
            #expect(events[asked].error == nil && events.count { $0.name == .readRetry } == 1)
        }
    }

    @Test("R1: what takes no commands wins no lane: a card on the other one pays, and the ticket is told of")
    func ticket() async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { _ in
            var wish = Shop.Wish()
            wish.lanes = 2
            wish.groups = ["all": ["lane-0", "lane-1"]]
            try await Shop.open(in: folder, wish) { shop in
                try shop.readers[0].present(Ticket(), named: "ticket")
                let id = try await shop.post(purchase(700, more: #","detached":true,"group":"all""#)).transaction().id
                try await eventually("its holder is told") {
                    let events = try await shop.get("/v1/transactions/\(id)").transaction().events ?? []
                    return events.contains { $0.name == .readRetry && $0.error?.code == "read.card_unsupported" }
                }
                #expect(try await shop.runner.transaction(id)?.state == .armed)
                try shop.readers[1].obey("present visa")
                let paid = try await shop.reach([.approved, .failed], id)
                #expect(paid.state == .approved && paid.lane == "lane-1")
            }
        }
    }

    @Test("Requirement 58: a tap whose card is torn away again and again ends after three times")
    func torn() async throws {
        try await Shop.open(in: try TestFolder()) { shop in
            let id = try await shop.post(purchase(700, more: #","detached":true"#)).transaction().id
            for round in 1...3 {
                _ = try await shop.reach([.armed], id)
                try shop.reader.obey("fault card-gone after 2")
                try shop.reader.obey("present visa")
                let deadline = ContinuousClock.now.advanced(by: hangLimit)
                while ContinuousClock.now < deadline {
                    let known = try await shop.runner.transaction(id)
                    let reads = known?.history.filter { $0.state == .reading }.count
                    if known?.state.isSettled == true || reads == round { break }
                    try await Task.sleep(for: .milliseconds(2))
                }
            }
            #expect(try await shop.reach([.failed, .approved], id).error?.code == "read.retries_exhausted")
            let events = try #require(try await shop.get("/v1/transactions/\(id)").transaction().events)
            #expect(events.count { $0.name == .readRetry } == 2)
            #expect(await shop.runner.laneStatuses().first?.state == .ready)
        }
    }
}

/// Nothing in it takes a command, and it is sent none.
private struct Ticket: VirtualCard {
    let activation = CardActivation(technology: .typeA, uid: [4, 1, 2, 3, 4, 5, 6], sak: 0x00)

    mutating func powerOn() {}

    mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        Issue.record("a command to a ticket")
        return .gone
    }
}
