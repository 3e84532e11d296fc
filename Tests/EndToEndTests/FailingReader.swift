import CardSim
import Foundation
import Testing

/// A shop whose reader fails and comes back, and the clock that says how soon the lane works again.
///
/// The times are printed against the target of two seconds. What is asserted is only that the lane comes back by itself:
/// a busy machine is no failure of the daemon.
final class FailingReader {
    /// What the lane is doing when its reader fails.
    enum Moment: String, CaseIterable, Sendable {
        case idle, armed, reading
    }

    struct Fault {
        var name: String
        var moment: Moment
        /// What tells listeners that the reader does not work.
        var event: String? = "reader.detached"
        /// What the lane says of itself until the reader is back.
        var states: Set<String> = ["detached"]
        /// What becomes of a transaction that had begun.
        var outcome: Set<String> = ["failed"]
    }

    let shop: Shop
    let events: EventLog
    private let present: (any VirtualCard) throws -> Void
    private let remove: () throws -> Void
    private var approved = 0

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
    func survives(_ fault: Fault, break breakReader: () throws -> Void, repair: () throws -> Void) throws {
        let told = fault.event.map { events.count($0) } ?? 0
        let transaction = try begin(fault.moment)
        try breakReader()
        if let event = fault.event { try events.awaits(event, beyond: told) }
        if let transaction {
            let end = try settled(transaction)
            let state = end["state"] as? String ?? ""
            #expect(fault.outcome.contains(state), "\(fault.name) while \(fault.moment): \(end)")
            if state == "approved" { approved += 1 }
        }
        if fault.event != nil {
            try shop.eventually("\(fault.states)") { fault.states.contains(try self.laneState()) }
        }
        let repaired = ContinuousClock.now
        try repair()
        try shop.eventually("a ready lane") { try self.laneState() == "ready" }
        let ready = ContinuousClock.now - repaired
        try pays()
        try expectOneChargeEach()
        report(fault, ready, whole: ContinuousClock.now - repaired)
    }

    /// A whole tap with a card that was not there before.
    func pays() throws {
        try remove()
        let id = try start()
        try events.awaits("read.readyForTap", beyond: ready)
        try present(try #require(CardCatalogue.card(named: "visa")))
        let end = try settled(id)
        #expect(end["state"] as? String == "approved", "\(end)")
        approved += 1
        try remove()
    }

    /// A transaction that the adapter has and has not answered yet.
    func sends() throws -> String {
        let id = try start("1297")
        try present(try #require(CardCatalogue.card(named: "visa")))
        try shop.eventually("a transaction that was sent") { try self.transaction(id)["state"] as? String == "sent" }
        return id
    }

    /// Nothing was charged that was not approved, and nothing twice.
    func expectOneChargeEach(unless more: Int = 0) throws {
        #expect(try shop.ledgerEntries().count == approved + more)
    }

    private var ready = 0

    /// Brings the lane to the moment at which its reader is to fail.
    private func begin(_ moment: Moment) throws -> String? {
        if moment == .idle { return nil }
        let id = try start()
        try events.awaits("read.readyForTap", beyond: ready)
        guard moment == .reading else { return id }
        let detected = events.count("read.cardDetected")
        try present(PacedCard(try #require(CardCatalogue.card(named: "visa")), milliseconds: 300))
        try events.awaits("read.cardDetected", beyond: detected)
        return id
    }

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
        return try transaction(id)
    }

    func laneState() throws -> String {
        let lanes = try shop.get("/v1/status")["lanes"] as? [[String: Any]]
        return lanes?.first?["state"] as? String ?? ""
    }

    private func report(_ fault: Fault, _ ready: Duration, whole: Duration) {
        func text(_ duration: Duration) -> String { String(format: "%.2f s", Double(duration.milliseconds) / 1_000) }
        let verdict = ready <= .seconds(2) ? "met" : "missed"
        print(
            "recovery: \(fault.name), while \(fault.moment): ready after \(text(ready)) (target 2 s: \(verdict)),"
                + " paid after \(text(whole)) with the customer's part")
    }
}

extension Duration {
    var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}
