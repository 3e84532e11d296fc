// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import TestSupport
import Testing

@testable import Gateway

@Suite("Row 24 of the guidance: a customer's address for the receipt, typed at the display")
struct DisplayReceiptTests {
    private static let sales = (0..<3).compactMap { TransactionID("01a2037f-7168-7d2c-9e61-5263e834c58\($0)") }

    private static func event(_ name: EventName, of id: TransactionID) -> Event {
        var event = Event(id: 1, name, at: DoorTests.now, lane: "main")
        (event.transaction, event.mode) = (id, .live)
        if name == .paymentApproved { event.result = PaymentResult(mode: .live, outcome: .approved) }
        if name == .paymentDeclined { event.result = PaymentResult(mode: .live, outcome: .declined) }
        return event
    }

    private func approved(_ id: TransactionID) -> Shown {
        let display = Shown()
        for name in [EventName.readReadyForTap, .paymentApproved] {
            _ = display.happened(Self.event(name, of: id), at: 0)
        }
        return display
    }

    @Test func `the word is for one receipt of the sale that is shown, and nobody asks while somebody does`() throws {
        let id = try #require(Self.sales.first)
        let display = approved(id)
        #expect(display.offer(word: "w", of: id, "bar-1", at: 0) && display.view.receiptWord == "w")
        #expect(!display.offer(word: "v", of: id, "bar-1", at: 0), "a sale has one word")
        #expect(display.ask(by: "v") == nil && display.ask(by: "") == nil)
        let asked = try #require(display.ask(by: "w"))
        #expect(asked.id == id && asked.owner == "bar-1")
        #expect(display.ask(by: "w") == nil, "a second press while the first is on its way")
        #expect(!display.answered("w", isTaken: false) && display.ask(by: "w") != nil, "it may be tried again")
        #expect(display.answered("w", isTaken: true) && display.view.receiptWord == nil)
        #expect(display.ask(by: "w") == nil && !display.answered("w", isTaken: true))
        #expect(!display.offer(word: "x", of: id, "bar-1", at: 0), "a sale has one receipt by this way")
    }

    @Test func `after three addresses that were refused there is no fourth`() throws {
        let id = try #require(Self.sales.first)
        let display = approved(id)
        _ = display.offer(word: "w", of: id, "bar-1", at: 0)
        for left in [2, 1, 0] {
            #expect(display.ask(by: "w") != nil)
            #expect(display.answered("w", isTaken: false) == (left == 0))
        }
        #expect(display.view.receiptWord == nil && display.ask(by: "w") == nil)
    }

    @Test func `what is no approval, and another sale, is offered nothing`() throws {
        let id = try #require(Self.sales.first)
        var display = approved(id)
        #expect(!display.offer(word: "w", of: Self.sales[1], "bar-1", at: 0))
        for name in [EventName.paymentDeclined, .paymentReversed, .paymentUnknown, .readCancelled] {
            display = approved(id)
            _ = display.happened(Self.event(name, of: id), at: 0)
            #expect(!display.offer(word: "w", of: id, "bar-1", at: 0) && display.view.receiptWord == nil, "\(name)")
        }
    }

    @Test func `an offered receipt stays for two minutes, which an address needs`() throws {
        let id = try #require(Self.sales.first)
        let display = approved(id)
        _ = display.offer(word: "w", of: id, "bar-1", at: 10)
        #expect(!display.tick(at: LaneDisplay.resultTime + 10) && display.view.receiptWord == "w")
        #expect(display.tick(at: LaneDisplay.receiptTime + 10) && display.view.phase == .idle)
        #expect(display.ask(by: "w") == nil)
    }

    /// Displays, tills and the daemon in any order: a word that works is always that of the sale that is shown, and each works once.
    @Test(arguments: UInt64(0)..<40) func `no word opens another sale's receipt, whatever comes in whatever order`(
        seed: UInt64
    ) {
        var generator = SeededGenerator(seed: seed)
        let display = Shown()
        /// Which sale a word was given for; what was sent.
        var given: [String: TransactionID] = [:]
        var sent: Set<String> = []
        var onItsWay: Set<String> = []
        for step in 0..<200 {
            let now = Int64(step) * 900
            guard let id = Self.sales.randomElement(using: &generator) else { return }
            switch Int.random(in: 0..<6, using: &generator) {
            case 0, 1:
                let names = [
                    EventName.readReadyForTap, .paymentApproved, .paymentApproved, .readCancelled, .paymentReversed,
                ]
                _ = display.happened(
                    Self.event(names.randomElement(using: &generator) ?? .paymentApproved, of: id), at: now)
            case 2:
                let word = "w\(step)"
                if display.offer(word: word, of: id, "bar-1", at: now) { given[word] = id }
            case 3:
                guard let word = given.keys.sorted().randomElement(using: &generator) else { continue }
                guard let asked = display.ask(by: word) else { continue }
                #expect(asked.id == given[word] && asked.id == display.transaction && display.view.receiptWord == word)
                #expect(!sent.contains(word) && onItsWay.insert(word).inserted)
            case 4:
                guard let word = onItsWay.sorted().randomElement(using: &generator) else { continue }
                let isTaken = Bool.random(using: &generator)
                if isTaken { sent.insert(word) }
                onItsWay.remove(word)
                _ = display.answered(word, isTaken: isTaken)
            default: _ = display.tick(at: now)
            }
            if let word = display.view.receiptWord {
                #expect(given[word] == display.transaction && !sent.contains(word))
                #expect(display.view.phase == .approved || display.view.phase == .partial)
            }
        }
    }

    @Test func `what is no wish is refused by the name of the member`() throws {
        let wrong = [
            (#"{"to":{"email":"a@b.example"}}"#, "word"), (#"{"word":"w"}"#, "to"),
            (#"{"word":"w","to":{}}"#, "to.email"),
            (#"{"word":"w","to":{"email":"a@"}}"#, "to.email"), (#"{"word":"w","to":{"phone":"0151"}}"#, "to.phone"),
            (#"{"word":"w","to":{"email":"a@b.example"},"id":1}"#, "id"),
            (#"{"word":1,"to":{"phone":"+4915112345678"}}"#, "word"),
        ]
        for (text, field) in wrong {
            let failure = #expect(throws: WireError.self) {
                try WireJSON.decode(DisplayReceipt.self, from: Array(text.utf8))
            }
            #expect(failure?.field == field, "\(text)")
        }
        let wish = try WireJSON.decode(
            DisplayReceipt.self, from: Array(#"{"word":"w","to":{"phone":"+4915112345678"}}"#.utf8))
        #expect(!"\(wish)".contains("4915") && String(reflecting: wish).contains("4915") == false)
    }
}

/// A display that an expectation may change.
private final class Shown {
    private var display = LaneDisplay(lane: "main")

    var view: CustomerView { display.view }
    var transaction: TransactionID? { display.transaction }

    func happened(_ event: Event, at now: Int64) -> Bool { display.happened(event, at: now) }
    func tick(at now: Int64) -> Bool { display.tick(at: now) }
    func offer(word: String, of id: TransactionID, _ owner: String, at now: Int64) -> Bool {
        display.offer(word: word, of: id, owner, at: now)
    }
    func ask(by word: String) -> (id: TransactionID, owner: String)? { display.ask(by: word) }
    func answered(_ word: String, isTaken: Bool) -> Bool { display.answered(word, isTaken: isTaken) }
}
