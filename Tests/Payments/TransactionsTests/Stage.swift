// SPDX-License-Identifier: Apache-2.0
import PINDeviceAPI
import POSAPI
import PSPAPI
import PaymentValues
import StoreAndForward

@testable import Transactions

/// One machine with everything around it that it can see: a journal that takes its time, lanes, a payment service, tills,
/// a clock. What is said to it is held against the rules with every step.
struct Stage {
    enum Wish: UInt8 { case cancel, reverse, forward, settle, claim }

    var machine: TransactionMachine
    var books: Books
    /// What no power cut takes: the books as of the last write that was on the disk when it was answered.
    var disk: Books
    /// What somebody was told: it stays so.
    var told: Set<TransactionState> = []
    var now: Moment
    /// Asked of the journal and not answered.
    var asked: Write?
    /// What it was asked for.
    var cause: Move?
    /// What has come since.
    var waiting: [Move] = []
    var openWishes: [UInt64: Wish] = [:]
    var wishes: UInt64 = 0
    var lastWritten: UInt64 = 0
    /// A write before sending was refused: whoever waits hears of an end that the journal does not have yet.
    var endedUnwritten = false
    var question = 0
    var reversalQuestion = 0
    /// The first one: every other has to be the same.
    var reversal: PSPAPI.ReversalRequest?
    var answeredQuestion = 0
    var heard: Heard = []
    /// First sendings since the payment was stored last.
    var sends = 0
    /// How the latest question was put, and whether it was sent again after the service had said that it never saw it.
    var how = Question.Kind.send
    var isResent = false
    var sent: AuthorizationRequest?
    var drafted: AuthorizationRequest?
    var arms = 0
    /// A machine was told that it has what was read and kept.
    var isClaimed = false
    /// How often a PIN was asked for, and whether the latest one has come.
    var pins = 0
    var hasPIN = false
    /// How often a device was told to stop.
    var withdrawals = 0
    /// The latest that went out.
    var continuation: PINAttemptID?
    /// Somebody has been told that it will not stay approved.
    var mustNotStay = false
    /// The queue has let it go behind the machine's back.
    var isStale = false
    var hasReadFailed = false
    var faults: [String] = []
    /// What is known of the time.
    var latest: @Sendable (Moment) -> Timestamp? = { $0.wall }

    /// What has come back from the payment service.
    struct Heard: OptionSet {
        let rawValue: UInt16
        static let approved = Heard(rawValue: 1)
        static let declined = Heard(rawValue: 2)
        static let refused = Heard(rawValue: 4)
        static let doubt = Heard(rawValue: 8)
        static let acknowledged = Heard(rawValue: 16)
        static let neverSeen = Heard(rawValue: 32)
        static let refusedAfterDoubt = Heard(rawValue: 64)
        static let notDelivered = Heard(rawValue: 128)
    }

    init(_ transaction: Transaction, _ demand: TransactionParameters) {
        now = Sample.start
        books = Books(transaction)
        disk = books
        machine = TransactionMachine(transaction, demand, at: now)
    }

    /// As an earlier run left it.
    init(recorded books: Books, _ demand: TransactionParameters, at now: Moment = Sample.start) {
        self.now = now
        self.books = books
        disk = books
        machine = TransactionMachine(
            recorded: books.transaction, demand, reversal: books.plan, open: books.open, at: now)
        if [.sent, .unknown].contains(books.transaction.state) { heard.insert(.doubt) }
        if books.transaction.history.contains(where: { $0.state == .sent }) {
            sends = books.transaction.state == .stored ? 0 : 1
        }
    }

    // MARK: - What happens

    /// Whether it can happen at all now: the journal answers what it was asked, and time passes to the next timer.
    func allows(_ move: Move) -> Bool {
        switch move {
        case .written, .full, .failed: asked != nil
        case .due: machine.due != nil
        // What is in the queue is the forwarder's, after a start too, and nothing else is.
        case .forward, .forwardForgotten: books.isQueued || !isUntouched
        case .notAsked, .hasten: books.transaction.state == .reversing
        // Of interest where there is an end to come, or just was one.
        case .settleCharged, .settleNotCharged: !isUntouched && sends + reversalQuestion > 0 || books.open != nil
        case .recover: !books.isQueued || !isUntouched
        default: true
        }
    }

    /// Nothing has happened to it since the start, and something has to.
    var isUntouched: Bool {
        if case .stored = machine.phase { [.sent, .unknown].contains(books.transaction.state) } else { false }
    }

