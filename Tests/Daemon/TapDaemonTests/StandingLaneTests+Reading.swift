// SPDX-License-Identifier: Apache-2.0
import CardSim
import Configuration
import Foundation
import Glibc
import Journal
import LocalHTTP
import POSAPI
import PaymentValues
import ReaderCore
import ReaderVirtual
import TestSupport
import Testing

@testable import TapDaemon

/// Mode `read`: a tap gives its passes, and nothing is paid. No payment service is there in any of these tests.
extension StandingLaneTests {
    private func house(
        in folder: TestFolder, access: Access = .ownerOnly, _ body: (Shop) async throws -> Void
    ) async throws {
        var wish = Shop.Wish()
        var settings = StandingSettings(mode: .read, amount: .none)
        (settings.debounce, settings.tapsPerHour) = (0, 3_600)
        (wish.standing, wish.access) = (settings, access)
        try await Shop.open(in: folder, wish, body)
    }

    private func waits(_ shop: Shop) async throws {
        try await eventually("a lane that waits for a card") {
            let isWaiting = await shop.daemon.runner.books.standing["lane-0"] != nil
            return try isWaiting && shop.reader.obey("state").contains("feedback=ready")
        }
    }

    /// A card comes to a lane that waits, and goes once it was read.
    ///
    /// - Returns: the transaction with its passes, and what was told of it.
    private func read(_ shop: Shop, _ card: String, _ number: Int64) async throws -> (Transaction, Event) {
        try await waits(shop)
        let stream = try await shop.client.events(
            HTTPClientRequest(.get, "/v1/events", fields: ["Last-Event-ID": "0"]), answerWithin: hangLimit)
        try shop.reader.obey("present \(card)")
        for try await next in stream where next.name == EventName.loyaltyResult.rawValue {
            let event = try WireJSON.decode(Event.self, from: Array(next.data.utf8))
            guard event.tap == number else { continue }
            let id = try #require(event.transaction)
            let answer = try await shop.get("/v1/transactions/\(id)?wait=20")
            try shop.reader.obey("remove")
            return (try answer.transaction(), event)
        }
        throw Missing(name: .loyaltyResult)
    }

    @Test(
        "L13: a tap gives its pass to whoever hears of it and asks, under its number, and nothing is paid",
        arguments: ["apple-pass", "google-pass", "member-tag", "member-card"])
    func reading(card: String) async throws {
        try await house(in: try TestFolder()) { shop in
            let (transaction, event) = try await read(shop, card, 1)
            #expect(transaction.state == .completed && transaction.type == .loyalty && transaction.lane == "lane-0")
            let programmes = try #require(transaction.loyalty?.programmes)
            #expect(programmes.contains { $0.status == .delivered && $0.pass?.member?.isEmpty == false })
            #expect(event.loyalty == transaction.loyalty?.withoutPasses && event.lane == "lane-0")
            let second = try await read(shop, card, 2).0
            #expect(second.id != transaction.id && second.state == .completed)
            let lane = try await armed(shop)
            #expect(lane.mode == .read && lane.tap == 2 && lane.amount == nil && lane.maximum == nil && lane.open == [])
            #expect(try await sessions(shop).isEmpty)
            #expect(try shop.journal("SELECT DISTINCT type FROM payment") == "loyalty")
        }
    }

