// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Loyalty
import POSAPI
import PSPAPI
import PaymentValues
import ReaderCore
import TapSession
import Transactions

/// The transactions that are not over, and the tables around them: everything that has to change in one step.
struct TransactionTable: Sendable {
    var live: [TransactionID: LiveTransaction] = [:]
    var lanes: LaneRegistry
    var keys = KeyTable()
    var holders = HolderTable()
    var failedReads = FailedReadTable()
    /// What became of wishes for passes: only here, never in the journal, and not for long.
    var passes = MemoryShelf<KeptPasses>()
    /// What cards gave that wanted a PIN: only here, and for minutes.
    var reads = MemoryShelf<KeptRead>()
    var sales = RecentSales()
    var pace = PaceTable()
    /// Administrators' commands to cards, by the lanes that they have.
    var conversations: [String: CardConversation] = [:]
    /// Waits of lanes that stand alone, by lane.
    var standing: [String: TapCancellation] = [:]
    var isStopping = false
    /// How many wait for a transaction's end and have not been answered.
    private var awaited: [TransactionID: Int] = [:]
    /// Lanes whose readers show an end, and until when on the monotonic clock.
    private var glowing: [String: Int64] = [:]
    /// How long an end is shown, in milliseconds.
    static let afterglow: Int64 = 4_000

    init(_ lanes: LaneRegistry) { self.lanes = lanes }

    // MARK: - Beginning and end

    /// Takes the lanes in the same step in which they were found: no other request gets in between.
    mutating func enter(_ running: LiveTransaction, _ key: PrincipalKey) {
        let (id, demand) = (running.transaction.id, running.machine.demand)
        for lane in demand.lanes { glowing[lane] = nil }
        lanes.table.take(
            demand.lanes,
            for: LaneStatus.Holder(transaction: id, of: demand.owner, since: running.transaction.createdAt))
        live[id] = running
        keys.bind(key, to: id)
    }

    /// A transaction that the journal knows, and to which something can happen again.
    mutating func revive(_ running: LiveTransaction) {
        running.isSettled.fire()
        live[running.transaction.id] = running
    }

    /// It is in nobody's books.
    mutating func drop(_ id: TransactionID) {
        live[id] = nil
        lanes.table.release(by: id)
    }

    /// When the holder of its lanes goes at the latest.
    mutating func setDeadline(of running: LiveTransaction, at now: Moment) {
        let end = now.wall.milliseconds + running.machine.demand.cardTime(at: now)
        lanes.table.setDeadline(Timestamp(milliseconds: end), of: running.transaction.id)
    }

    /// Takes a lane for commands to a card, in the same step in which it was found free.
    mutating func lend(_ name: String, to conversation: CardConversation) -> Result<Lane, ErrorBody> {
        guard !isStopping else { return .failure(ErrorBody(.daemonUnavailable)) }
        return lanes.table.lend(name).map { seat in
            conversations[name] = conversation
            return seat.lane
        }
    }

    /// - Parameter code: why the commands have ended before the last of them.
    mutating func withdraw(_ name: String, after code: ErrorCode?) {
        conversations[name] = nil
        if let code { lanes.noteTapFailure(name, code) }
        lanes.table.withdraw(name)
    }

    /// Nothing more happens to it.
    mutating func leave(_ id: TransactionID, at now: Moment) {
        guard let running = live.removeValue(forKey: id) else { return }
        lanes.table.release(by: id)
        holders.forget(id)
        passes.end(id, at: now)
        running.tap?.disarm()
        running.isUnwanted.fire()
        running.isSettled.fire()
        running.hasLeftLane.fire()
        running.isDone.fire()
    }

    // MARK: - Who cares for it

    /// Somebody on this connection cares for the transaction from now on.
    ///
    /// - Returns: whether that is new.
    mutating func hold(_ id: TransactionID, by connection: UInt64) -> Bool {
        guard live[id] != nil else { return false }
        return holders.retain(id, by: connection)
    }

    /// The connection has gone.
    ///
    /// - Returns: the holders' generation, where nobody is left and it can still be cancelled; `nil` where somebody is.
    mutating func letGo(_ id: TransactionID, by connection: UInt64) -> Int? {
        guard let generation = holders.release(id, by: connection), isAbandoned(id, since: generation) else {
            return nil
        }
        return generation
    }

    /// Nobody cares for it, nobody has since, and it can still be cancelled.
    func isAbandoned(_ id: TransactionID, since generation: Int) -> Bool {
        guard let running = live[id], !running.machine.demand.isDetached else { return false }
        return holders.isAbandoned(id, since: generation) && running.isCancellable
    }

    // MARK: - What the outside world said

    /// What the loyalty part of a tap found. No event carries a pass.
    mutating func keep(_ outcome: LoyaltyOutcome, of id: TransactionID) -> LoyaltyResult? {
        guard let running = live[id], let request = running.terms.loyalty else { return nil }
        let kept = KeptPasses(outcome: outcome, request: request, language: running.machine.demand.language)
        passes.keep(kept, of: id)
        return kept.statuses
    }

