// SPDX-License-Identifier: Apache-2.0
public import POSAPI
import PSPAPI
public import PaymentValues

/// One transaction from its first state to its last, without I/O: inputs in, effects out.
///
/// Every change of state is written before anybody outside hears of it; while a write is under way, whatever else comes
/// waits for it. Time and ids come in as parameters.
public struct TransactionMachine: Sendable {
    /// A write under way.
    struct Writing: Sendable {
        /// What becomes of a write that the journal does not take.
        enum Care: Sendable {
            /// Nothing has left yet: the transaction ends.
            case orEnd
            /// It has happened outside already: tried until the journal takes it.
            case forCertain
            /// Only known until the next start.
            case ifPossible
        }

        let write: Write
        var next: Phase
        var then: [Outward]
        let care: Care
        /// When it is tried again, once it has failed.
        var retryAt: Int64?
    }

    public let demand: TransactionParameters
    /// As everybody sees it: nothing in it that is not in the journal, but an end that the journal does not take.
    public private(set) var transaction: Transaction
    public internal(set) var phase: Phase
    public internal(set) var reversalPlan: ReversalPlan?
    /// Why a person gets to see it, as the journal has it.
    public private(set) var open: OpenReason?
    private(set) var writing: Writing?
    /// The machine's own name for the session, once it has claimed what was read.
    public internal(set) var claimant: String?
    private var waiting: [Input] = []
    private var writes: UInt64 = 0
    /// How many steps of the history no power cut takes back.
    private var stepsOnDisk = 0
    /// Since when it is known in this run that it was sent, on the monotonic clock.
    var knownSince: Int64
    /// Of the latest question that was given up: its answer may still come.
    var lastQuestion = 0
    var written: Written
    var now: Moment
    private var effects: [Effect] = []

    /// How long the host may take for what is no business of card or service: a turn of an actor, a thread's return. Long,
    /// because it is there for a host that hangs: on a busy machine with many lanes two seconds end sales that would have
    /// gone on, while nothing is on its way yet and a till waits longer for its card anyway.
    static let hostTime: Duration = .seconds(10)
    /// Longer than any step of a preparation may take.
    static let preparationTime: Duration = .seconds(120)
    /// What a reader may take beyond the time for the card.
    static let readerTime: Duration = .seconds(15)
    /// What a card may take to be read: longer than all its commands together.
    static let readingTime: Duration = .seconds(60)
    /// How long a reader that may go on takes at most before the customer is told without it.
    static let settleTime: Duration = .seconds(2)
    /// What an answer may take beyond its own time.
    static let answerMargin: Duration = .seconds(5)
    static let retryPause: Duration = .seconds(1)
    /// What a till has at least for a confirmation after a start, whatever time it was given before.
    static let confirmationTimeAfterStart: Duration = .seconds(30)

    /// A transaction that is in the journal with the state `created`.
    public init(_ transaction: Transaction, _ demand: TransactionParameters, at now: Moment) {
        self.init(transaction, demand, phase: .ended, at: now)
        phase = .created(
            Presentation(giveUpAt: now.after(Self.hostTime), failedReads: demand.earlierFailedReads))
    }

    /// A transaction as an earlier run, or an earlier machine, has left it in the journal.
    ///
    /// - Parameters:
    ///   - reversal: where it is being reversed.
    ///   - open: where it is an open item.
    public init(
        recorded transaction: Transaction, _ demand: TransactionParameters, reversal: ReversalPlan? = nil,
        open: OpenReason? = nil,
        at now: Moment
    ) {
        self.init(transaction, demand, phase: .ended, at: now)
        reversalPlan = reversal
        self.open = open
        // A start writes durably before it reads.
        stepsOnDisk = transaction.history.count
        switch transaction.state {
        case .approved:
            // Not before the last moment in which a confirmation counts. While the daemon did not run none could come.
            let soonest = now.after(Self.confirmationTimeAfterStart)
            phase = .approved(confirmBy: unconfirmedDue.map { max(monotonic(of: $0, since: approvedAt), soonest) &+ 1 })
        case .stored: phase = .stored
        case .created, .preparing, .armed, .reading, .sealed, .sent, .unknown, .reversing:
            // Nothing runs by itself before `recover` or `forward` says how it goes on.
            phase = .stored
        case .declined, .delivered, .cancelled, .failed, .reversed, .completed: phase = .ended
        }
    }

