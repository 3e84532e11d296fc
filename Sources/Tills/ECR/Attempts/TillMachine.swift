// SPDX-License-Identifier: Apache-2.0

/// The attempts of one lane, and the one table of what becomes of a request that finds another one there. It knows no protocol:
///
/// | the lane has | a request with the identity of that sale | any other request |
/// |---|---|---|
/// | one that runs, is approved or being told | joins it | is refused: busy |
/// | one that was given up | waits for its end | waits for its end |
/// | none; the sale was paid | gets the old result | is a new payment |
/// | none; the sale was not paid or taken back | is a new payment | is a new payment |
public struct TillMachine: Sendable {
    public enum Admission: Equatable, Sendable {
        case started(AttemptKey)
        case same(Attempt)
        case wait
        case busy
    }

    /// How many finished attempts are kept whole, whatever they are.
    public static let kept = 64
    /// An approval is not told in the last seconds before the daemon takes it back by itself.
    static let margin: Int64 = 5_000
    /// The same card and sum within this time is suspicious.
    static let suspicion: Int64 = 60_000

    public let lane: String
    public let installation: String
    /// The number of the newest attempt.
    public private(set) var counter: UInt64
    public private(set) var open: Attempt?
    /// Those that are kept whole, oldest first: the newest, and any to which something can happen yet.
    public private(set) var finished: [Attempt] = []
    /// What is kept of the others.
    public private(set) var past: AttemptArchive
    /// Attempts up to this number belong to closed batches.
    public private(set) var closedThrough: UInt64
    let refundLimit: RefundLimit?
    /// As `TillInput.day` says it.
    private(set) var today: UInt32 = 0
    private let keeps: Int
    /// Milliseconds for which an approval stays whole, since it can be reversed or looks like another one.
    private let keepTime: Int64
    /// When the newest approval came.
    private var latest: Int64 = .min

    /// - Parameters:
    ///   - counter: the highest number that was ever given out, also of attempts that are not kept any more.
    ///   - attempts: what the ledger keeps whole, in any order.
    ///   - past: what it keeps of all others.
    ///   - reversalTime: milliseconds within which an approval can be reversed.
    ///   - keeps: how many attempts stay whole at least.
    public init(
        lane: String, installation: String, counter: UInt64 = 0, attempts: [Attempt] = [],
        past: AttemptArchive = AttemptArchive(), closedThrough: UInt64 = 0, refundLimit: RefundLimit? = nil,
        reversalTime: Int64 = 0, keeps: Int = TillMachine.kept
    ) {
        self.lane = lane
        self.installation = installation
        self.refundLimit = refundLimit
        self.past = past
        self.keeps = keeps
        keepTime = max(reversalTime, TillMachine.suspicion)
        self.counter = attempts.reduce(counter) { max($0, $1.highest) }
        self.closedThrough = closedThrough
        let ordered = attempts.sorted { $0.number < $1.number }.map { attempt in
            // The clock of another run says nothing in this one.
            var attempt = attempt
            attempt.settledAt = nil
            return attempt
        }
        // Never more than one: a second one could only come from a damaged ledger, and is brought to its end as given up.
        open = ordered.last { $0.phase.isOpen }
        finished = ordered.filter { $0.number != open?.number }
        takePast()
    }

    /// Of what a till has asked for.
    public var last: Attempt? {
        if let open, open.order.kind != .read { return open }
        return finished.last { $0.order.kind != .read }
    }

    /// One that is kept whole.
    public func attempt(_ key: AttemptKey) -> Attempt? {
        open?.key == key ? open : finished.last { $0.key == key }
    }

    /// Also a sale that is not kept whole, if its till has a name for it.
    func attempt(_ number: UInt64) -> Attempt? {
        open?.number == number
            ? open : finished.last { $0.number == number } ?? past.sale(number).map { again($0) }
    }

    // MARK: - After a restart

