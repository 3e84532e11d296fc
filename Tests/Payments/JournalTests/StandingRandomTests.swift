// SPDX-License-Identifier: Apache-2.0
import Ledger
import POSAPI
import PaymentValues
import TestSupport
import Testing
import Transactions

/// A machine, a daemon that dies at its writes, and a payment service, for one session. The books are the real ones; the disk is a
/// value that a write replaces; the purse adds up what was really carried out and knows nothing of rows.
private struct Story {
    /// What a power cut leaves.
    struct Disk {
        var session: StandingSession
        var books: PaymentLedger
        var confirmedAt: Timestamp?
        var isReversing = false
        /// How far what was read and kept is, in mode `ask`; `nil` otherwise.
        var kept: TransactionState?
    }

    static let rules = SessionRules(release: 3_600, maximum: 9_000)
    static let claim: Int64 = 60_000

    var disk: Disk
    /// Milliseconds.
    var now: Int64 = 0
    var held: Int64
    var paid: Int64 = 0
    /// In the memory of the process.
    var due: Int64?
    var deaths = 0
    /// At which of its writes, and whether before or after it.
    private(set) var diedAt: Set<String> = []
    /// Each write that there is.
    private(set) var writes: Set<String> = []
    /// What was read, in the memory of the process: no other one has it.
    private var hasRead = false
    /// So often the payment service got it.
    private(set) var asked = 0
    let mode: StandingMode
    /// What the tap asked for.
    let amount: Int64
    private let confirmDue: Int64
    private var generator: SeededGenerator
    private var carriedOut: Set<OperationID> = []