    private init(_ transaction: Transaction, _ demand: TransactionParameters, phase: Phase, at now: Moment) {
        self.transaction = transaction
        self.demand = demand
        self.phase = phase
        self.now = now
        knownSince = now.monotonic
        written = Written(number: 0)
    }

    public var id: TransactionID { transaction.id }

    /// Of the transaction in the journal, which gives it.
    public var number: Int64? {
        get { transaction.number }
        set { transaction.number = newValue }
    }

    /// When it wants `Input.due`, on the monotonic clock; `nil` for not at all.
    public var due: Int64? { writing.map { $0.retryAt } ?? phase.due }

    /// A write is under way, and whatever else comes waits for it.
    public var isWriting: Bool { writing != nil }

    /// Nothing can happen to it any more.
    public var isOver: Bool {
        guard writing == nil else { return false }
        return switch phase {
        case .ended: true
        // Until the forwarder wants it, which makes a machine of it again.
        case .stored: transaction.state == .stored
        default: false
        }
    }

    /// Lets something happen.
    public mutating func take(_ input: Input, at now: Moment) -> [Effect] {
        self.now = now
        effects = []
        if let writing, !input.isOfJournal {
            if writing.retryAt != nil, case .forward(_, let wish, _, _) = input {
                outward(.answer(wish, .notForwarded(.storageFailed)))
            } else {
                waiting.append(input)
            }
        } else {
            handle(input)
            while writing == nil, !waiting.isEmpty { handle(waiting.removeFirst()) }
        }
        defer { effects = [] }
        return effects
    }

    private mutating func handle(_ input: Input) {
        switch input {
        case .written(let number): wasWritten(number)
        case .notWritten(let number, let failure): wasNotWritten(number, failure)
        case .due: timeHasCome()
        case .cancel(let canceller, let wish): cancel(by: canceller, wish)
        case .reverse(let reason, let wish): reverse(reason, wish)
        case .confirmed: if case .approved = phase { phase = .ended }
        case .claimed(let reference, let wish): claimed(as: reference, wish)
        case .recover(let isPINAwaited): recover(isPINAwaited: isPINAwaited)
        case .forward(let request, let wish, let keyLife, let latest): forward(request, wish, keyLife, latest)
        case .settle(let settlement, let wish): settle(settlement, wish)
        case .hasten: hasten()
        case .begin where demand.isWithoutCard: if case .created = phase { local(.connect) }
        case .begin, .preparing, .prepared, .notPrepared: prepare(input)
        case .ready, .won, .cardLeft, .collision, .unreadable, .targetUnsupported, .presentationFailed, .cardAwaited,
            .message, .cardDetected, .passAgain, .passes, .endedWithPasses, .read, .declinedOffline, .ended,
            .cardMayGo, .tapFinished:
            present(input)
        case .pin(let reply, let attempt): pin(reply, attempt)
        case .connected, .notConnected: connection(input)
        case .replied(let reply, let question): replied(reply, question)
        case .acknowledged(let acknowledgement, let question): acknowledged(acknowledgement, question)
        case .linked(let reply, let question): linkReplied(reply, question)
        }
    }

    // MARK: - Effects

    mutating func local(_ effect: Local) { effects.append(.local(effect)) }

    /// What rests on the disk stays here as long as the disk does not have it.
    mutating func outward(_ outward: Outward) {
        if let basis = outward.basis, !transaction.history.prefix(stepsOnDisk).contains(where: { $0.state == basis }) {
            return contradiction("a step outward before \(basis.rawValue) is on the disk")
        }
        effects.append(.outward(outward, written))
    }

    mutating func outward(_ all: [Outward]) { for each in all { outward(each) } }

