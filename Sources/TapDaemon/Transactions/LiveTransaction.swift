import Configuration
import Journal
import Loyalty
import ReaderCore
import Wire

/// A transaction that has not come to its end, as the daemon holds it in memory. The journal knows all of it but what
/// only matters while its client is there.
struct LiveTransaction: Sendable {
    var transaction: Transaction
    let uid: UInt32
    /// As the profile in force laid it down when the transaction began.
    var terminal = Terminal.test
    /// Transaction Sequence Counter (9F41).
    var sequence: UInt32 = 0
    /// Seconds for the card to be presented.
    var deadline = Limits.defaultDeadlineSeconds
    /// Goes on when its client has gone.
    var isDetached = true
    /// Stored before, and being forwarded: it cannot be reversed for want of an answer.
    var isForwarded = false
    /// Seconds within which an approval has to be confirmed.
    var confirmWithin: Int?
    var kind = AuthorizationRequest.Kind.sale
    /// What is to be asked of phones and member cards, where passes are wanted.
    var loyalty: LoyaltyRequest?
    /// Of what the customer reads.
    var language: String?
    /// AIDs or RIDs that the shop prefers on a co-badged card.
    var preferredApplications: [[UInt8]] = []
    /// Connections on which somebody cares for it.
    var holders: Set<UInt64> = []
    /// How often somebody began to care for it.
    var signsOfLife = 0
    /// Who wanted it cancelled, as soon as somebody does.
    var canceller: Canceller?
    /// Cancelled after it was sent: taken back if it turns out to be approved.
    var mustBeReversed = false
    /// Its answer is being written down: a wish to take it back waits for what comes of that.
    var isDecided = false
    var reversal: ReversalPlan?
    /// Somebody does: nothing waits for a card any more.
    let isUnwanted = Occasion()
    /// Reads of a card that came to nothing so far.
    var failedReads = 0
    /// Lanes that were free for it, in the order in which they were named.
    var lanes: [String] = []
    /// Those of them that wait for its card.
    var race: LaneRace?
    /// A card has been read, or none will be: too late for a cancel, or done with it.
    var isCommitted = Occasion()
    let isSettled = Occasion()

    mutating func apply(_ change: StateChange) {
        transaction.state = change.state
        transaction.updatedAt = change.at
        transaction.history.append(Transaction.Step(state: change.state, at: change.at))
        transaction.lane = change.lane ?? transaction.lane
        transaction.card = change.card ?? transaction.card
        transaction.chip = change.chip ?? transaction.chip
        transaction.result = change.result ?? transaction.result
        transaction.error = change.error ?? transaction.error
        transaction.cancelledBy = change.cancelledBy ?? transaction.cancelledBy
        transaction.confirmation = change.confirmBy.map { Confirmation(due: $0) } ?? transaction.confirmation
        reversal = change.reversal ?? reversal
        // The card has to be presented once more: until then it may be cancelled again.
        if change.state == .armed, isCommitted.hasHappened { isCommitted = Occasion() }
    }

    /// Lets whatever waits for a card stop waiting.
    func cancel() {
        isUnwanted.happen()
        race?.cancel()
    }

    func announce() {
        if !transaction.state.isCancellable { isCommitted.happen() }
        if transaction.state.isSettled { isSettled.happen() }
    }
}