    mutating func play(_ move: Move) {
        guard let input = input(for: move) else { return }
        let wasOver = hasEnded
        let isHeld = asked != nil && !input.isOfJournal
        if isHeld { waiting.append(move) }
        let effects = machine.take(input, at: now)
        if isHeld, !effects.isEmpty { faults.append("says something while a write is under way: \(effects)") }
        if asked == nil { cause = move }
        for effect in effects { hear(effect, wasOver) }
        if asked == nil { waiting = [] }
        checkState()
    }

    private mutating func input(for move: Move) -> Input? {
        if let input = move.fromLanes { return input }
        switch move {
        case .recover: return .recover(isPINAwaited: books.isPINAwaited)
        case .read: return Sample.read(machine.transaction, at: now.wall).map { .read($0) }
        case .readForPIN:
            guard var read = Sample.read(machine.transaction, at: now.wall) else { return nil }
            read.pin = Sample.demand(Sample.pin.attempt)
            return .read(read)
        case .readForIssuer:
            guard var read = Sample.read(machine.transaction, at: now.wall) else { return nil }
            read.spares = [Sample.demand(Sample.pin.attempt), Sample.demand(Sample.otherPIN)]
            return .read(read)
        case .approved, .partial, .declined, .declinedForPIN, .running, .neverSeen, .refused, .notDelivered, .unusable:
            note(move)
            return move.reply.map { .replied($0, question: question) }
        case .lateApproved: return move.reply.map { .replied($0, question: question - 1) }
        case .acknowledged, .reversalNeverSeen, .notAcknowledged:
            if move == .acknowledged { heard.insert(.acknowledged) }
            return move.acknowledgement.map { .acknowledged($0, question: reversalQuestion) }
        case .notAsked: return .acknowledged(.notAsked, question: reversalQuestion)
        case .hasten: return .hasten
        case .settleCharged: return .settle(settlement(.charged), wish(.settle))
        case .settleNotCharged: return .settle(settlement(.notCharged), wish(.settle))
        case .lateAcknowledged: return .acknowledged(.acknowledged, question: reversalQuestion - 1)
        case .cancel: return .cancel(.client, wish(.cancel))
        case .stop: return .cancel(.shutdown, nil)
        case .claimed: return .claimed(as: "TOK001", wish(.claim))
        case .reverse: return .reverse(.customerCancel, wish(.reverse))
        case .confirmed, .confirmedUnheard:
            guard books.confirm(at: now.wall) else { return nil }
            disk = books
            return move == .confirmed ? .confirmed : nil
        case .forward:
            guard let request = Sample.request(machine.transaction) else { return nil }
            return .forward(request, wish(.forward), latest: latest(now))
        case .forwardForgotten:
            guard let request = Sample.request(machine.transaction) else { return nil }
            return .forward(request, wish(.forward), keyLife: .zero, latest: latest(now))
        case .declinedInQueue:
            if books.declineStored(at: now.wall) { (isStale, disk) = (true, books) }
            return nil
        case .written, .full, .failed: return answer(move)
        case .due:
            if let due = machine.due { pass(max(0, due - now.monotonic)) }
            return .due
        case .earlyDue: return .due
        default: return nil
        }
    }

    private func settlement(_ outcome: Settlement.Outcome) -> Settlement {
        Settlement(outcome, at: now.wall, uid: 0, note: "seen in the portal")
    }

    mutating func pass(_ milliseconds: Int64) {
        now.monotonic += milliseconds
        now.wall.milliseconds += milliseconds
    }

    private mutating func wish(_ kind: Wish) -> RequestID {
        wishes += 1
        openWishes[wishes] = kind
        return RequestID(wishes)
    }

    /// The first answer to a question is what counts.
    private mutating func note(_ move: Move) {
        guard question > answeredQuestion else { return }
        switch move {
        case .approved, .partial: heard.insert(.approved)
        case .declined, .declinedForPIN: heard.insert(.declined)
        case .refused: heard.insert(heard.contains(.doubt) ? .refusedAfterDoubt : .refused)
        // That one message did not get there says nothing about one before it.
        case .notDelivered: heard.insert(heard.contains(.doubt) || how != .send ? .doubt : .notDelivered)
        case .unusable: heard.insert(.doubt)
        case .neverSeen where how == .query: heard.formUnion([.doubt, .neverSeen])
        default: break
        }
        answeredQuestion = question
    }

