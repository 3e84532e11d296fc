// SPDX-License-Identifier: Apache-2.0
import CardSim
import Foundation
import Testing

/// A shop whose reader fails and comes back, and the clock that says how soon the lane works again.
///
/// The times are printed against the target of two seconds. What is asserted is that the lane comes back by itself, within
/// five times as long: a busy machine is no failure of the daemon.
final class FailingReader {
    /// What the lane is doing when its reader fails.
    enum Moment: String, CaseIterable, Sendable {
        case idle, armed, reading
        /// The read is with the payment service, which has not answered yet.
        case sent
    }

    struct Fault {
        var name: String
        var moment: Moment
        /// What tells listeners that the reader does not work.
        var event: String? = "reader.detached"
        /// What the lane says of itself until the reader is back.
        var states: Set<String> = ["detached"]
        /// The time limit of a command, where nothing else ends it: nobody can notice the fault any sooner.
        var limit: Duration = .zero
        /// What becomes of a transaction whose card was not read yet.
        var outcome: Set<String> = ["failed"]

        /// A read that has been sent is paid, whatever becomes of the reader.
        fileprivate var outcomes: Set<String> { moment == .sent ? ["approved"] : outcome }
    }

    let shop: Shop
    let events: EventLog
    private let present: (any VirtualCard) throws -> Void
    private let remove: () throws -> Void
    private var approved: [String] = []

    /// How soon after the hardware is back the lane has to take a card.
    static let target: Duration = .seconds(2)

    init(
        _ shop: Shop, present: @escaping (any VirtualCard) throws -> Void, remove: @escaping () throws -> Void
    ) throws {
        self.shop = shop
        self.present = present
        self.remove = remove
        events = try EventLog(of: shop)
        try shop.awaitReader()
    }

    /// Breaks the reader at the fault's moment, sees that this is told, repairs it, and takes a payment.
    ///
    /// - Parameter repair: `nil` where the fault passes by itself; the clock then starts with the fault.
    func survives(_ fault: Fault, break breakReader: () throws -> Void, repair: (() throws -> Void)? = nil) throws {
        let told = fault.event.map { events.count($0) } ?? 0
        let transaction = try begin(fault.moment)
        var start = ContinuousClock.now
        try breakReader()
        if let event = fault.event { try events.awaits(event, beyond: told) }
        if let transaction {
            let end = try settled(transaction)
            #expect(fault.outcomes.contains(end["state"] as? String ?? ""), "\(fault): \(end)")
        }
        if fault.event != nil, repair != nil {
            try shop.eventually("\(fault.states)") { fault.states.contains(try self.laneState()) }
        }
        if let repair {
            start = ContinuousClock.now
            try repair()
        }
        try shop.eventually("a ready lane") { try self.laneState() == "ready" }
        let ready = ContinuousClock.now - start - fault.limit
        try pays()
        try expectBalancedBooks()
        report(fault, ready, whole: ContinuousClock.now - start)
    }

    /// A whole tap with a card that was not there before.
    func pays() throws {
        try remove()
        let id = try start()
        try events.awaits("read.readyForTap", beyond: ready)
        try present(try #require(CardCatalogue.card(named: "visa")))
        let end = try settled(id)
        #expect(end["state"] as? String == "approved", "\(end)")
        try remove()
    }

    /// Nothing was charged that the till was not told of, and nothing twice.
    func expectBalancedBooks() throws {
        let ledger = try shop.ledger()
        let entries = ledger["transactions"] as? [[String: Any]] ?? []
        let charged = entries.filter { $0["state"] as? String == "approved" }.compactMap { $0["id"] as? String }
        #expect(charged.sorted() == approved.sorted())
        #expect((ledger["unseen"] as? [String])?.isEmpty == true)
    }

    private var ready = 0

    /// Brings the lane to the moment at which its reader is to fail.
    private func begin(_ moment: Moment) throws -> String? {
        if moment == .idle { return nil }
        let id = try start(moment == .sent ? Self.slowAmount : "1250")
        try events.awaits("read.readyForTap", beyond: ready)
        let card = try #require(CardCatalogue.card(named: "visa"))
        switch moment {
        case .idle, .armed: break
        case .reading:
            let detected = events.count("read.cardDetected")
            try present(PacedCard(card, milliseconds: 300))
            try events.awaits("read.cardDetected", beyond: detected)
        case .sent:
            try present(card)
            try shop.eventually("a transaction that was sent") {
                try self.transaction(id)["state"] as? String == "sent"
            }
        }
        return id
    }

    /// The sandbox takes its time for it.
    private static let slowAmount = "1297"
    static let slowSandbox = ["--slow-seconds", "1"]

    func start(_ value: String = "1250") throws -> String {
        ready = events.count("read.readyForTap")
        let text = try shop.curl([
            "-H", "Content-Type: application/json", "-H", "Idempotency-Key: \(UUID().uuidString)", "-d",
            #"{"type":"purchase","amount":{"value":\#(value),"currency":"EUR"},"detached":true,"deadline":30}"#,
            "http://localhost/v1/transactions",
        ])
        let json = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        return try #require(json?["id"] as? String, "\(text)")
    }

    func transaction(_ id: String) throws -> [String: Any] { try shop.get("/v1/transactions/\(id)") }

    func settled(_ id: String) throws -> [String: Any] {
        let ends: Set<String> = ["approved", "declined", "failed", "cancelled"]
        try shop.eventually("the end of \(id)") {
            ends.contains(try self.transaction(id)["state"] as? String ?? "")
        }
        let end = try transaction(id)
        if end["state"] as? String == "approved", !approved.contains(id) { approved.append(id) }
        return end
    }

    func laneState() throws -> String {
        let lanes = try shop.get("/v1/status")["lanes"] as? [[String: Any]]
        return lanes?.first?["state"] as? String ?? ""
    }

    private func report(_ fault: Fault, _ ready: Duration, whole: Duration) {
        let limit = fault.limit > .zero ? " after the command's time limit of \(fault.limit.text)" : ""
        report("\(fault.name), \(fault.moment)", ready, "\(limit); next payment after \(whole.text)")
    }

    /// Prints a time against the target. It is not asserted: a busy machine takes longer.
    func report(_ what: String, _ took: Duration, _ more: String = "") {
        print("recovery: \(what): \(took.text) (target 2 s: \(took <= Self.target ? "met" : "missed"))\(more)")
    }
}

extension Duration {
    var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }

    fileprivate var text: String { String(format: "%.2f s", Double(milliseconds) / 1_000) }
}
