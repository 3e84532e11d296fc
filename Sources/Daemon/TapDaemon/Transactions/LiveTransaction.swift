// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Configuration
import Envelope
import Journal
import Linux
import LocalHTTP
import Loyalty
import POSAPI
import PSPAPI
import PaymentValues
import ReaderCore
import Transactions

/// A large value in a block of its own: whoever holds it is copied without it, and it is changed where it lies while nobody else
/// holds it.
@propertyWrapper
struct Apart<Value: Sendable>: Sendable {
    private var block: [Value]

    init(wrappedValue: Value) { block = [wrappedValue] }

    var wrappedValue: Value {
        _read { yield block[0] }
        _modify { yield &block[0] }
    }
}

/// One transaction's machine, with what it began with and what it holds of the outside world.
///
/// More than fifteen stored properties: each is what another part of the daemon has for it.
struct LiveTransaction: Sendable {
    @Apart var machine: TransactionMachine
    /// As configuration and profile laid it down when the transaction began.
    @Apart var terms: TransactionContext
    /// Transaction Sequence Counter (9F41).
    var sequence: UInt32 = 0
    /// The lanes that wait for its card.
    var tap: ArmedTap?
    /// A connection on which the authorisation can be sent at once.
    var connection: HTTPClientConnection?
    /// The authorisation as it is sent, while the journal is busy with it.
    var draft: Task<HTTPClientRequest?, Never>?
    /// The PIN devices that may be used, by lane.
    var pinPlaces: [String: PINDeviceSlot] = [:]
    var sealedAt: TapInstant?
    var sentAt: TapInstant?
    /// Until it has settled once, on the monotonic clock.
    var begunAt: Int64?
    /// On the clock that counts sleep.
    var approvedAt: Int64?
    /// The journal has not taken its latest write, and that has been said.
    var isUnwritten = false
    /// Nothing has to wait for a card any more.
    let isUnwanted = OneShot()
    let isSettled = OneShot()
    /// Its card was read, and its lane is free: settled, or kept until a machine claims it.
    let hasLeftLane = OneShot()
    /// What the host has to wait for at a stop is over.
    let isDone = OneShot()

    init(_ machine: TransactionMachine, _ terms: TransactionContext) {
        self.machine = machine
        self.terms = terms
    }

    var transaction: Transaction { machine.transaction }

    /// Nothing stands anywhere, and nobody has to be asked whether it may end.
    var isCancellable: Bool { transaction.state.isCancellable || machine.isPINAwaited || machine.isReadKept }

    /// What was read is an operation on an approved payment by now.
    var isHandedOver: Bool { machine.demand.isHandedOver && transaction.state == .sealed }

    /// Whether a confirmation comes in time, by the clocks that nobody sets; `nil` where none is waited for.
    var isConfirmable: Bool? {
        guard let isInTime = machine.isConfirmable(at: .now) else { return nil }
        guard let approvedAt, let seconds = machine.demand.confirmWithin ?? machine.demand.confirmRepeatWithin
        else { return isInTime }
        // A machine that sleeps with an open approval wakes up too late for it.
        return isInTime && Moment.nowWithSleep.monotonic - approvedAt <= Int64(seconds) * 1_000
    }

    /// The authorisation goes out: connection and draft are used up.
    mutating func forgetDraft() { (connection, draft) = (nil, nil) }
}

extension LiveTransaction {
    /// What the journal has of a transaction, made a machine again so that something can happen to it.
    init(_ record: JournalRecord, _ terms: TransactionContext, _ times: AdapterTimes) {
        var demand = TransactionParameters(kind: .sale, owner: record.owner)
        demand.times = times
        self.init(
            TransactionMachine(
                recorded: record.transaction, demand, reversal: record.reversal, open: record.open, at: .now),
            terms)
    }
}

/// What a transaction keeps from its beginning to its end, whatever the configuration becomes.
struct TransactionContext: Sendable {
    var terminal: Terminal
    /// What is to be asked of phones and member cards, where passes are wanted.
    var loyalty: LoyaltyRequest?
    /// AIDs or RIDs that the shop prefers on a co-badged card.
    var preferredApplications: [[UInt8]] = []
    /// Knows a card again, for some minutes.
    var marker: CardFingerprinter?
    /// The service that is asked, and no other.
    var route: ServiceRoute
    /// On which the authorisation goes out.
    var early: EarlyConnection?
    var offline: OfflineSettings
    /// The payment that is given back, where what is read is handed over.
    var original: JournalRecord?
    /// What the payment service is to store the card for, where it knows stored cards.
    var agreement: AgreementProof?

    /// Number of the tap on a lane that stands alone that has begun it.
    var tap: Int64?

    /// `nil` where no PIN is asked for.
    var pinPlaces: PINDeviceSlots?

    var adapter: AdapterLink? { route.link }

    init(terminal: Terminal, route: ServiceRoute, offline: OfflineSettings) {
        self.terminal = terminal
        self.offline = offline
        self.route = route
        early = route.link.map { EarlyConnection($0) }
    }
}

/// Lanes that wait for one transaction's card.
struct ArmedTap: Sendable {
    let lanes: [Lane]
    let race: LaneRace
    /// Lets the reader say that the card was read.
    let handover: WakeSignal

    /// - Returns: `nil` without a lane, or where the process has no descriptor left.
    init?(_ lanes: [Lane]) {
        guard !lanes.isEmpty, let handover = try? WakeSignal() else { return nil }
        self.lanes = lanes
        self.handover = handover
        race = LaneRace(lanes.map(\.name))
    }

    func disarm() {
        race.cancel()
        handover.signal()
    }
}
