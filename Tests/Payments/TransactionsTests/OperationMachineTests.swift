// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PSPAPI
import PaymentValues
import Testing

@testable import Transactions

/// A machine with a journal and a payment service around it that can be asked anything; rules hold after every step.
struct OperationStage {
    enum Move: UInt8, CaseIterable {
        case due, dueExpired, dueUnsupported, dueLate, connected, notConnected
        case approved, declined, pending, partial, otherAmount, otherID, neverSeen, refused, otherBody, notDelivered,
            unusable
        case written, notWritten, withdraw, resolveDone, resolveRefused, restart
    }

    static let id = OperationID(at: Timestamp(milliseconds: 1_795_318_000_000))
    static let euro = Currency("EUR") ?? .none
    static let amount = Money(value: 1_000, currency: euro)

    private(set) var machine: OperationMachine
    private(set) var faults: [String] = []
    /// As the journal has it.
    private(set) var state = OperationState.created
    /// Of a refund, which is a transaction of its own.
    private(set) var refund: TransactionState?
    private(set) var firstSentAt: Timestamp?
    private(set) var isStuck = false
    private(set) var sends = 0
    private var attempts = 0
    private(set) var now = Moment(monotonic: 0, wall: Timestamp(milliseconds: 1_795_318_000_000))
    private var isConnecting = false
    private var note: (OperationNote, Int)?
    private var question: (isSending: Bool, number: Int)?
    /// What the latest answers allow.
    private var mayResend = true
    /// Nothing but 404 has come back to the only request.
    private var isDenied = false
    private var mayEnd = Set<OperationState>()

    init(isRefund: Bool = false) {
        machine = OperationMachine(id: Self.id, amount: Self.amount, at: Moment(monotonic: 0, wall: .now))
        refund = isRefund ? .created : nil
    }

    /// What was sent again is on its way in memory, and `unknown` in a refund's row.
    private var isSentAgain: Bool { refund == .unknown && machine.state == .sent }

    func allows(_ move: Move) -> Bool {
        switch move {
        case .due, .dueExpired, .dueUnsupported, .dueLate: machine.due != nil
        case .connected, .notConnected: isConnecting
        case .approved, .declined, .pending, .partial, .otherAmount, .otherID, .neverSeen, .refused, .unusable,
            .otherBody, .notDelivered:
            question != nil
        case .written, .notWritten: note != nil
        case .withdraw, .resolveDone, .resolveRefused, .restart: true
        }
    }

    mutating func make(_ move: Move) {
        switch move {
        case .due, .dueExpired, .dueUnsupported, .dueLate:
            now.monotonic = max(now.monotonic, machine.due ?? 0)
            if move == .dueLate { now.wall = now.wall.advanced(bySeconds: 72_000) }
            if state == .created, move == .dueExpired || move == .dueUnsupported { mayEnd.insert(.refused) }
            take(.due(OperationFacts(isUnsupported: move == .dueUnsupported, isExpired: move == .dueExpired)))
        case .connected, .notConnected:
            isConnecting = false
            take(move == .connected ? .connected : .notConnected)
        case .written, .notWritten: write(move == .written)
        case .withdraw:
            if machine.isWithdrawable { mayEnd.insert(.refused) }
            take(.withdraw)
        case .resolveDone, .resolveRefused:
            if state == .unknown || state == .sent { mayEnd.formUnion([.done, .refused]) }
            take(.resolve(OperationResolution(isDone: move == .resolveDone, evidence: "by phone")))
        case .restart: restart()
        default: reply(move)
        }
        if machine.state != state, !isSentAgain { faults.append("\(machine.state) in memory, \(state) in the journal") }
        let isWaiting = isConnecting || note != nil || question != nil
        if !machine.isOver, machine.due == nil, !isWaiting { faults.append("nothing goes on after \(move)") }
    }