    /// - Parameter keepsWaiting: the till finds its payment again by its identity, and goes on asking for it.
    mutating func restore(keepsWaiting: Bool, _ effects: inout [TillEffect]) {
        for attempt in finished {
            if let booking = attempt.booking, booking.phase == .asked {
                effects.append(.book(booking, of: attempt.key))
            }
            switch attempt.phase {
            case .told: effects.append(.confirm(attempt.key))
            case .takingBack: effects.append(.takeBack(attempt.key, .notDelivered))
            case .reversing: effects.append(.reverse(attempt.key))
            case .running, .givenUp, .approved, .telling:
                var second = attempt
                second.phase = .takingBack
                replace(second, &effects)
                effects.append(.takeBack(attempt.key, .notDelivered))
            case .confirmed, .takenBack, .notPaid, .reversed: break
            }
        }
        guard var attempt = open else { return }
        switch attempt.phase {
        case .running where keepsWaiting:
            effects.append(.lookUp(attempt.key))
        case .running, .givenUp:
            attempt.phase = .givenUp
            set(attempt, &effects)
            effects += [.lookUp(attempt.key), .cancel(attempt.key)]
        case .approved, .telling:
            if attempt.phase == .telling { effects.append(.alarm(.endedWhileTelling(attempt.key))) }
            takeBack(attempt.key, .notDelivered, &effects)
        case .told, .confirmed, .takingBack, .takenBack, .notPaid, .reversing, .reversed: break
        }
    }

    // MARK: - Requests

    /// - Parameters:
    ///   - confirmWithin: seconds within which the till has to know of an approval.
    ///   - deadline: seconds within which a card has to be presented.
    mutating func ask(
        _ order: TillOrder, peer: String, confirmWithin: Int, deadline: Int = 90, _ effects: inout [TillEffect]
    ) -> Admission {
        if let open {
            if open.phase == .givenUp { return .wait }
            return order.isRepeat(of: open.order) ? .same(open) : .busy
        }
        // A hold that is at its end may be taken anew.
        if let paid = finished.last(where: {
            order.isRepeat(of: $0.order) && $0.phase.isPaid && (order.kind != .reservation || $0.isHeld)
        })
            ?? past.sale(like: order).map({ again($0) })
        {
            return .same(paid)
        }
        counter += 1
        let key = AttemptKey(lane: lane, installation: installation, counter: counter)
        let day = order.kind == .refund ? today : nil
        set(Attempt(key: key, number: counter, order: order, peer: peer, day: day), &effects)
        effects.append(
            isAboveLimit(order)
                ? .refuse(key, TillRefusal(.limitExceeded))
                : .start(StartRequest(key: key, order: order, deadline: deadline, confirmWithin: confirmWithin)))
        return .started(key)
    }

    /// Was asked for, and is not begun: the till finds it where it looks for its last payment.
    mutating func refuse(_ order: TillOrder, peer: String, _ refusal: TillRefusal, _ effects: inout [TillEffect]) {
        counter += 1
        let key = AttemptKey(lane: lane, installation: installation, counter: counter)
        var attempt = Attempt(key: key, number: counter, order: order, peer: peer, phase: .notPaid)
        attempt.refusal = refusal
        effects.append(.record(attempt))
        keep(attempt)
    }

    /// Nobody waits for it any more: it is cancelled, and taken back if it is approved all the same.
    mutating func giveUp(_ key: AttemptKey, _ effects: inout [TillEffect]) {
        guard var attempt = open, attempt.key == key else { return }
        switch attempt.phase {
        case .running:
            attempt.phase = .givenUp
            set(attempt, &effects)
            effects.append(.cancel(key))
        case .approved, .telling: takeBack(key, .notDelivered, &effects)
        case .givenUp, .told, .confirmed, .takingBack, .takenBack, .notPaid, .reversing, .reversed: break
        }
    }

    // MARK: - Outcomes

