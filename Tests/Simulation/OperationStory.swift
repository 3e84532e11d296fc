// SPDX-License-Identifier: Apache-2.0
import Ledger
import POSAPI
import PSPAPI
import PaymentValues
import Transactions

/// One approved payment and all that is wished of it, out of one seed: the books, a machine for each wish, a journal that
/// survives deaths, a payment service that lies, and a clock that leaps. After each step the books equal the model; in the
/// end, in which everybody is honest, they equal the payment service's purse.
struct OperationStory {
    /// What a journal keeps of an operation or a refund.
    private struct Row {
        let id: OperationID
        let wish: ModelLedger.Wish
        let value: Int64
        var state = OperationState.created
        /// Of a refund, which is a transaction of its own.
        var refund: TransactionState?
        var firstSentAt: Timestamp?
        var attempts = 0
        var isStuck = false
    }

    private enum Coming {
        case effect(Int, OperationEffect)
        /// And what comes right behind it.
        case reply(Int, OperationReply, question: Int, then: OperationReply? = nil)
    }

    static let euro = Currency("EUR") ?? .none
    private static let begin = Timestamp(milliseconds: 1_795_318_000_000)

    private var dice: Dice
    private var books: PaymentLedger
    private var model: ModelLedger
    private var teller: Teller
    private var rows: [Row] = []
    private var machines: [Int: OperationMachine] = [:]
    private var coming: [Coming] = []
    private var now: Int64 = 0
    private var isHonest = false
    let isTold: Bool
    private(set) var lines: [String] = []
    private(set) var faults: [String] = []
    /// What a person had to end, and how often the daemon died.
    private(set) var (settled, deaths) = (0, 0)
    var operations: Int { rows.count }

    init(seed: UInt64, isTold: Bool = false) {
        var dice = Dice(seed ^ 0x0F)
        let isManual = dice.happens(700)
        let approved = 1 + dice.upTo(dice.happens(200) ? 10 : 10_000)
        let maximum = isManual && dice.happens(300) ? approved * 2 : nil
        books = PaymentLedger(
            payment: TransactionID(at: Self.begin), currency: Self.euro, capture: isManual ? .manual : .automatic)
        _ = books.approved(approved, maximumCapture: maximum)
        model = ModelLedger(approved: approved, isManual: isManual, maximum: maximum)
        teller = Teller(approved: approved, isManual: isManual, maximum: maximum, &dice)
        self.dice = dice
        self.isTold = isTold
        tell("approved \(approved), \(isManual ? "held" : "taken"), at most \(maximum.map { "\($0)" } ?? "that")")
        for _ in 0..<20 + Int(self.dice.upTo(100)) where faults.isEmpty { step() }
        if faults.isEmpty { settle() }
    }

    private mutating func tell(_ line: @autoclosure () -> String) {
        if isTold { lines.append("\(now) \(line())") }
    }

    private var moment: Moment {
        Moment(monotonic: now, wall: Timestamp(milliseconds: Self.begin.milliseconds + now))
    }

    // MARK: - Steps

    private mutating func step() {
        switch dice.upTo(100) {
        case 0..<18: wish()
        case 18..<24: passTime()
        case 24..<27: die()
        case 27..<29:
            if let number = machines.keys.sorted().first { take(.withdraw, number) }
        case 29:
            // The sum is held no longer; nobody is on the way to take it.
            if books.openOperation == nil, books.hold > 0, dice.happens(200) {
                tell("expired")
                _ = books.expired()
                model.expire()
                teller.hold = 0
            }
        default: deliver(at: coming.isEmpty ? 0 : Int(dice.upTo(Int64(coming.count))))
        }
        compare()
    }

    private mutating func amount(_ limit: Int64) -> Int64? {
        switch dice.upTo(6) {
        case 0: nil
        case 1: limit
        case 2: limit + 1
        case 3: limit / 2
        case 4: dice.upTo(3) - 1
        default: dice.upTo(max(1, limit)) + 1
        }
    }