    private mutating func reply(_ move: Move) {
        guard let question else { return }
        self.question = nil
        var answer = AdapterOperationAnswer(id: Self.id, outcome: .approved)
        var reply = OperationReply.unusable
        switch move {
        case .approved:
            mayEnd.insert(.done)
            reply = .answered(answer)
        case .declined:
            answer.outcome = .declined
            mayEnd.insert(.refused)
            reply = .answered(answer)
        case .pending:
            isDenied = false
            answer.outcome = .pending
            reply = .answered(answer)
        case .partial:
            answer.outcome = .partial
            answer.amountDone = Money(value: 400, currency: Self.euro)
            reply = .answered(answer)
        case .otherAmount:
            answer.amountDone = Money(value: 1_001, currency: Self.euro)
            reply = .answered(answer)
        case .otherID:
            answer.id = OperationID(at: Timestamp(milliseconds: 1_795_318_000_001))
            reply = .answered(answer)
        case .neverSeen:
            reply = .neverSeen
            if question.isSending {
                isDenied = sends == 1
            } else {
                mayResend = true
                if isDenied { mayEnd.insert(.refused) }
            }
        case .refused:
            reply = .refused
            if question.isSending, sends == 1 { mayEnd.insert(.refused) }
        case .otherBody: reply = .otherBody
        case .notDelivered: reply = .notDelivered
        default: break
        }
        take(.replied(reply, question: question.number))
    }

    private mutating func take(_ input: OperationInput) {
        for effect in machine.take(input, at: now) {
            switch effect {
            case .connect: isConnecting = true
            case .write(let note, let number):
                if let before = self.note { faults.append("\(note) before \(before) is written") }
                self.note = (note, number)
            case .send(let number):
                sends += 1
                if state != .sent, !isSentAgain { faults.append("sent before that was written") }
                if !mayResend { faults.append("sent again without word that it was never seen") }
                if isStuck { faults.append("sent again though a person looks at it") }
                if let firstSentAt, now.wall.milliseconds - firstSentAt.milliseconds >= 72_000_000 {
                    faults.append("sent again after the key's life")
                }
                mayResend = false
                question = (true, number)
            case .ask(let number): question = (false, number)
            }
        }
    }

    private mutating func write(_ isWritten: Bool) {
        guard let (note, number) = self.note else { return }
        self.note = nil
        guard isWritten else { return take(.notWritten(number)) }
        var next = state
        if let before = refund {
            let after = note.state(ofRefund: before)
            if let after, !before.successors.contains(after) { faults.append("\(after) after \(before)") }
            refund = after ?? before
            next = (after ?? before).asOperation
        } else if let after = note.state(after: state) {
            if !state.successors.contains(after) { faults.append("\(after) after \(state)") }
            next = after
        }
        if !next.isOpen, state.isOpen, !mayEnd.contains(next) { faults.append("\(next) without proof") }
        if case .unknown(_, true) = note { isStuck = true }
        if case .sent = note {
            attempts += 1
            if firstSentAt == nil { firstSentAt = now.wall }
        }
        state = next
        take(.written(number))
    }

    /// Everything in memory is gone, and whatever was on its way.
    private mutating func restart() {
        guard state.isOpen else { return }
        (isConnecting, note, question) = (false, nil, nil)
        machine = OperationMachine(
            id: Self.id, amount: Self.amount, state: state, firstSentAt: firstSentAt, attempts: attempts,
            isStuck: isStuck, at: now)
    }
}

@Suite("Operations as machines")
struct OperationMachineTests {
    private static let forOrders: [OperationStage.Move] = [
        .due, .dueLate, .connected, .notConnected, .approved, .declined, .pending, .otherAmount, .neverSeen, .refused,
        .otherBody, .unusable, .written, .notWritten, .withdraw, .resolveDone, .restart,
    ]