    /// - Returns: the attempt as it is now, if whoever waits for it has to hear of it; `nil` if nothing has changed or nobody waits.
    mutating func settle(
        _ key: AttemptKey, _ outcome: TillOutcome, at now: Int64, _ effects: inout [TillEffect]
    ) -> Attempt? {
        guard var attempt = open, attempt.key == key else { return nil }
        switch (attempt.phase, outcome) {
        case (.running, .approved(let approval)):
            guard approval.amount == attempt.order.amount else {
                takeBack(key, .otherAmount, &effects)
                return self.attempt(key)
            }
            attempt.phase = .approved
            attempt.approval = approval
            // The daemon waits for its confirmation since then.
            let (then, overflow) = now.subtractingReportingOverflow(max(0, approval.age))
            attempt.settledAt = overflow ? .min : then
            latest = max(latest, now)
            set(attempt, &effects)
            return attempt
        case (.running, .notPaid(let refusal)):
            finish(&attempt, .notPaid, refusal, &effects)
            return attempt
        case (.givenUp, .approved):
            takeBack(key, .notDelivered, &effects)
            return nil
        case (.givenUp, .notPaid(let refusal)):
            finish(&attempt, .notPaid, refusal, &effects)
            return nil
        // The daemon has taken it back by itself, since nobody confirmed it in time.
        case (.approved, .notPaid), (.telling, .notPaid):
            finish(&attempt, .takenBack, TillRefusal(.takenBack), &effects)
            return attempt
        case (_, _): return nil
        }
    }

    /// - Returns: whether the till can still be told of the approval. If not, it is taken back.
    mutating func beginTelling(
        _ key: AttemptKey, at now: Int64, confirmWithin: Int, _ effects: inout [TillEffect]
    ) -> Bool {
        guard var attempt = open, attempt.key == key, let settledAt = attempt.settledAt,
            attempt.phase == .approved || attempt.phase == .telling
        else { return false }
        guard TillMachine.isInTime(settledAt, now, confirmWithin) else {
            takeBack(key, .late, &effects)
            return false
        }
        if attempt.phase == .approved {
            attempt.phase = .telling
            set(attempt, &effects)
        }
        return true
    }

    /// The till was not reached, and will ask again.
    mutating func notTold(_ key: AttemptKey, _ effects: inout [TillEffect]) {
        guard var attempt = open, attempt.key == key, attempt.phase == .telling else { return }
        attempt.phase = .approved
        set(attempt, &effects)
    }

    /// The till knows of the approval.
    mutating func told(_ key: AttemptKey, at now: Int64, _ effects: inout [TillEffect]) {
        guard var attempt = open, attempt.key == key, attempt.phase == .telling else {
            let phase = self.attempt(key)?.phase
            if phase == .takingBack || phase == .takenBack { effects.append(.alarm(.toldButNotKept(key))) }
            return
        }
        if isSuspicious(attempt) { effects.append(.alarm(.sameCardAgain(key))) }
        attempt.phase = .told
        set(attempt, &effects)
        effects.append(.confirm(key))
    }

    mutating func takeBack(_ key: AttemptKey, _ reason: TakeBackReason, _ effects: inout [TillEffect]) {
        guard var attempt = attempt(key) else { return }
        switch attempt.phase {
        case .running, .givenUp, .approved, .telling, .told, .confirmed:
            finish(&attempt, .takingBack, TillRefusal(.takenBack), &effects)
            effects.append(.takeBack(key, reason))
        case .takingBack, .takenBack, .notPaid, .reversing, .reversed: break
        }
    }

    mutating func reverse(_ key: AttemptKey, _ effects: inout [TillEffect]) {
        guard var attempt = attempt(key), attempt.phase.isPaid else { return }
        attempt.phase = .reversing
        attempt.reversal = spend(&effects)
        replace(attempt, &effects)
        effects.append(.reverse(key))
    }

    // MARK: - Answers

