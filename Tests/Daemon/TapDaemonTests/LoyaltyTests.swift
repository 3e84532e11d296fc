// SPDX-License-Identifier: Apache-2.0
import CardSim
import Foundation
import LocalHTTP
import Loyalty
import POSAPI
import PSPSandbox
import PaymentValues
import ReaderCore
import ReaderVirtual
import TestSupport
import Testing
import Transactions

@testable import TapDaemon

@Suite("Passes, alone and with a payment", .timeLimit(.minutes(5)))
struct LoyaltyTests {
    private func loyalty(_ more: String = "") -> String { #"{"type":"loyalty"\#(more)}"# }

    private func present(_ shop: Shop, _ wallet: String, payment: String? = nil) throws {
        let card = try #require(
            WalletCatalogue.card(named: wallet, payment: payment.flatMap { CardCatalogue.card(named: $0) }))
        try shop.reader.present(card, named: wallet)
    }

    @Test(
        "A pass is read without the adapter, and its number reaches the till but neither journal nor kept events",
        arguments: ["apple-pass", "google-pass", "member-tag"])
    func delivered(wallet: String) async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder) { shop in
            try shop.reader.obey("present \(wallet)")
            let answer = try await shop.post(loyalty(#","order":"A-1""#), wait: 20)
            let transaction = try answer.transaction()
            #expect(transaction.state == .completed, "\(answer.text)")
            #expect(transaction.type == .loyalty && transaction.result == nil && transaction.card == nil)
            #expect(transaction.history.map(\.state) == [.created, .armed, .reading, .completed])
            let club = try #require(transaction.loyalty?.programmes.first { $0.id == "club" })
            #expect(club.status == .delivered && club.displayName == "Test Club")
            #expect(club.pass?.member?.isEmpty == false)
            #expect(transaction.loyalty?.customerAction == .nothing)
            #expect(!answer.text.contains("amount") && !answer.text.lowercased().contains("pay"))
            let again = try await shop.get("/v1/transactions/\(transaction.id)").transaction()
            #expect(again.loyalty == transaction.loyalty)
            let kept = try #require(again.events?.first { $0.name == .loyaltyResult }?.loyalty)
            #expect(kept == transaction.loyalty?.withoutPasses)
            let member = try #require(club.pass?.member)
            for (name, bytes) in try filesOnDisk(in: folder.path + "/state") {
                #expect(bytes.range(of: Data(member.utf8)) == nil, "\(name)")
            }
        }
    }

    static let states: [(String, LoyaltyResult.Status, LoyaltyResult.CustomerAction)] = [
        ("apple-no-pass", .noPass, .nothing), ("apple-version-2", .unsupportedVersion, .askStaff),
        ("google-no-pass", .noPass, .nothing), ("google-wrong-signature", .authenticationFailed, .askStaff),
        ("google-forged", .unreadable, .askStaff), ("random-uid", .noPass, .askStaff),
    ]

    @Test("What the customer should do is said", arguments: states)
    func whatToDo(wallet: String, status: LoyaltyResult.Status, action: LoyaltyResult.CustomerAction) async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder) { shop in
            try shop.reader.obey("present \(wallet)")
            let found = try await shop.post(loyalty(), wait: 20).transaction()
            #expect(found.state == .completed)
            #expect(found.loyalty?.programmes.first { $0.id == "club" }?.status == status)
            #expect(found.loyalty?.customerAction == action)
            #expect((found.loyalty?.customerText == nil) == (action == .nothing))
        }
    }

    @Test("A phone that stays locked is asked to be unlocked until the deadline, in the customer's language")
    func locked() async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder) { shop in
            try shop.reader.obey("present apple-locked")
            let id = try await shop.post(loyalty(#","deadline":4,"language":"de""#), wait: 20).transaction().id
            let found = try await shop.get("/v1/transactions/\(id)").transaction()
            #expect(found.state == .completed)
            #expect(found.loyalty?.customerAction == .unlockPhone)
            #expect(found.loyalty?.customerText?.hasPrefix("Entsperren") == true)
            #expect(found.events?.contains { $0.name == .readRetry && $0.customerAction == .unlockPhone } == true)
        }
    }

    @Test("A read of passes can be cancelled also while a phone is locked")
    func cancelled() async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder) { shop in
            try shop.reader.obey("present apple-locked")
            let connection = try await shop.client.connect()
            let id = try await shop.post(loyalty(), over: connection).transaction().id
            let early = try await shop.reach([.reading, .armed], id)
            #expect(early.state == .reading || early.state == .armed)
            let answer = try await shop.delete("/v1/transactions/\(id)").cancel()
            #expect(answer.outcome == .cancelled)
            #expect(try await shop.reach([.cancelled], id).cancelledBy == .client)
        }
    }

    @Test("Nobody comes: an error without a word about payment")
    func timedOut() async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder) { shop in
            let answer = try await shop.post(loyalty(#","deadline":1"#), wait: 20)
            #expect(try answer.transaction().error?.code == ErrorCode.loyaltyTimedOut.rawValue)
            #expect(!answer.text.lowercased().contains("pay") && !answer.text.contains("otherMethod"))
        }
    }

    @Test("A programme that nobody set up is refused by name")
    func unknown() async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder) { shop in
            let error = try await shop.post(loyalty(#","loyalty":{"programmes":["club","nil"]}"#)).error()
            #expect(error.code == ErrorCode.loyaltyProgrammeUnknown.rawValue && error.field == "loyalty.programmes")
            #expect(try await shop.get("/v1/lanes").text.contains(#""passAutoSelect":false"#))
        }
    }

    /// When the phones in software say that they made their passes.
    static let made: Int64 = 812_345_678 + 978_307_200
    static let clocks: [(Int64, LoyaltyResult.Status)] = [
        (made, .delivered), (made + 300, .delivered), (made + 301, .tooOld), (made - 301, .clockOff),
    ]

    @Test("A pass whose time is too far from ours is reported as too old or the clock as off", arguments: clocks)
    func time(clock: Int64, status: LoyaltyResult.Status) async throws {
        let folder = try TestFolder()
        var wish = Shop.Wish()
        wish.loyalty.maximumClockDifference = 300
        wish.loyalty.clock = { WallClock(unixSeconds: clock, at: monotonicNow()) }
        try await Shop.open(in: folder, wish) { shop in
            try shop.reader.obey("present apple-pass")
            let found = try await shop.post(loyalty(#","loyalty":{"programmes":["club"]}"#), wait: 20).transaction()
            let club = try #require(found.loyalty?.programmes.first)
            #expect(club.status == status)
            #expect(club.pass?.madeAt == Timestamp(milliseconds: Self.made * 1_000))
            #expect(found.loyalty?.customerAction == (status == .delivered ? .nothing : .askStaff))
        }
    }

    @Test("Only the programmes that were asked for are in the answer")
    func chosen() async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder) { shop in
            try shop.reader.obey("present apple-two-passes")
            let wish = loyalty(#","loyalty":{"programmes":["voucher"]}"#)
            let found = try await shop.post(wish, wait: 20).transaction()
            #expect(found.loyalty?.programmes.map(\.id) == ["voucher"])
            #expect(found.loyalty?.programmes.first?.pass?.member == "GIFT-4242")
        }
    }

    struct Case: Sendable {
        let wallet: String?
        let payment: String?
        let stop: Bool
        let state: TransactionState
        let hasPass: Bool
    }

    static let cases = [
        Case(wallet: "apple-pass", payment: "visa", stop: true, state: .completed, hasPass: true),
        Case(wallet: nil, payment: "visa", stop: true, state: .approved, hasPass: false),
        Case(wallet: "apple-pass", payment: "visa", stop: false, state: .approved, hasPass: true),
        Case(wallet: "google-pass", payment: "mastercard", stop: false, state: .approved, hasPass: true),
        Case(wallet: "apple-pass", payment: nil, stop: false, state: .completed, hasPass: true),
        Case(wallet: nil, payment: "mastercard", stop: false, state: .approved, hasPass: false),
    ]

    @Test("Pass and payment in one tap end as stopOnPass says", arguments: cases)
    func combined(each: Case) async throws {
        try await Shop.withSandbox { shop, sandbox in
            if let wallet = each.wallet {
                try present(shop, wallet, payment: each.payment)
            } else {
                try shop.reader.obey("present \(try #require(each.payment))")
            }
            let wish = #","loyalty":{"stopOnPass":\#(each.stop)}"#
            let answer = try await shop.post(purchase(1_250, more: wish), wait: 20)
            let found = try answer.transaction()
            #expect(found.state == each.state, "\(answer.text)")
            #expect((found.loyalty?.programmes.contains { $0.status == .delivered } ?? false) == each.hasPass)
            #expect((found.result != nil) == (each.state == .approved))
            #expect(await sandbox.ledger.transactions.count == (each.state == .approved ? 1 : 0))
        }
    }

    @Test("Passes are forgotten, while the transaction stays known")
    func forgotten() async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder) { shop in
            try shop.reader.obey("present google-pass")
            let id = try await shop.post(loyalty(), wait: 20).transaction().id
            await shop.runner.change { $0.passes.forget(id) }
            let found = try await shop.get("/v1/transactions/\(id)").transaction()
            #expect(found.state == .completed && found.loyalty == nil && found.type == .loyalty)
        }
        #expect(MemoryShelf<KeptPasses>.afterEnd == .seconds(60))
    }

    @Test("A payment of the same order may go on while passes are read for it")
    func order() async throws {
        let folder = try TestFolder()
        var wish = Shop.Wish()
        wish.lanes = 2
        try await Shop.open(in: folder, wish) { shop in
            let connection = try await shop.client.connect()
            try await shop.post(loyalty(#","order":"A-1","lane":"lane-0""#), over: connection)
            let other = try await shop.post(purchase(500, order: "A-1", more: #","lane":"lane-1""#), over: connection)
            #expect(other.status == 201)
        }
    }

    @Test("No event carries a pass, and who has no role for it learns no programme either")
    func events() async throws {
        let hub = EventHub(firstID: 1)
        var pass = LoyaltyResult.Pass(carrier: .tag, isAuthentic: false)
        pass.member = "MEMBER-0001"
        var event = Event(.loyaltyResult, lane: "till-1")
        event.loyalty = LoyaltyResult(
            customerAction: .nothing,
            programmes: [.init(id: "club", displayName: "Club", status: .delivered, pass: pass)])
        let loyalty = hub.subscribe(after: nil, EventSubscriber.View(seesResults: false, seesPasses: true))
        let monitor = hub.subscribe(after: nil, EventSubscriber.View(seesResults: false, seesPasses: false))
        hub.publish(event)
        let late = hub.subscribe(after: 0, EventSubscriber.View(seesResults: true, seesPasses: true))
        hub.finish()
        var texts: [String] = []
        for queue in [loyalty, monitor, late] { texts.append(try await text(queue)) }
        #expect(texts[0].contains("club") && texts[0].contains("delivered"))
        #expect(texts[1].contains("loyalty.result") && !texts[1].contains("club"))
        #expect(texts[2].contains("club"))
        for text in texts { #expect(!text.contains("MEMBER-0001")) }
    }

    private func text(_ queue: EventQueue) async throws -> String {
        let folder = try TestFolder()
        let server = HTTPServer(socket: try ListeningSocket(path: folder.path + "/s"), logger: Shop.quiet) { _ in
            .events(queue)
        }
        async let end: Void = server.run()
        var text = ""
        let events = try await HTTPClient(path: folder.path + "/s").events(
            HTTPClientRequest(.get, "/"), answerWithin: hangLimit)
        for try await event in events { text += event.data }
        server.shutDown(grace: .zero)
        try await end
        return text
    }
}