    init(_ number: Int) throws {
        generator = SeededGenerator(seed: UInt64(number) + 45)
        mode = [.sale, .hold, .ask][number % 3]
        let id = TransactionID()
        let amount = Int64.random(in: 100...5_000, using: &generator)
        var books = PaymentLedger(
            payment: id, currency: try #require(Currency("EUR")), capture: mode == .sale ? .automatic : .manual)
        if mode != .ask { _ = books.approved(amount, isAwaitingConfirmation: true) }
        let tap = StandingTap(
            number: 1, mode: mode, claim: 60, release: Story.rules.release,
            amount: Money(value: amount, currency: books.currency))
        disk = Disk(session: try #require(tap.session(id, at: Timestamp(milliseconds: 0))), books: books)
        if mode == .ask { (disk.kept, hasRead) = (.sealed, true) }
        (confirmDue, self.amount) = (Story.claim, amount)
        (held, paid) = mode == .hold ? (amount, 0) : mode == .sale ? (0, amount) : (0, 0)
    }

    private var transaction: Transaction {
        var transaction = Transaction(
            id: disk.session.id, type: .purchase, mode: .test, lane: "pump",
            amount: Money(value: 1, currency: disk.books.currency), createdAt: Timestamp(milliseconds: 0))
        transaction.state = disk.isReversing ? .reversing : disk.kept ?? .approved
        transaction.account = disk.books.account
        guard mode != .ask else { return transaction }
        transaction.confirmation = Confirmation(
            due: Timestamp(milliseconds: confirmDue), confirmedAt: disk.confirmedAt)
        return transaction
    }

    var stage: SessionStage { SessionStage(disk.session, transaction) }

    mutating func chance(_ one: Int, in all: Int) -> Bool { Int.random(in: 0..<all, using: &generator) < one }
    mutating func pick(_ range: ClosedRange<Int64>) -> Int64 { .random(in: range, using: &generator) }

    /// One write of the journal, at which the process may die: before it, or after it and before anything follows.
    ///
    /// - Returns: whether the process goes on.
    private mutating func write(_ what: String, _ change: (inout Disk) -> Void) -> Bool {
        let fate = Int.random(in: 0..<20, using: &generator)
        writes.insert(what)
        if fate != 0 { change(&disk) }
        guard fate > 1 else {
            deaths += 1
            diedAt.insert("\(what), \(fate == 0 ? "before" : "after")")
            now += pick(100...5_000)
            start()
            return false
        }
        return true
    }

    /// After a death: what is open goes on, and the hold gets the rest of its time.
    private mutating func start() {
        (due, hasRead) = (nil, false)
        // Nothing that was read before is sent, and what may have been approved is taken back.
        if disk.kept == .sealed, !write("a start forgets a read", { $0.kept = .failed }) { return }
        if disk.kept == .sent, !write("a start takes back", { ($0.isReversing, $0.kept) = (true, nil) }) { return }
        if disk.isReversing { takeBack() }
        if let open = disk.books.openOperation { _ = goOn(open) }
        guard stage == .open || stage == .settling else { return }
        due =
            now + disk.session.wait(from: Timestamp(milliseconds: now), isClockBelieved: true, Story.rules)
    }

    /// Time passes: whatever is due comes up to 20 s late, as a loop of the daemon may be.
    mutating func pass(_ milliseconds: Int64) {
        let end = now + milliseconds
        while now < end {
            let next = [stage == .offered ? confirmDue + 1 : nil, stage == .open ? due : nil].compactMap(\.self).min()
            now = min(end, max(next ?? end, now) + pick(1...20_000))
            if stage == .offered, now > confirmDue {
                if mode == .ask { _ = forget() } else { _ = reverse() }
            }
            if let due, due <= now, stage == .open { _ = serve(.release) }
        }
    }

    /// - Returns: what the machine hears; `nil` where the process died meanwhile, or the line is cut.
    mutating func serve(_ wish: SessionRequest) -> SessionStep? {
        let step = disk.session.step(
            for: wish, stage, held: disk.books.account.remaining, Story.rules, at: Timestamp(milliseconds: now))
        let goesOn: Bool
        switch step {
        case .confirm(let reference, let releaseAt):
            guard now <= confirmDue else { return .refused(.sessionOver) }
            let time = Timestamp(milliseconds: now)
            goesOn = write("claim") {
                ($0.confirmedAt, $0.session.reference, $0.session.releaseAt) = (time, reference, releaseAt)
                $0.books.confirmed()
            }
            if goesOn { due = releaseAt.milliseconds }
        case .send(let reference, let releaseAt):
            guard hasRead, now <= confirmDue else { return .refused(.sessionOver) }
            goesOn =
                write("claim of a read") { ($0.session.reference, $0.session.releaseAt) = (reference, releaseAt) }
                && send()
            if goesOn { due = releaseAt.milliseconds }
        case .forget: goesOn = forget()
        case .capture(let amount, _):
            var books = disk.books
            guard
                let operation = try? books.requestCapture(
                    OperationID(), amount: amount, at: Timestamp(milliseconds: now))
            else { return nil }
            let asked = books
            goesOn = write("commit") { $0.books = asked } && goOn(operation)
        case .reverse: goesOn = reverse()
        case .move(let releaseAt):
            goesOn = write("keep") { $0.session.releaseAt = releaseAt }
            if goesOn { due = releaseAt.milliseconds }
        case .adjust, .done, .wait, .refused: goesOn = true
        }
        return goesOn && !chance(1, in: 20) ? step : nil
    }

    /// The payment service carries an operation out once, however often it is asked.
    private mutating func goOn(_ operation: Ledger.Operation) -> Bool {
        var books = disk.books
        if operation.state == .created { _ = books.moved(operation.id, to: .sent) }
        let sent = books
        guard write("capture sent", { $0.books = sent }) else { return false }
        if carriedOut.insert(operation.id).inserted, case .capture(let amount, _, _) = operation.action {
            (held, paid) = (0, paid + amount)
        }
        books = disk.books
        _ = books.answered(operation.id, .done())
        let done = books
        return write("capture answered") { $0.books = done }
    }

    /// What was read goes out once, and is answered or not.
    private mutating func send() -> Bool {
        guard write("read sent", { $0.kept = .sent }) else { return false }
        hasRead = false
        asked += 1
        guard !chance(1, in: 8) else { return write("declined") { $0.kept = .declined } }
        held = amount
        guard !chance(1, in: 8) else {
            // No answer in time: it is taken back.
            return write("no answer") { ($0.isReversing, $0.kept) = (true, nil) }
                && {
                    takeBack(); return true
                }()
        }
        var books = disk.books
        _ = books.approved(amount, isAwaitingConfirmation: false)
        let approved = books
        return write("approved") { ($0.books, $0.kept) = (approved, nil) }
    }

    private mutating func forget() -> Bool {
        hasRead = false
        return write("forgotten") { $0.kept = .failed }
    }

    private mutating func reverse() -> Bool {
        var books = disk.books
        guard (try? books.requestReversal()) != nil else { return true }
        let begun = books
        guard write("reversal", { ($0.books, $0.isReversing) = (begun, true) }) else { return false }
        takeBack()
        return true
    }

    private mutating func takeBack() { (held, paid) = (0, 0) }

    /// The same wish until an answer is heard.
    mutating func insist(_ wish: SessionRequest) -> SessionStep {
        while true {
            if let heard = serve(wish), heard != .wait, !heard.isOnItsWay { return heard }
            pass(pick(100...2_000))
        }
    }
}

extension SessionStep {
    /// The daemon looks again before it answers.
    fileprivate var isOnItsWay: Bool {
        switch self {
        case .send, .forget: true
        default: false
        }
    }
}

@Suite("A session of a lane that stands alone, at random")
struct StandingRandomTests {
    @Test("10,000 sessions, with deaths at every write: goods are given where money is taken, and nowhere else")
    func goodsAndMoney() throws {
        var (deaths, sold, released) = (0, 0, 0)
        var (writes, diedAt): (Set<String>, Set<String>) = ([], [])
        for number in 0..<10_000 {
            var story = try Story(number)
            let whole = story.amount
            var goods: Int64 = 0
            var machineLives = true
            story.pass(story.pick(0...70_000))
            if story.chance(9, in: 10) {
                let reference = "TOK\(number)"
                var heard = story.insist(.claim(reference: reference))
                #expect(heard == .refused(.sessionOver) || story.disk.session.reference == reference, "\(number)")
                if heard != .refused(.sessionOver) {
                    #expect(story.insist(.claim(reference: "another")) == .refused(.sessionClaimed), "\(number)")
                    for _ in 0..<story.pick(0...3) where story.mode != .sale {
                        story.pass(story.pick(0...1_200_000))
                        heard = story.insist(.keep(seconds: 3_600))
                    }
                    machineLives = story.chance(9, in: 10)
                    if machineLives {
                        goods = story.mode == .sale ? whole : story.chance(1, in: 6) ? 0 : story.pick(1...whole)
                        if story.chance(1, in: 8) { goods = 0 }
                        if goods == 0, story.mode == .sale {
                            _ = story.insist(.release)
                        } else if story.mode != .sale {
                            heard = story.insist(.commit(amount: goods, upTo: false))
                            #expect(story.insist(.commit(amount: goods, upTo: false)) == .done(), "\(number)")
                            let late = story.insist(.release)
                            #expect(late == (goods == 0 ? .done() : .refused(.sessionOver)), "\(number)")
                        }
                    } else if story.mode == .sale {
                        // Told as sold, and the machine has given it.
                        goods = whole
                    }
                }
            }
            let end = max(story.disk.session.releaseAt.milliseconds, 60_000) + 60_000
            story.pass(max(0, end - story.now))
            #expect(story.asked <= 1, "\(number): what was read was sent \(story.asked) times")
            #expect(story.held == 0, "\(number): a hold is older than its time and a minute")
            #expect(story.paid == goods, "\(number): goods for \(goods), money \(story.paid)")
            #expect(story.disk.books.contradictions.isEmpty && !story.stage.isOpen, "\(number)")
            guard story.held == 0, story.paid == goods else { return }
            deaths += story.deaths
            (writes, diedAt) = (writes.union(story.writes), diedAt.union(story.diedAt))
            if goods > 0 { sold += 1 } else { released += 1 }
        }
        #expect(deaths > 2_000 && sold > 3_000 && released > 1_000, "\(deaths), \(sold), \(released)")
        // A write at which no process has died before and after it is not tested.
        let wanted = writes.flatMap { ["\($0), before", "\($0), after"] }
        #expect(writes.count == 14 && diedAt == Set(wanted), "\(Set(wanted).subtracting(diedAt))")
    }

    @Test("A start gives a hold the rest of its time, and a whole one where nobody believes the clock")
    func restOfTime() {
        let session = StandingSession(
            id: TransactionID(), tap: 1, mode: .hold, releaseAt: Timestamp(milliseconds: 10_000_000))
        let rules = SessionRules(release: 600, maximum: 1)
        let wait = { (now: Int64, isBelieved: Bool) in
            session.wait(from: Timestamp(milliseconds: now), isClockBelieved: isBelieved, rules)
        }
        #expect(wait(9_900_000, true) == 100_000 && wait(11_000_000, true) == 0)
        // A clock that was put back by a year.
        #expect(wait(-31_536_000_000, true) == 600_000)
        #expect(wait(11_000_000, false) == 600_000)
    }

    @Test("What a machine may not have is refused by name, with the most that is possible")
    func refusals() {
        let session = StandingSession(
            id: TransactionID(), tap: 1, mode: .hold, reference: "A", releaseAt: Timestamp(milliseconds: 0))
        let rules = SessionRules(release: 600, maximum: 3_000)
        let step = { (wish: SessionRequest, stage: SessionStage) in
            session.step(for: wish, stage, held: 2_500, rules, at: Timestamp(milliseconds: 0))
        }
        #expect(step(.commit(amount: 2_501, upTo: false), .open) == .refused(.captureTooMuch, limit: 2_500))
        #expect(step(.commit(amount: 2_600, upTo: true), .open) == .capture(2_500, shortfall: 100))
        #expect(step(.commit(amount: 2_600, upTo: true), .committed(2_500)) == .done(shortfall: 100))
        #expect(step(.commit(amount: 0, upTo: false), .open) == .reverse)
        #expect(step(.commit(amount: 5, upTo: false), .released) == .refused(.sessionOver))
        #expect(step(.commit(amount: 5, upTo: false), .offered) == .refused(.sessionNotClaimed))
        #expect(step(.increase(total: 3_001), .open) == .refused(.amountTooLarge, limit: 3_000))
        #expect(step(.increase(total: 3_000), .open) == .adjust(total: 3_000))
        #expect(
            step(.claim(reference: "A"), .open) == .done() && step(.claim(reference: "A"), .committed(5)) == .done())
        #expect(step(.claim(reference: "A"), .released) == .refused(.sessionOver))
        #expect(step(.release, .committed(5)) == .refused(.sessionOver))
    }

    @Test("Taps that come too soon, too often, or beyond the sessions that may be open begin nothing")
    func gate() {
        let rules = StandingGate.Rules(debounce: 3, openSessions: 2, tapsPerHour: 3)
        var gate = StandingGate()
        let at = { (seconds: Int64) in Moment(monotonic: seconds * 1_000, wall: Timestamp(milliseconds: 0)) }
        #expect(gate.judge(open: 0, rules, at: at(0)) == nil)
        gate.ended(at: at(2))
        #expect(gate.judge(open: 0, rules, at: at(4)) == .debounce)
        #expect(gate.judge(open: 2, rules, at: at(5)) == .openSessions)
        #expect(gate.judge(open: 1, rules, at: at(6)) == nil && gate.judge(open: 1, rules, at: at(7)) == nil)
        #expect(gate.judge(open: 1, rules, at: at(8)) == .tooOften)
        #expect(gate.judge(open: 1, rules, at: at(3_600)) == nil)
    }
}