    /// What the daemon has said to a confirmation, a reversal, a booking or an approval that was taken back; or a new day.
    mutating func acknowledged(_ input: TillInput, _ effects: inout [TillEffect]) {
        switch input {
        case .confirmed(let key): move(key, from: .told, to: .confirmed, &effects)
        case .takenBack(let key): move(key, from: .takingBack, to: .takenBack, &effects)
        case .reversed(let key, .done), .reversed(let key, .already):
            move(key, from: .reversing, to: .reversed, &effects)
        case .reversed(let key, .refused): move(key, from: .reversing, to: .confirmed, &effects)
        case .booked(let key, let answer, let time): booked(key, answer, time, &effects)
        case .day(let day): today = day
        case .notConfirmed(let key):
            guard attempt(key)?.phase == .told else { return }
            move(key, from: .told, to: .takenBack, &effects)
            effects.append(.alarm(.toldButNotKept(key)))
        case .restored, .connected, .bytes, .lost, .sent, .timer, .settled, .progress, .tooLate, .receipts,
            .identified, .reversed(_, .unknown):
            break
        }
    }

    /// A number for what is no payment of its own.
    mutating func spend(_ effects: inout [TillEffect]) -> UInt64 {
        counter += 1
        effects.append(.spend(counter))
        return counter
    }

    mutating func closeBatch(_ effects: inout [TillEffect]) {
        closedThrough = counter
        past.closeBatch()
        effects.append(.closeBatch(through: counter))
    }

    // MARK: - Keeping

    private static func isInTime(_ settledAt: Int64, _ now: Int64, _ confirmWithin: Int) -> Bool {
        let (elapsed, overflow) = now.subtractingReportingOverflow(settledAt)
        return !overflow && elapsed >= 0 && elapsed <= Int64(clamping: confirmWithin) * 1_000 - margin
    }

    private func isSuspicious(_ attempt: Attempt) -> Bool {
        guard let card = attempt.approval?.maskedCard, let now = attempt.settledAt else { return false }
        return finished.contains { other in
            guard other.phase.isPaid, other.order.kind == attempt.order.kind,
                other.order.amount == attempt.order.amount,
                other.approval?.maskedCard == card, let then = other.settledAt
            else { return false }
            let (elapsed, overflow) = now.subtractingReportingOverflow(then)
            return !overflow && elapsed <= TillMachine.suspicion
        }
    }

    private mutating func move(
        _ key: AttemptKey, from: Attempt.Phase, to: Attempt.Phase, _ effects: inout [TillEffect]
    ) {
        guard var attempt = attempt(key), attempt.phase == from else { return }
        attempt.phase = to
        replace(attempt, &effects)
    }

    private mutating func finish(
        _ attempt: inout Attempt, _ phase: Attempt.Phase, _ refusal: TillRefusal, _ effects: inout [TillEffect]
    ) {
        attempt.phase = phase
        attempt.refusal = refusal
        if attempt.number == open?.number { set(attempt, &effects) } else { replace(attempt, &effects) }
    }

    /// The open attempt, which is finished by its phase.
    private mutating func set(_ attempt: Attempt, _ effects: inout [TillEffect]) {
        effects.append(.record(attempt))
        guard !attempt.phase.isOpen else {
            open = attempt
            return
        }
        open = nil
        keep(attempt)
    }

    mutating func replaceOpen(_ attempt: Attempt, _ effects: inout [TillEffect]) {
        if attempt.key == open?.key { set(attempt, &effects) }
    }

    private mutating func keep(_ attempt: Attempt) {
        if let last = finished.indices.last { finished[last].dropReceipts() }
        finished.append(attempt)
        takePast()
    }

    private mutating func takePast() {
        let (latest, keepTime, recent) = (latest, keepTime, counter - min(counter, UInt64(keeps)))
        finished = past.take(finished, keeping: keeps, closedThrough: closedThrough) { attempt in
            if attempt.highest > recent { return true }
            guard let settledAt = attempt.settledAt else { return false }
            let (elapsed, overflow) = latest.subtractingReportingOverflow(settledAt)
            return !overflow && elapsed <= keepTime
        }
    }

    mutating func replace(_ attempt: Attempt, _ effects: inout [TillEffect]) {
        guard let index = finished.lastIndex(where: { $0.key == attempt.key }) else { return }
        effects.append(.record(attempt))
        finished[index] = attempt
    }
}