    private mutating func wish() {
        let wish: ModelLedger.Wish =
            switch dice.upTo(20) {
            case 0..<7:
                .capture(
                    amount: amount(model.capturableUpTo), tip: dice.happens(200) ? dice.upTo(500) : 0,
                    isFinal: dice.happens(350))
            case 7..<10: .adjust(total: dice.upTo(12_000) - 5)
            case 10: .extend
            case 11..<14: .release(amount: amount(model.remaining))
            case 14..<19: .refund(amount: amount(model.refundable))
            default: .reverse
            }
        let isAllowed = model.allows(wish)
        let id = OperationID(at: Timestamp(milliseconds: Self.begin.milliseconds + Int64(rows.count)))
        var isAccepted = true
        do throws(LedgerRefusal) { try request(wish, id) } catch {
            isAccepted = false
            tell("\(wish) is refused: \(error)")
        }
        guard isAccepted == isAllowed else {
            return faults.append("\(wish): \(isAccepted ? "accepted" : "refused"), and should not have been")
        }
        guard isAccepted else { return }
        if wish == .reverse {
            tell("reversed")
            model.reverse()
            teller.isReversed = true
            (teller.hold, teller.captured) = (0, 0)
            return
        }
        let number = rows.count
        let value = model.begin(number, wish)
        tell("\(number): \(wish) of \(value)")
        var row = Row(id: id, wish: wish, value: value)
        if case .refund = wish { row.refund = .created }
        rows.append(row)
        machines[number] = machine(number)
        take(.due(facts()), number)
    }

    private mutating func request(_ wish: ModelLedger.Wish, _ id: OperationID) throws(LedgerRefusal) {
        switch wish {
        case .capture(let amount, let tip, let isFinal):
            _ = try books.requestCapture(id, amount: amount, tip: tip, isFinal: isFinal, at: moment.wall)
        case .adjust(let total): _ = try books.requestAdjustment(id, total: total)
        case .extend: _ = try books.requestExtension(id)
        case .release(let amount): _ = try books.requestRelease(id, amount: amount)
        case .refund(let amount): _ = try books.requestRefund(TransactionID(id.text) ?? .init(), amount: amount)
        case .reverse: _ = try books.requestReversal()
        }
    }

    private func facts() -> OperationFacts { OperationFacts(keyLife: .milliseconds(teller.keyLife)) }

    private func machine(_ number: Int) -> OperationMachine {
        let row = rows[number]
        var isRefund = false
        if case .refund = row.wish { isRefund = true }
        return OperationMachine(
            id: row.id, amount: Money(value: row.value, currency: Self.euro), hasParts: isRefund, state: row.state,
            firstSentAt: row.firstSentAt, attempts: row.attempts, isStuck: row.isStuck, at: moment)
    }

    /// To the next thing that is due, or over it by hours.
    private mutating func passTime() {
        guard let next = machines.compactMap({ entry in entry.value.due.map { ($0, entry.key) } }).min(by: <) else {
            return
        }
        now = max(now, next.0)
        if !isHonest, dice.happens(30) { now += dice.upTo(30 * 3_600_000) }
        take(.due(facts()), next.1)
    }

    /// Everything in memory is gone, and so is what was on its way.
    private mutating func die() {
        deaths += 1
        tell("the daemon dies")
        coming = []
        machines = [:]
        for number in rows.indices where rows[number].state.isOpen { machines[number] = machine(number) }
    }

    private mutating func take(_ input: OperationInput, _ number: Int) {
        guard var machine = machines[number] else { return }
        let effects = machine.take(input, at: moment)
        machines[number] = machine
        coming += effects.map { .effect(number, $0) }
    }

    // MARK: - What is on its way

    private mutating func deliver(at index: Int) {
        guard coming.indices.contains(index) else { return passTime() }
        switch coming.remove(at: index) {
        case .reply(let number, let reply, let question, let then):
            tell("\(number): \(reply)")
            take(.replied(reply, question: question), number)
            if let then { coming.append(.reply(number, then, question: question)) }
        case .effect(let number, let effect):
            switch effect {
            case .connect: take(!isHonest && dice.happens(100) ? .notConnected : .connected, number)
            case .write(let note, let serial):
                // Of a write that failed nobody knows whether it is on the disk.
                let isLost = !isHonest && dice.happens(30)
                if isLost, dice.happens(700) { return take(.notWritten(serial), number) }
                guard isPossible(note, number) else { return takeUpAnew(number) }
                write(note, number)
                if isLost { return take(.notWritten(serial), number) }
                // Between what is written and what follows from it.
                if !isHonest, dice.happens(30) { return die() }
                take(.written(serial), number)
            case .send(let question):
                let row = rows[number]
                let reply = teller.receive(number, row.id, row.wish, row.value, at: now, &dice)
                answer(reply, number, question)
            case .ask(let question): answer(teller.tell(number, rows[number].id, at: now, &dice), number, question)
            }
        }
    }

    private mutating func answer(_ reply: OperationReply, _ number: Int, _ question: Int) {
        var then: OperationReply?
        if !isHonest, dice.happens(50) {
            // Twice, or the contrary right behind the truth.
            then = reply
            if dice.happens(500), case .answered(var other) = reply, other == teller.answers[number] {
                other.outcome = other.outcome == .declined ? .approved : .declined
                then = .answered(other)
            }
        }
        coming.append(.reply(number, reply, question: question, then: then))
    }

