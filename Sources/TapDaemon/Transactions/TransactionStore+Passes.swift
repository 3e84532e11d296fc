import Loyalty
import Wire

/// Passes live in memory only: from the moment they are read until `PassKeeping.afterEnd` after the end.
enum PassKeeping {
    /// Long enough for a till that asks again, too short to become a store of customers.
    static let afterEnd: Duration = .seconds(60)
}

extension TransactionStore {
    /// Keeps what the loyalty part of a tap found, and tells what came of it. No event carries a pass.
    func note(_ outcome: LoyaltyOutcome, of id: TransactionID) {
        guard let known = live[id], let request = known.loyalty else { return }
        let kept = KeptPasses(outcome: outcome, request: request, language: known.language)
        passes[id] = kept
        var event = Event(.loyaltyResult, lane: known.transaction.lane)
        event.transaction = id
        event.loyalty = kept.statuses
        publish(event)
    }

    /// Whether a pass was delivered in this transaction.
    func hasPass(_ id: TransactionID) -> Bool {
        passes[id]?.hasPass ?? false
    }

    func keptPasses(of id: TransactionID) -> KeptPasses? { passes[id] }

    func keepsPasses(of id: TransactionID) -> Bool { passes[id] != nil }

    func forgetPasses(of id: TransactionID) { passes[id] = nil }
}