    private mutating func answer(_ move: Move) -> Input? {
        guard let write = asked else { return nil }
        asked = nil
        guard move == .written else { return .notWritten(write.number, move == .full ? .full : .failed) }
        if let failure = books.take(write) {
            if failure == .illegal {
                faults.append("illegal: \(books.transaction.state) to \(write.changes.map(\.state))")
            }
            return .notWritten(write.number, failure)
        }
        lastWritten = write.number
        if write.isDurable { disk = books }
        switch write.form {
        case .plan, .contradict, .pin: return .written(write.number)
        case .open: if write.changes.isEmpty { return .written(write.number) }
        case .append, .store, .forward, .charge, .reversal, .settle: break
        }
        checkEnd(write)
        return .written(write.number)
    }

    // MARK: - After a death

    /// The power fails: the daemon dies, and what was not on the disk has never been.
    mutating func cut() {
        books = disk
        let states = Set(books.transaction.history.map(\.state))
        if sends > 0, !states.contains(.sent) { fault("the service was asked, and nobody knows it after a power cut") }
        for state in told where !states.contains(state) { fault("\(state) was told, and is not after a power cut") }
        asked = nil
        die(wasTaken: false)
    }

    /// The daemon dies and starts again: nothing is left but what the journal has.
    ///
    /// - Parameter wasTaken: the write under way had reached the disk.
    mutating func die(wasTaken: Bool) {
        if wasTaken, let write = asked, books.take(write) == nil { checkEnd(write) }
        var next = Stage(recorded: books, machine.demand, at: now)
        next.latest = latest
        next.heard = heard
        // What nobody has written down is forgotten.
        if !books.transaction.history.contains(where: { $0.state == .approved }) { next.heard.remove(.approved) }
        // What was in doubt stays so, and what was asked may have been lost. Who wants a PIN has answered.
        if [.sent, .unknown].contains(books.transaction.state), !books.isPINAwaited { next.heard.insert(.doubt) }
        next.isResent = isResent
        next.mustNotStay = mustNotStay
        next.told = told
        next.sent = sent
        next.reversal = reversal
        next.pins = pins
        next.continuation = continuation
        next.faults = faults
        self = next
        play(books.isQueued ? .forward : .recover)
    }

    /// Everybody is honest from here on and nobody says anything: where that ends.
    mutating func settle() {
        var attempts = 0
        for _ in 0..<300 {
            if asked != nil {
                play(.written)
            } else if isAtRest {
                if !openWishes.isEmpty { faults.append("never answered: \(openWishes.values)") }
                return
            } else if case .reversing(let reversal) = machine.phase, attempts > 2, reversal.isAsking {
                play(.acknowledged)
            } else if machine.due != nil {
                if case .reversing = machine.phase { attempts += 1 }
                play(.due)
            } else {
                return faults.append("waits for nothing in \(machine.phase.name)")
            }
            guard faults.isEmpty else { return }
        }
        faults.append("comes to no end in \(machine.phase.name)")
    }

    /// Nothing can be said or written any more.
    var hasEnded: Bool { if case .ended = machine.phase { machine.writing == nil } else { false } }

    /// Nothing goes on by itself, and nothing has to.
    var isAtRest: Bool {
        switch machine.phase {
        case .ended, .stored, .approved(confirmBy: nil): machine.writing == nil
        case .sent(let question), .unknown(let question): question.isAtRest && machine.writing == nil
        default: false
        }
    }
}

extension [Effect] {
    /// For how long the device is to ask, and what others are told of it.
    var askedPIN: (demand: PINRequest?, time: Duration?, notice: PINNotice?) {
        var asked: (demand: PINRequest?, time: Duration?, notice: PINNotice?)
        for case .outward(let outward, _) in self {
            if case .askPIN(let demand, let time) = outward { (asked.demand, asked.time) = (demand, time) }
            if case .publish(let event) = outward, event.name == .pinRequested { asked.notice = event.pin }
        }
        return asked
    }
}

extension Phase {
    var name: String {
        switch self {
        case .created: "created"
        case .preparing: "preparing"
        case .armed: "armed"
        case .reading: "reading"
        case .sealed: "sealed"
        case .offered: "sealed, claim awaited"
        case .awaitingPIN: "sealed, PIN awaited"
        case .challenged: "sent, PIN awaited"
        case .sent: "sent"
        case .unknown: "unknown"
        case .linked: "linked"
        case .approved(confirmBy: nil): "approved"
        case .approved: "approved, unconfirmed"
        case .reversing: "reversing"
        case .leaving: "leaving"
        case .unwritten: "unwritten"
        case .settled: "settled"
        case .stored: "stored"
        case .ended: "ended"
        }
    }
}