    /// A card has been read on the lane: how long its tap took is told there from now on.
    mutating func tapped(_ phases: TapPhases, of id: TransactionID, on lane: String, at now: Timestamp) {
        live[id]?.sealedAt = phases.sealed
        guard let owner = live[id]?.machine.demand.owner, let detected = phases.cardDetected else { return }
        let tap = LaneStatus.Tap(
            transaction: id, of: owner, at: now, card: phases.sealed.nanoseconds(since: detected) / 1_000,
            air: phases.air.microseconds)
        lanes.table.update(lane) { $0.lastTap = tap }
    }

    /// - Returns: seconds since its read was sealed; `nil` where that is not known.
    mutating func sent(_ id: TransactionID, at now: TapInstant) -> Double? {
        live[id]?.sentAt = now
        guard let sealedAt = live[id]?.sealedAt else { return nil }
        lanes.table.updateTap(of: id) { $0.sending = now.nanoseconds(since: sealedAt) / 1_000 }
        return now.seconds(since: sealedAt)
    }

    /// - Returns: seconds since it was sent.
    mutating func heard(_ id: TransactionID, sent sentAt: TapInstant, at now: TapInstant) -> Double {
        lanes.table.updateTap(of: id) { $0.service = now.nanoseconds(since: sentAt) / 1_000 }
        return now.seconds(since: sentAt)
    }

    /// The end of a transaction stays to be seen on its readers.
    private mutating func glow(of running: LiveTransaction, at now: Moment) {
        for lane in running.tap?.lanes ?? [] { glow(lane.name, at: now) }
    }

    /// A lamp that is lit now goes out some seconds later, where nothing has begun on the lane by then.
    mutating func glow(_ lane: String, at now: Moment) {
        glowing[lane] = now.monotonic &+ TransactionTable.afterglow
    }

    /// Lanes whose lamps go out now: no transaction has wanted them since.
    mutating func takeIdle(at now: Moment) -> [Lane] {
        let over = glowing.filter { $0.value <= now.monotonic }.keys
        for name in over { glowing[name] = nil }
        return over.compactMap { lanes.table[$0] }.filter(\.isFree).map(\.device.lane)
    }

    /// A card is about to pay.
    ///
    /// - Returns: the sale of minutes ago that looks the same.
    mutating func noteSale(_ id: TransactionID, mark: [UInt8]?, on lane: String, at now: Moment) -> TransactionID? {
        guard let mark, let transaction = live[id]?.transaction, transaction.type == .purchase else { return nil }
        return sales.note(id, mark: mark, lane: lane, amount: transaction.amount, at: now)
    }

    /// What its new state means for others.
    mutating func follow(_ running: LiveTransaction, at now: Moment) {
        let transaction = running.transaction
        sales.follow(transaction)
        // The goods are paid for: nobody needs the read of before.
        if transaction.state == .approved, let earlier = transaction.retryOf { reads.forget(earlier) }
        let isOver = transaction.state.isSettled || running.isHandedOver
        if isOver { glow(of: running, at: now) }
        guard isOver, let begunAt = running.begunAt else { return }
        // A stored card is not read: what was asked of its service is as good.
        let hasRead = transaction.history.contains { $0.state == .reading || $0.state == .sent }
        if hasRead || now.monotonic - begunAt >= PaceTable.shortest {
            pace.giveBack(running.machine.demand.owner, at: now)
        }
        live[transaction.id]?.begunAt = nil
    }

    // MARK: - What is known

    /// When time has to pass for one of them, on the monotonic clock.
    var due: Int64? {
        (live.values.compactMap(\.machine.due) + Array(glowing.values) + [passes.due, reads.due].compactMap(\.self))
            .min()
    }

    func due(at now: Moment) -> [TransactionID] {
        live.filter { $0.value.machine.due.map { $0 <= now.monotonic } ?? false }.map(\.key)
    }

    /// A payment of the order whose outcome is not known.
    func unresolved(_ order: String?) -> TransactionID? {
        guard let order else { return nil }
        return live.values.first {
            $0.transaction.order == order && $0.transaction.state.blocksOrder && $0.transaction.type != .loyalty
        }?.transaction.id
    }

    var cancellable: [LiveTransaction] { live.values.filter(\.isCancellable) }

    /// The occasion to wait for; `nil` where nothing is waited for any more.
    func settling(_ id: TransactionID) -> OneShot? {
        live[id].flatMap { $0.transaction.state.isSettled ? nil : $0.isSettled }
    }

    /// The same for the next card on its lane.
    func leavingLane(_ id: TransactionID) -> OneShot? { live[id]?.hasLeftLane }

    /// Payments that the adapter has not confirmed as taken back, with the time since when.
    var unfinishedReversals: [Timestamp] {
        live.values.filter { $0.transaction.state == .reversing }.map(\.transaction.updatedAt)
    }

    /// A payment would wait for what else is done with the disk: a card is read, or somebody waits who has not heard its end.
    var isDiskWanted: Bool {
        live.values.contains { $0.transaction.state == .reading }
            || awaited.keys.contains { live[$0]?.transaction.state.isSettled ?? true }
    }

    /// Somebody waits for the end of a transaction, until `answered`.
    mutating func expect(_ id: TransactionID) { awaited[id, default: 0] += 1 }

    /// Whoever waited has its answer, or has gone.
    mutating func answered(_ id: TransactionID) {
        let left = (awaited[id] ?? 0) - 1
        awaited[id] = left > 0 ? left : nil
    }
}