    @Test
    func
        `In every order of seven inputs an operation is written before it acts, and sent again only where it was never seen`()
    {
        var pending = [(OperationStage(), 0)]
        var count = 0
        while let (stage, depth) = pending.popLast() {
            for move in Self.forOrders where stage.allows(move) {
                var next = stage
                next.make(move)
                count += 1
                guard next.faults.isEmpty else {
                    Issue.record("\(next.faults)")
                    return
                }
                if depth < 6, !next.machine.isOver { pending.append((next, depth + 1)) }
            }
        }
        #expect(count > 10_000)
    }

    private static let endings: Set<OperationStage.Move> = [.dueLate, .resolveDone, .resolveRefused, .withdraw]

    @Test(
        "A1: Random stories of an operation, and of a refund in a row of its own, break no rule",
        arguments: UInt64(1)...40)
    func stories(_ seed: UInt64) {
        var dice = Dice(seed)
        for story in 0..<100 {
            var stage = OperationStage(isRefund: story % 2 == 1)
            for _ in 0..<60 {
                guard let move = OperationStage.Move.allCases.filter(stage.allows).randomElement(using: &dice) else {
                    continue
                }
                // What ends a story is rare, else few live to be lost twice.
                if Self.endings.contains(move), !dice.oneIn(10) { continue }
                stage.make(move)
            }
            #expect(stage.faults.isEmpty, "seed \(seed), story \(story): \(stage.faults)")
        }
    }

    /// A payment service that carries out each id once, and may lose what comes and what goes.
    private struct Service {
        var carriedOut = false

        mutating func take(_ isSending: Bool, _ dice: inout Dice) -> OperationReply {
            if dice.oneIn(3) { return .unusable }
            if isSending { carriedOut = true }
            if dice.oneIn(3) { return .unusable }
            guard carriedOut else { return .neverSeen }
            return .answered(
                AdapterOperationAnswer(id: OperationStage.id, outcome: dice.oneIn(3) ? .pending : .approved))
        }
    }

    @Test(arguments: UInt64(1)...200)
    func `Whatever is lost, an operation ends as done once the service has carried it out, and only then`(
        _ seed: UInt64
    ) {
        var dice = Dice(seed)
        var service = Service()
        var now = Moment(monotonic: 0, wall: Timestamp(milliseconds: 1_795_318_000_000))
        var machine = OperationMachine(id: OperationStage.id, amount: OperationStage.amount, at: now)
        var inputs: [OperationInput] = []
        for _ in 0..<2_000 where !machine.isOver {
            if inputs.isEmpty, let due = machine.due {
                now.monotonic = max(now.monotonic, due)
                inputs = [.due(OperationFacts())]
            }
            guard !inputs.isEmpty else { break }
            for effect in machine.take(inputs.removeFirst(), at: now) {
                switch effect {
                case .connect: inputs.append(dice.oneIn(4) ? .notConnected : .connected)
                case .write(_, let number): inputs.append(dice.oneIn(8) ? .notWritten(number) : .written(number))
                case .send(let question): inputs.append(.replied(service.take(true, &dice), question: question))
                case .ask(let question): inputs.append(.replied(service.take(false, &dice), question: question))
                }
            }
        }
        #expect(machine.state == .done && service.carriedOut)
    }

    @Test func `Three answers about another amount make an operation stuck, and it is not sent again`() {
        var stage = OperationStage()
        for _ in 0..<3 {
            for move in [OperationStage.Move.due, .connected, .written, .otherAmount, .written] where stage.allows(move)
            {
                stage.make(move)
            }
        }
        #expect(stage.isStuck && stage.state == .unknown)
        for move in [OperationStage.Move.due, .neverSeen, .written, .due] { stage.make(move) }
        #expect(stage.sends == 1 && stage.faults.isEmpty)
    }