    /// An input that the state knows nothing of: it stays what it is.
    mutating func contradiction(_ what: String) {
        local(.log(Contradiction(state: transaction.state, what: what)))
    }

    func event(_ name: EventName, lane: String? = nil) -> Event {
        Event(name, about: transaction, at: now.wall, lane: lane)
    }

    func change(_ state: TransactionState) -> StateChange { StateChange(state, at: now.wall) }

    // MARK: - Writing

    mutating func write(
        _ changes: [StateChange], as form: Write.Form = .append, _ care: Writing.Care = .orEnd, next: Phase,
        then: [Outward] = [], durable: Bool? = nil
    ) {
        writes += 1
        let write = Write(
            number: writes, changes: changes, form: form, isDurable: durable ?? isDurable(changes, form))
        writing = Writing(write: write, next: next, then: then, care: care)
        effects.append(.write(write))
    }

    private mutating func wasWritten(_ number: UInt64) {
        guard let done = writing, done.write.number == number else { return }
        writing = nil
        written = Written(number: number)
        for change in done.write.changes { apply(change) }
        if done.write.isDurable { stepsOnDisk = transaction.history.count }
        switch done.write.form {
        case .plan(let plan): reversalPlan = plan
        case .open(let reason, let plan): (open, reversalPlan) = (reason, plan ?? reversalPlan)
        case .contradict(let time): transaction.settlement?.contradictedAt = time
        case .append, .store, .forward, .charge, .reversal, .settle, .pin: break
        }
        phase = done.next
        switch (phase, done.write.changes.last?.state) {
        // What goes out now, a continuation too, has its time from now on: the journal may have taken long.
        case (.sent(var question), .sent), (.sent(var question), nil):
            question.begin(demand.times, at: now)
            knownSince = now.monotonic
            phase = .sent(question)
        case (.reversing(var reversal), .reversing):
            reversal.due = now.after(demand.times.query + Self.answerMargin)
            phase = .reversing(reversal)
        default: break
        }
        outward(done.then)
    }

    private mutating func wasNotWritten(_ number: UInt64, _ failure: WriteFailure) {
        guard var failed = writing, failed.write.number == number else { return }
        switch (failed.care, failure) {
        case (.orEnd, _) where failed.write.form == .forward:
            // It has not left, and stays what it was.
            writing = nil
            if failure == .superseded { phase = .ended }
            guard case .sent(let question) = failed.next, let wish = question.owedTo else { return }
            outward(.answer(wish, failure == .superseded ? .superseded : .notForwarded(failure.code)))
        case (.orEnd, _) where failed.write.form.isSettlement:
            // It stays what it was, and whoever else waits goes on waiting.
            writing = nil
            for case .answer(let wish, .done) in failed.then.prefix(1) {
                outward(.answer(wish, .refused(failure.code)))
            }
        case (.ifPossible, _):
            writing = nil
            phase = failed.next
            outward(failed.then)
        case (_, .superseded):
            writing = nil
            release(&failed, .superseded)
            phase = .ended
            lookAgain(failed)
        case (.forCertain, .full), (.forCertain, .failed):
            failed.retryAt = now.after(Self.retryPause)
            release(&failed, .notForwarded(failure.code))
            writing = failed
        case (.forCertain, _):
            // Only a journal that another hand has changed says so: the next start goes on from what is there.
            writing = nil
            contradiction("\(failed.write.changes.map(\.state.rawValue)) is illegal")
            release(&failed, .superseded)
            phase = .ended
            lookAgain(failed)
        case (.orEnd, _) where phase.question != nil:
            // Nobody was reached, and it may not be stored: nothing is owed by anybody.
            writing = nil
            if case .notStorable(let code) = failure { decline(code) } else { decline(failure.code) }
        case (.orEnd, .notAllowed(let code)):
            writing = nil
            end(code)
        case (.orEnd, .notStorable(let code)):
            writing = nil
            end(code, after: failed.write.changes.filter { $0.state == .sealed })
        case (.orEnd, _):
            writing = nil
            endUnwritten(failure)
        }
    }

