import Loyalty
import Wire

/// Passes live in memory only: from the moment they are read until `PassKeeping.afterEnd` after the end.
enum PassKeeping {
    /// Long enough for a till that asks again, too short to become a store of customers.
    static let afterEnd: Duration = .seconds(60)
}

extension TransactionStore {
    /// Keeps what the loyalty part of a tap found, and tells those who may know.
    func note(_ outcome: LoyaltyOutcome, of id: TransactionID) {
        guard let known = live[id], let request = known.loyalty else { return }
        let result = LoyaltyResult(outcome, of: request, language: known.language)
        passes[id] = result
        var event = Event(.loyaltyResult, lane: known.transaction.lane)
        event.transaction = id
        event.loyalty = result
        publish(event)
    }

    /// Whether a pass was delivered in this transaction.
    func hasPass(_ id: TransactionID) -> Bool {
        passes[id]?.programmes.contains { $0.status == .delivered } ?? false
    }

    func keepsPasses(of id: TransactionID) -> Bool { passes[id] != nil }

    func forgetPasses(of id: TransactionID) { passes[id] = nil }
}