    @Test("A1: a refund that is lost twice is asked about after one, five, thirty seconds, and then every ten minutes")
    func lostTwice() {
        var stage = OperationStage(isRefund: true)
        var pauses: [Int64] = []
        for move in [OperationStage.Move.due, .connected, .written, .unusable, .written] { stage.make(move) }
        for _ in 0..<6 {
            let asked = stage.now.monotonic
            pauses.append((stage.machine.due ?? -1) - asked)
            // Never seen, sent again, and lost again.
            for move in [OperationStage.Move.due, .neverSeen, .connected, .written, .unusable, .written] {
                stage.make(move)
            }
            #expect(stage.refund == .unknown && stage.faults.isEmpty, "\(stage.faults)")
        }
        #expect(pauses == [1, 5, 30, 120, 600, 600].map { $0 * 1_000 } && stage.sends == 7)
        for move in [OperationStage.Move.due, .approved, .written] { stage.make(move) }
        #expect(stage.refund == .approved && stage.machine.isOver && stage.faults.isEmpty)
    }

    @Test func `What the service refuses and has never seen before is refused`() {
        var stage = OperationStage()
        for move in [OperationStage.Move.due, .connected, .written, .refused, .written] { stage.make(move) }
        #expect(stage.state == .refused && stage.faults.isEmpty)
    }

    @Test func `After twenty hours an operation is asked about and never sent again`() {
        var stage = OperationStage()
        for move in [OperationStage.Move.due, .connected, .written, .unusable, .written, .dueLate, .neverSeen] {
            stage.make(move)
        }
        stage.make(.written)
        #expect(stage.isStuck && stage.sends == 1 && stage.state == .unknown)
    }

    @Test func `What the service had, and has never seen a moment later, is in doubt and not refused`() {
        var stage = OperationStage()
        for move in [OperationStage.Move.due, .connected, .written, .pending, .due, .neverSeen, .written] {
            stage.make(move)
        }
        #expect(stage.state == .unknown && stage.faults.isEmpty)
    }

    @Test(arguments: [(400, false), (500, true), (nil, true)] as [(Int64?, Bool)])
    func `A refund that a person has settled in part is contradicted by an answer over another sum`(
        answered: Int64?, isContrary: Bool
    ) throws {
        let (id, euro, now) = (OperationStage.id, OperationStage.euro, Sample.start)
        var machine = OperationMachine(id: id, amount: Money(value: 1_000, currency: euro), hasParts: true, at: now)
        var question = 0
        for input in [OperationInput.due(OperationFacts()), .connected] {
            for effect in machine.take(input, at: now) {
                guard case .write(_, let number) = effect else { continue }
                for case .send(let sent) in machine.take(.written(number), at: now) { question = sent }
            }
        }
        let word = Settlement(
            .charged, amount: Money(value: 400, currency: euro), at: now.wall, uid: 0, note: "in the portal")
        let resolution = OperationResolution(isDone: true, evidence: word.evidence, settlement: word)
        for case .write(_, let number) in machine.take(.resolve(resolution), at: now) {
            _ = machine.take(.written(number), at: now)
        }
        try #require(machine.state == .done && question > 0)
        var answer = AdapterOperationAnswer(id: id, outcome: answered == nil ? .approved : .partial)
        answer.amountDone = answered.map { Money(value: $0, currency: euro) }
        let told = machine.take(.replied(.answered(answer), question: question), at: now)
        let contradictions = told.filter { if case .write(.contradicted, _) = $0 { true } else { false } }
        #expect(contradictions.count == (isContrary ? 1 : 0) && told.count == contradictions.count)
    }

    @Test func `What is withdrawn before a byte has left is refused, and later it is too late`() {
        var stage = OperationStage()
        for move in [OperationStage.Move.due, .withdraw, .written] { stage.make(move) }
        #expect(stage.state == .refused && stage.sends == 0)
        var late = OperationStage()
        for move in [OperationStage.Move.due, .connected, .withdraw, .written] { late.make(move) }
        #expect(late.state == .sent && late.faults.isEmpty)
    }
}