    private mutating func write(_ note: OperationNote, _ number: Int) {
        tell("\(number): \(note) is written")
        let row = rows[number]
        switch note {
        case .sent:
            move(number, by: note)
            rows[number].attempts += 1
            if row.firstSentAt == nil { rows[number].firstSentAt = moment.wall }
        case .unknown(_, let isStuck):
            move(number, by: note)
            rows[number].isStuck = row.isStuck || isStuck
        case .resting, .contradicted: break
        case .done(let answer): end(number, note, done: answer.amountDone?.value ?? row.value)
        case .refused: end(number, note, done: nil)
        case .resolved(let resolution): end(number, note, done: resolution.isDone ? teller.done(number) : nil)
        }
    }

    /// Whether the journal takes it. What ended by a write that seemed to fail takes nothing more.
    private mutating func isPossible(_ note: OperationNote, _ number: Int) -> Bool {
        let row = rows[number]
        guard !row.state.isOpen else {
            let isLegal: Bool =
                if let refund = row.refund {
                    note.state(ofRefund: refund).map { refund.successors.contains($0) } ?? true
                } else {
                    note.state(after: row.state).map { row.state.successors.contains($0) } ?? true
                }
            // No write has failed that could have left another state: what is impossible here is impossible in every shop.
            if !isLegal { faults.append("\(number): \(note) after \(row.state)") }
            return isLegal
        }
        if case .contradicted = note { return true }
        return false
    }

    /// As an engine does with what its journal knows otherwise.
    private mutating func takeUpAnew(_ number: Int) {
        tell("\(number): the journal knows it otherwise")
        machines[number] = rows[number].state.isOpen ? machine(number) : nil
    }

    private mutating func move(_ number: Int, by note: OperationNote) {
        if let refund = rows[number].refund {
            let next = note.state(ofRefund: refund) ?? refund
            rows[number].refund = next
            rows[number].state = next.asOperation
        } else if let next = note.state(after: rows[number].state) {
            rows[number].state = next
            _ = books.moved(rows[number].id, to: next)
        }
    }

    private mutating func end(_ number: Int, _ note: OperationNote, done: Int64?) {
        move(number, by: note)
        let row = rows[number]
        var booking = Posting.contradicted
        if case .refund = row.wish {
            if let id = TransactionID(row.id.text) {
                booking = books.refundAnswered(id, done.map(RefundAnswer.done) ?? .refused)
            }
        } else {
            booking = books.answered(row.id, done == nil ? .refused : .done())
        }
        guard case .rows = booking else { return faults.append("\(number): \(booking)") }
        model.end(number, done: done)
    }

    // MARK: - The end

    /// Everybody is honest, and a person asks about what is stuck.
    private mutating func settle() {
        isHonest = true
        teller.becomeHonest()
        tell("everybody is honest")
        for _ in 0..<5_000 {
            guard rows.contains(where: { $0.state.isOpen && !$0.isStuck }) || !coming.isEmpty else { break }
            deliver(at: 0)
        }
        for number in rows.indices where rows[number].state.isOpen {
            guard rows[number].isStuck else { return faults.append("\(number) has no end, and is no open item") }
            settled += 1
            let resolution = OperationResolution(isDone: teller.done(number) != nil, evidence: "asked")
            take(.resolve(resolution), number)
            for _ in 0..<50 where rows[number].state.isOpen { deliver(at: 0) }
            if rows[number].state.isOpen { faults.append("\(number) cannot be settled") }
        }
        compare()
        faults += teller.faults
        for number in rows.indices where (rows[number].state == .done) != (teller.done(number) != nil) {
            let there = teller.done(number).map { "\($0)" } ?? "nothing"
            faults.append("\(number) is \(rows[number].state), and \(there) there")
        }
        let account = books.account
        if books.hold != teller.hold { faults.append("\(books.hold) held here, \(teller.hold) there") }
        if !books.isReversed, account.captured != teller.captured || account.refunded != teller.refunded {
            faults.append("\(account) here, \(teller.captured) captured and \(teller.refunded) refunded there")
        }
    }

    private mutating func compare() {
        let account = books.account
        let ours = [
            account.authorised, account.captured, account.released, account.refunded, account.pendingCapture,
            account.pendingRefund, account.remaining, account.capturableUpTo, account.refundable,
        ]
        if ours != model.figures { faults.append("\(ours) in the books, \(model.figures) in the model") }
        faults += books.contradictions
    }
}
