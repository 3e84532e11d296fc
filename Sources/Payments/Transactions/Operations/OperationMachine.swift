// SPDX-License-Identifier: Apache-2.0
import POSAPI
public import PSPAPI
public import PaymentValues

/// The life of a capture, an adjustment, a release or a refund without a card, without I/O: write, then act, then write what
/// came of it; after a restart ask, then act again under the same id.
///
/// It is never taken back for want of an answer: a capture is owed to the shop, a refund to the customer. It is sent again
/// only where the payment service says that it has never seen it, and only as long as the service keeps its key.
///
/// It has a stored property for each thing that decides about the next step; what a state alone knows is in `Step`.
public struct OperationMachine: Sendable {
    /// Before a question about what the service has and has not decided, at most.
    private static let longestLook: Duration = .seconds(5)

    private enum Step: Sendable {
        case resting(until: Int64)
        case connecting
        case writing(Int, OperationNote)
        /// An answer is on its way.
        case waiting(isSending: Bool)
        /// The service has it: asked again soon, in the same state.
        case looking(until: Int64)
        case ended
    }

    public let id: OperationID
    /// What is wanted: an answer about another amount answers nothing.
    public let amount: Money
    /// A part may be carried out: refunds only.
    public let hasParts: Bool
    private let times: AdapterTimes

    public private(set) var state: OperationState
    /// A person has to look at it; it is asked about, and never sent again.
    public private(set) var isStuck: Bool
    private var step: Step
    /// When it was sent for the first time, on the wall clock: what the key's life is counted from.
    private var firstSentAt: Timestamp?
    /// It has been sent before, and no answer proves what became of that.
    private var isInDoubt: Bool
    /// Never seen, the service said to the request itself, and nothing else since.
    private var isDenied = false
    /// Attempts that ended without an answer: how long the next one waits.
    private var rounds: Int
    private var unusable = 0
    private var number = 0
    private var question = 0
    private var askUntil = Int64.max
    private var look: Duration
    private var resolution: OperationResolution?
    /// Has come while a person's word was being written down.
    private var lateReply: OperationReply?
    /// How much was carried out, by a person's word.
    private var settled: Money?
    private var facts = OperationFacts()

    /// Answers that say nothing usable, before a person has to look.
    static let patience = 3

    /// - Parameters:
    ///   - state: as the journal has it; what is open goes on at once.
    ///   - firstSentAt: `nil` for what was never sent.
    public init(
        id: OperationID, amount: Money, hasParts: Bool = false, state: OperationState = .created,
        firstSentAt: Timestamp? = nil, attempts: Int = 0, isStuck: Bool = false, times: AdapterTimes = AdapterTimes(),
        at now: Moment
    ) {
        self.id = id
        self.amount = amount
        self.hasParts = hasParts
        self.state = state
        self.isStuck = isStuck
        self.firstSentAt = firstSentAt
        rounds = attempts
        self.times = times
        isInDoubt = state != .created
        look = times.pause
        step = state.isOpen ? .resting(until: now.monotonic) : .ended
    }

    public var isOver: Bool { if case .ended = step { true } else { false } }

    /// When its time comes, on the monotonic clock; `nil` while something else has to happen first.
    public var due: Int64? {
        switch step {
        case .resting(let time), .looking(let time): time
        case .connecting, .writing, .waiting, .ended: nil
        }
    }

    /// No byte has left, and none is about to.
    public var isWithdrawable: Bool {
        guard state == .created else { return false }
        switch step {
        case .resting, .connecting: return true
        case .writing, .waiting, .looking, .ended: return false
        }
    }

    public mutating func take(_ input: OperationInput, at now: Moment) -> [OperationEffect] {
        switch input {
        case .due(let facts): return goOn(facts)
        case .connected:
            guard case .connecting = step else { return [] }
            return mayBeSent(at: now) ? write(.sent) : rest()
        case .notConnected:
            guard case .connecting = step else { return [] }
            return rest()
        case .replied(let reply, let question): return take(reply, to: question, at: now)
        case .written(let number): return written(number, at: now)
        case .notWritten(let number):
            guard case .writing(number, let note) = step else { return [] }
            // What was read and not written is asked for again: the service gives the same answer.
            if case .contradicted = note { step = .ended } else { step = .resting(until: now.after(pause)) }
            rounds += 1
            return []
        case .withdraw:
            return isWithdrawable ? write(.refused(nil, .withdrawn)) : []
        case .resolve(let resolution):
            guard state == .unknown || state == .sent else { return [] }
            if case .writing = step {
                self.resolution = resolution
                return []
            }
            return write(.resolved(resolution))
        }
    }

    // MARK: - Going on

    private mutating func goOn(_ facts: OperationFacts) -> [OperationEffect] {
        self.facts = facts
        switch step {
        case .looking: return ask()
        case .resting: break
        case .connecting, .writing, .waiting, .ended: return []
        }
        switch state {
        case .created:
            if facts.isExpired { return write(.refused(nil, .expired)) }
            if facts.isUnsupported { return write(.refused(nil, .unsupported)) }
            step = .connecting
            return [.connect]
        // An earlier run has sent it, or was about to.
        case .sent: return write(.unknown(pause: .zero, isStuck: isStuck))
        case .unknown: return ask()
        case .done, .refused: return []
        }
    }

    private mutating func ask() -> [OperationEffect] {
        question += 1
        step = .waiting(isSending: false)
        return [.ask(question: question)]
    }

    private func mayBeSent(at now: Moment) -> Bool {
        !isStuck && (firstSentAt == nil || isKeyLifeOver(at: now) == false)
    }