    /// Lets the forwarder go: it has others to look after, however long this write is tried.
    private mutating func release(_ failed: inout Writing, _ answer: RequestAnswer) {
        var wishes = [phase.question?.owedTo].compactMap(\.self)
        phase.question?.owedTo = nil
        failed.next.question?.owedTo = nil
        failed.then.removeAll {
            guard case .answer(let wish, _) = $0 else { return false }
            return wishes.contains(wish)
        }
        waiting.removeAll {
            guard case .forward(_, let wish, _, _) = $0 else { return false }
            wishes.append(wish)
            return true
        }
        for wish in wishes { outward(.answer(wish, answer)) }
    }

    /// Answers everybody whose wish hung on the write.
    private mutating func lookAgain(_ failed: Writing) {
        for case .answer(let wish, _) in failed.then { outward(.answer(wish, .superseded)) }
    }

    /// Ends for everybody who waits; the journal hears of it as soon as it takes anything.
    private mutating func endUnwritten(_ failure: WriteFailure) {
        var change = change(.failed)
        change.error = ErrorDetail(failure.code, transaction: id)
        apply(change)
        local(.disarm)
        var event = event(.readNotCompleted)
        event.error = change.error
        outward(.publish(event))
        answerCancels(.nothingToCancel)
        phase = failure == .illegal ? .ended : .unwritten(change, retryAt: now.after(Self.retryPause))
        if failure == .illegal { contradiction("a change before sending is illegal") }
    }

    mutating func apply(_ change: StateChange) {
        if transaction.state != change.state {
            open = nil
            transaction.history.append(Transaction.Step(state: change.state, at: change.at))
        }
        transaction.state = change.state
        if change.state.isSettled { transaction.link = nil }
        transaction.updatedAt = change.at
        transaction.lane = change.lane ?? transaction.lane
        transaction.card = change.card ?? transaction.card
        transaction.chip = change.chip ?? transaction.chip
        transaction.result = change.result ?? transaction.result
        transaction.error = change.error ?? (change.state.endsDoubt ? nil : transaction.error)
        transaction.cancelledBy = change.cancelledBy ?? transaction.cancelledBy
        transaction.message = change.message ?? transaction.message
        transaction.settlement = change.settlement ?? transaction.settlement
        let confirmation = change.confirmBy.map { Confirmation(due: $0) }
        transaction.confirmation = confirmation ?? (change.state.endsDoubt ? nil : transaction.confirmation)
        reversalPlan = change.reversal ?? reversalPlan
    }

    /// Of the payment service, and in no journal: asked for again after a restart.
    mutating func tell(_ link: OpenLink) { transaction.link = link }

    // MARK: - Time

    private mutating func timeHasCome() {
        if var pending = writing {
            guard let retry = pending.retryAt, now.monotonic >= retry else { return }
            pending.retryAt = nil
            writing = pending
            effects.append(.write(pending.write))
            return
        }
        guard let due = phase.due, now.monotonic >= due else { return }
        switch phase {
        case .created: end(demand.isWithoutCard ? .pspUnreachable : .internalFault)
        case .preparing: end(.readerFaulty)
        case .armed: end(.readTimedOut)
        case .reading: end(.readerFaulty)
        case .sealed: end(.pspUnreachable)
        case .offered: offerIsLate()
        case .awaitingPIN(let wait): pinIsLate(wait)
        case .challenged(let challenge): challengeIsLate(challenge)
        case .sent(let question), .unknown(let question): questionDue(question)
        case .linked(let watch): linkDue(watch)
        case .approved: reverseUnconfirmed()
        case .reversing(let reversal): reversalDue(reversal)
        case .leaving(let last, _):
            phase = transaction.state == .stored ? .stored : .ended
            outward(last)
        case .unwritten(let change, _):
            // The face has it already: only the journal is behind.
            write([change], .forCertain, next: .ended)
        case .settled: phase = .ended
        case .stored, .ended: break
        }
    }
}