    @Test("L14: a card that pays gives no pass and is charged nothing, and a lane that reads has no sum")
    func readingMoney() async throws {
        try await house(in: try TestFolder()) { shop in
            for (number, card) in ["visa", "random-uid", "apple-no-pass"].enumerated() {
                let (transaction, _) = try await read(shop, card, Int64(number) + 1)
                #expect(transaction.loyalty?.programmes.allSatisfy { $0.pass == nil } == true, "\(card)")
            }
            #expect(try shop.journal("SELECT count(*) FROM state_change WHERE state IN ('sealed', 'sent')") == "0")
            let request = HTTPClientRequest(
                .put, "/v1/lanes/lane-0/standing", fields: ["Content-Type": "application/json"],
                body: Array(#"{"amount":300}"#.utf8))
            let refused = try await shop.send(request)
            #expect(try refused.status == 400 && refused.error().field == "amount")
        }
    }

    @Test("L15: a lane that reads writes nothing while nobody taps")
    func readingRest() async throws {
        try await house(in: try TestFolder()) { shop in
            try await waits(shop)
            await shop.daemon.notes.keepNow()
            let (journal, begun) = (await shop.daemon.runner.journal, ContinuousClock.now)
            let commits = journal.commitCount.commits
            for _ in 0..<8 {
                await shop.daemon.runner.change { $0.standing["lane-0"]?.cancel() }
                try await Task.sleep(for: .milliseconds(200))
            }
            let minutes = begun.duration(to: .now) / .seconds(60)
            #expect(Double(journal.commitCount.commits - commits) <= 1 + minutes)
        }
    }

    /// The model: on a lane that is armed each presentation is the next tap, whatever happened before; on one that is not it is none.
    @Test(
        "L16: cards, switches and restarts at random: each presentation is one tap with the next number",
        arguments: [1, 2])
    func readingAtRandom(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let folder = try TestFolder()
        let cards = ["member-tag", "visa", "member-card", "google-pass", "random-uid", "apple-pass"]
        var (taps, isArmed): (Int64, Bool) = (0, true)
        for _ in 0..<4 {
            var plan = (0..<8).map { _ in
                (Int.random(in: 0..<4, using: &generator), cards.randomElement(using: &generator) ?? "visa")
            }
            try await house(in: folder) { shop in
                while let (step, card) = plan.popLast() {
                    if step == 0 {
                        isArmed.toggle()
                        try await set(shop, #"{"armed":\#(isArmed)}"#)
                    } else if isArmed {
                        taps += 1
                        let (transaction, event) = try await read(shop, card, taps)
                        #expect(event.tap == taps && transaction.state == .completed)
                    } else {
                        try await eventually("a lane that waits for nobody") {
                            await shop.daemon.runner.books.standing["lane-0"] == nil
                        }
                        try shop.reader.obey("present \(card)")
                        #expect(try await armed(shop).tap == taps)
                        try shop.reader.obey("remove")
                    }
                }
                let lane = try await armed(shop)
                #expect(lane.tap == taps && lane.armed == isArmed)
                #expect(try shop.journal("SELECT count(*) FROM payment") == "\(taps)")
                #expect(try shop.journal("SELECT count(*) FROM payment WHERE type <> 'loyalty' OR value <> 0") == "0")
            }
        }
        #expect(taps > 8)
    }

    @Test(
        "L17: what a lane reads by itself is for machines and for programs that read passes; a read that a client began is not",
        .enabled(if: geteuid() == 0, "needs root, to become another user"))
    func readingRights() async throws {
        let folder = try TestFolder()
        let groups: [Role: UInt32] = [.cashier: 20, .loyalty: 30, .monitor: 40, .machine: 50]
        try await house(in: folder, access: Access(groups: groups, owner: 500)) { shop in
            try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: folder.path + "/pos.sock")
            let (transaction, _) = try await read(shop, "google-pass", 1)
            let target = "http://d/v1/transactions/\(transaction.id)"
            let expected = [("20", "200"), ("30", "200"), ("50", "200"), ("40", "403"), ("", "403")]
            for (groups, status) in expected {
                let answer = try await curl(folder, groups: groups, [target])
                #expect(answer.status == status, "\(groups): \(answer.body)")
                #expect(answer.body.contains("MEMBER-0001") == (status == "200"), "\(groups)")
            }
        }
        var wish = Shop.Wish()
        wish.access = Access(groups: groups, owner: 500)
        try await Shop.open(in: try TestFolder(), wish) { shop in
            let socket = shop.folder.path + "/pos.sock"
            try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: socket)
            try shop.reader.obey("present google-pass")
            let id = try await shop.post(#"{"type":"loyalty"}"#, wait: 20).transaction().id
            for groups in ["30", "50"] {
                let answer = try await curl(shop.folder, groups: groups, ["http://d/v1/transactions/\(id)"])
                #expect(answer.status == "403" && answer.body.contains("session.not_owner"), "\(groups)")
            }
        }
    }
}