    /// - Returns: `nil` where the clock cannot tell, or the service has not said how long that is.
    private func isKeyLifeOver(at now: Moment) -> Bool? {
        guard let firstSentAt else { return false }
        guard facts.isClockBelieved, let keyLife = facts.keyLife else { return nil }
        let age = now.wall.milliseconds.subtractingReportingOverflow(firstSentAt.milliseconds)
        guard !age.overflow, age.partialValue >= 0 else { return nil }
        // A day's key is used for twenty hours: the service's clock and the time on the way are others.
        return age.partialValue >= (keyLife * 5 / 6).milliseconds
    }

    private var pause: Duration { times.attempts.pause(after: rounds + 1) }

    private mutating func write(_ note: OperationNote) -> [OperationEffect] {
        number += 1
        step = .writing(number, note)
        return [.write(note, number: number)]
    }

    private mutating func rest() -> [OperationEffect] {
        let note: OperationNote = state == .created ? .resting(pause: pause) : .unknown(pause: pause, isStuck: isStuck)
        rounds += 1
        return write(note)
    }

    // MARK: - Answers

    private mutating func take(
        _ reply: OperationReply, to question: Int, at now: Moment
    ) -> [OperationEffect] {
        guard question == self.question else { return [] }
        if case .writing(_, .resolved) = step {
            lateReply = reply
            return []
        }
        guard case .waiting(let isSending) = step else { return late(reply) }
        switch reply {
        case .answered(let answer): return answered(answer, at: now)
        case .running: return running(at: now)
        case .neverSeen: return neverSeen(isSending: isSending, at: now)
        case .refused, .otherBody:
            // Who refuses a question says nothing about what was asked for.
            guard isSending else { return unknown(at: now) }
            if reply == .refused, !isInDoubt { return write(.refused(nil, .notTaken)) }
            isStuck = true
            return unknown(at: now)
        case .notDelivered, .unusable: return unknown(at: now)
        }
    }

    private mutating func answered(_ answer: AdapterOperationAnswer, at now: Moment) -> [OperationEffect] {
        guard isUsable(answer) else {
            unusable += 1
            if unusable >= Self.patience { isStuck = true }
            return unknown(at: now)
        }
        switch answer.outcome {
        case .approved, .partial: return write(.done(answer))
        case .declined: return write(.refused(answer, .declined))
        case .pending: return running(at: now)
        }
    }

    /// Whether it is about this operation, and about what was asked for.
    private func isUsable(_ answer: AdapterOperationAnswer) -> Bool {
        guard answer.id == id else { return false }
        if let account = answer.account, account.currency != amount.currency { return false }
        switch answer.outcome {
        case .approved: return answer.amountDone == nil || answer.amountDone == amount
        case .partial:
            guard hasParts, let done = answer.amountDone else { return false }
            return done.currency == amount.currency && done.value > 0 && done.value < amount.value
        case .declined, .pending: return true
        }
    }

    private mutating func running(at now: Moment) -> [OperationEffect] {
        isDenied = false
        guard state == .sent, now.after(look) < askUntil else { return unknown(at: now) }
        step = .looking(until: now.after(look))
        look = min(look * 2, Self.longestLook)
        return []
    }

    private mutating func neverSeen(isSending: Bool, at now: Moment) -> [OperationEffect] {
        // The service does not know what it was just sent: whether that is so, it says by itself.
        if isSending {
            if isInDoubt { isStuck = true }
            isDenied = true
            return isStuck ? unknown(at: now) : ask()
        }
        // Asked after a 404 to the only request there was: nobody has it. Where the service had said that it has it, one of
        // the two words is wrong.
        if state == .sent, !isInDoubt, isDenied { return write(.refused(nil, .notTaken)) }
        guard state == .unknown, mayBeSent(at: now) else { return unknown(at: now) }
        step = .connecting
        return [.connect]
    }

    private mutating func unknown(at now: Moment) -> [OperationEffect] {
        isInDoubt = true
        if isKeyLifeOver(at: now) == true { isStuck = true }
        return rest()
    }

    /// After its end: the first final answer counts.
    private mutating func late(_ reply: OperationReply) -> [OperationEffect] {
        guard case .ended = step, case .answered(let answer) = reply, answer.id == id else { return [] }
        let isDone = answer.outcome == .approved || answer.outcome == .partial
        let isContrary = isDone && state == .refused || answer.outcome == .declined && state == .done
        // Carried out as a person has said, and another sum than that person has said.
        let isOtherSum = isDone && settled.map { $0 != answer.amountDone ?? amount } ?? false
        return isContrary || isOtherSum ? write(.contradicted) : []
    }

    // MARK: - The journal

    private mutating func written(_ number: Int, at now: Moment) -> [OperationEffect] {
        guard case .writing(number, let note) = step else { return [] }
        switch note {
        case .sent:
            isInDoubt = firstSentAt != nil
            if firstSentAt == nil { firstSentAt = now.wall }
            state = .sent
            askUntil = now.after(times.answer)
            look = times.pause
            question += 1
            step = .waiting(isSending: true)
            return [.send(question: question)]
        case .unknown(let pause, _):
            state = .unknown
            step = .resting(until: now.after(pause))
        case .resting(let pause): step = .resting(until: now.after(pause))
        case .done: end(.done)
        case .refused: end(.refused)
        case .resolved(let resolution):
            end(resolution.isDone ? .done : .refused)
            if resolution.isDone { settled = resolution.settlement?.amount ?? amount }
            return lateReply.map { late($0) } ?? []
        case .contradicted: step = .ended
        }
        guard !isOver, let resolution else { return [] }
        self.resolution = nil
        return write(.resolved(resolution))
    }

    private mutating func end(_ state: OperationState) {
        self.state = state
        step = .ended
    }
}
