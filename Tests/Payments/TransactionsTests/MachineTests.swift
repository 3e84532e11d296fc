// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PSPAPI
import PaymentValues
import Testing

@testable import Transactions

/// What was found wrong once, each by the shortest story that shows it.
struct MachineTests {
    private func play(_ scenario: Scenario, _ moves: Move...) -> Stage {
        var stage = scenario.start
        for move in moves { stage.play(move) }
        return stage
    }

    @Test func `a stored payment stays stored where the journal does not take that it goes out`() {
        for failure in [Move.full, .failed] {
            let stage = play(.stored, .forward, failure)
            #expect(stage.faults.isEmpty)
            #expect(stage.machine.transaction.state == .stored)
            #expect(stage.openWishes.isEmpty, "its forwarder waits for ever")
        }
        let declined = play(.stored, .declinedInQueue, .forward, .written)
        #expect(declined.openWishes.isEmpty, "its forwarder waits for ever")
    }

    @Test func `a card that is read where none was detected ends the payment in the journal too`() {
        for card in [Move.read, .declinedOffline] {
            let stage = play(.payment, .prepared, .written, card, .written)
            #expect(stage.books.transaction.state == .failed)
            #expect(stage.machine.isOver)
        }
    }

    @Test func `R5: something that is no card is told of, and is no failed read`() {
        var stage = play(.payment, .prepared, .written, .ready)
        let effects = stage.machine.take(.unreadable(lane: "east"), at: stage.now)
        let told = effects.compactMap { effect -> Event? in
            if case .outward(.publish(let event), _) = effect { event } else { nil }
        }
        #expect(told.map(\.name) == [.readRetry])
        #expect(told.first?.error?.code == ErrorCode.readCardUnreadable.rawValue)
        // Three times over: a payment ends after so many failed reads.
        for _ in 0..<3 { stage.play(.unreadableCard) }
        #expect(stage.books.transaction.state == .armed)
        for move in [Move.won, .cardDetected, .written, .read] { stage.play(move) }
        #expect(stage.books.transaction.state != .failed)
        #expect(stage.faults.isEmpty)
    }

    @Test func `a read of passes never authorises anything`() {
        let stage = play(.loyalty, .prepared, .written, .cardDetected, .written, .read, .written)
        #expect(stage.books.transaction.state == .failed)
    }

    @Test func `the first answer to a question stands`() {
        let stage = play(
            .payment, .prepared, .written, .cardDetected, .written, .read, .connected, .written, .approved, .declined,
            .tapFinished, .written)
        #expect(stage.books.transaction.state == .approved)
    }

    @Test func `R3 a cancel while a card is read counts as soon as the card would have to be presented again`() {
        let again = play(
            .payment, .prepared, .written, .cardDetected, .written, .seePhone, .cancel, .cardAwaited, .written,
            .withdrawn, .written)
        #expect(again.faults.isEmpty && again.openWishes.isEmpty)
        #expect(again.books.transaction.state == .cancelled)
        // One that was read has been read: the till hears that it is too late.
        let read = play(.payment, .prepared, .written, .cardDetected, .written, .cancel, .read)
        #expect(read.faults.isEmpty && read.openWishes.isEmpty)
    }

    @Test func `a reversal that the disk took late has its full time for the acknowledgement`() {
        var stage = play(
            .payment, .prepared, .written, .cardDetected, .written, .read, .connected, .written, .tapFinished, .cancel,
            .approved)
        for _ in 0..<60 {
            stage.play(.full)
            stage.play(.due)
        }
        stage.play(.written)
        #expect(stage.books.transaction.state == .reversing)
        #expect((stage.machine.due ?? 0) - stage.now.monotonic >= 5_000)
        stage.play(.acknowledged)
        stage.play(.written)
        #expect(stage.books.transaction.state == .reversed)
    }

    /// Which attempt a phone that wants its holder can end in, and whether the phone is what it ended of.
    private static let attempts: [([Move], TransactionState, CardholderMessage?)] = [
        ([.seePhone, .cardAwaited, .written, .timedOut], .failed, .seePhone),
        ([.seePhone, .cardAwaited, .written, .cancel, .withdrawn], .cancelled, .seePhone),
        ([.seePhone, .unreadable], .failed, .seePhone),
        // The phone lies there and asks again: its answer is still awaited.
        ([.seePhone, .cardAwaited, .written, .cardDetected, .written, .timedOut], .failed, .seePhone),
        // Another card came, and could not be read.
        ([.seePhone, .cardAwaited, .written, .cardDetected, .written, .unreadable], .failed, nil),
        ([.otherMessage, .cardAwaited, .written, .timedOut], .failed, nil),
        ([.unreadable], .failed, nil),
    ]

    @Test(arguments: attempts)
    func `an attempt that ends while a phone waits for its holder keeps that, in the books and in its last event`(
        moves: [Move], state: TransactionState, message: CardholderMessage?
    ) throws {
        var stage = play(.payment, .prepared, .written, .cardDetected, .written)
        for move in moves { stage.play(move) }
        stage.play(.written)
        #expect(stage.books.transaction.state == state)
        #expect(stage.machine.transaction.message == message)
        #expect(stage.faults.isEmpty)
    }

    @Test func `a phone that wants its holder is no failed read, however its tap ends`() {
        for moves: [Move] in [[.seePhone, .unreadable], [.seePhone, .cardAwaited, .written, .timedOut]] {
            var stage = play(.payment, .prepared, .written, .cardDetected, .written)
            for move in moves { stage.play(move) }
            #expect(!stage.hasReadFailed)
        }
        #expect(play(.payment, .prepared, .written, .cardDetected, .written, .unreadable).hasReadFailed)
    }

    @Test func `nothing of a card is in the words of a contradiction`() throws {
        var stage = Scenario.payment.start
        let read = try #require(Sample.read(stage.machine.transaction, at: stage.now.wall))
        let effects = stage.machine.take(.read(read), at: stage.now)
        let words = effects.compactMap { if case .local(.log(let found)) = $0 { found.what } else { nil } }
        #expect(words == ["read"])
    }

    @Test func `an approval can be confirmed in its last moment after a restart`() throws {
        let stage = Scenario.unconfirmed.start
        let due = try #require(stage.machine.due)
        #expect(due - stage.now.monotonic == 90_001)
    }

    @Test func `a late answer to an earlier round is none to a later one`() {
        var stage = play(.stored, .forward, .written, .neverSeen, .refused, .written)
        let earlier = stage.question
        stage.play(.forward)
        stage.play(.written)
        #expect(stage.question > earlier)
        #expect(stage.faults.isEmpty)
    }

    @Test func `what runs is not recovered, and what was never stored is not forwarded`() {
        let armed = play(.payment, .prepared, .written, .recover)
        #expect(armed.asked == nil)
        let doubted = play(
            .payment, .prepared, .written, .cardDetected, .written, .read, .connected, .written, .tapFinished,
            .unusable,
            .written, .cancel, .forward)
        #expect(doubted.openWishes.isEmpty)
        #expect(doubted.faults.isEmpty)
    }

    @Test func `A1: a service that has never seen a doubt ends it nowhere but in an open item`() {
        var stage = play(.interrupted, .recover, .written)
        for attempt in 1...20 {
            stage.play(.reversalNeverSeen)
            #expect(stage.asked != nil)
            stage.play(.written)
            #expect(stage.books.transaction.state == .reversing)
            #expect(stage.books.open == (attempt > 1 ? .neverSeen : nil))
            stage.play(.due)
        }
        stage.play(.acknowledged)
        stage.play(.written)
        #expect(stage.books.transaction.state == .reversed && stage.books.open == nil)
        #expect(stage.faults.isEmpty)
    }

    @Test func `A1: a restart forgets no attempt, so that the next service that has never seen it makes an open item`()
    {
        var stage = play(.interrupted, .recover, .written, .notAcknowledged, .written)
        stage.die(wasTaken: true)
        stage.play(.due)
        stage.play(.reversalNeverSeen)
        stage.play(.written)
        #expect(stage.books.transaction.state == .reversing && stage.books.open == .neverSeen)
        #expect(stage.faults.isEmpty)
    }

    @Test func `A1: silence becomes an open item after ten attempts`() {
        var stage = play(.interrupted, .recover, .written)
        for attempt in 1...12 {
            stage.play(.notAcknowledged)
            stage.play(.written)
            #expect(stage.books.open == (attempt > 9 ? .unacknowledged : nil))
            stage.play(.due)
        }
        #expect(stage.faults.isEmpty)
    }

    @Test
    func `W25: a reversal is the same request after a restart, since a service refuses another one under its key`() {
        for moves in [[Move.reverse, .written], [.due, .written]] {
            var stage = Scenario.unconfirmed.start
            for move in moves { stage.play(move) }
            let first = stage.reversal
            #expect(first?.amount == stage.books.transaction.amount)
            stage.die(wasTaken: true)
            stage.play(.due)
            #expect(stage.reversalQuestion == 1 && stage.reversal == first && stage.faults.isEmpty, "\(stage.faults)")
        }
    }

    @Test func `A2: where nobody can be asked that is no attempt, and the item is open at once`() {
        var stage = play(.interrupted, .recover, .written)
        for _ in 0..<3 {
            stage.play(.notAsked)
            stage.play(.written)
            stage.play(.due)
        }
        #expect(stage.books.open == .otherService && stage.books.plan?.attempts == 0)
        stage.play(.notAsked)
        let question = stage.reversalQuestion
        stage.play(.hasten)
        #expect(stage.reversalQuestion == question + 1)
        #expect(stage.faults.isEmpty)
    }

    @Test func `A6: what was sent is not sent again beyond the life of its key, whatever the clock says later`() {
        var stage = play(.stored, .forward, .written, .unusable, .written, .forwardForgotten, .neverSeen, .written)
        #expect(stage.books.open == .keyLifeOver && stage.books.transaction.state == .unknown)
        // The declared life is long again: it was too late once.
        for move in [Move.forward, .neverSeen, .forward, .running, .forward, .refused, .written] { stage.play(move) }
        #expect(!stage.isResent && stage.books.transaction.state == .unknown)
        for move in [Move.forward, .approved, .written] { stage.play(move) }
        #expect(stage.books.transaction.state == .approved && stage.books.open == nil)
        #expect(stage.faults.isEmpty)
    }

    @Test func `A6: a clock that is put back makes no key younger than this run knows it to be`() {
        for hoursBack in [0, 1, 23] as [Int64] {
            var stage = play(.stored, .forward, .written, .unusable, .written)
            let day: Int64 = 86_400_001
            stage.now.monotonic += day
            stage.now.wall.milliseconds += day - hoursBack * 3_600_000
            for move in [Move.forward, .neverSeen, .written] { stage.play(move) }
            #expect(stage.books.open == .keyLifeOver && !stage.isResent, "\(hoursBack) hours")
            #expect(stage.faults.isEmpty)
        }
    }

    @Test func `A6: nor does a restart together with a clock that is put back`() {
        let day: Int64 = 86_400_001
        for hoursBack in [0, 1, 23] as [Int64] {
            var stage = play(.stored, .forward, .written, .unusable, .written)
            let known = Moment(
                monotonic: stage.now.monotonic, wall: stage.now.wall.advanced(bySeconds: day / 1_000 - 600))
            stage.now.wall.milliseconds += day - hoursBack * 3_600_000
            stage.latest = { $0.latest(after: known) }
            stage.die(wasTaken: false)
            for move in [Move.neverSeen, .written] { stage.play(move) }
            #expect(stage.books.open == (hoursBack > 0 ? nil : .keyLifeOver) && !stage.isResent, "\(hoursBack) hours")
            // The clock is put right, or is not: it was too late in any case.
            stage.now.wall.milliseconds += hoursBack * 3_600_000
            for move in [Move.forward, .neverSeen, .written] { stage.play(move) }
            #expect(stage.books.open == .keyLifeOver && !stage.isResent, "\(hoursBack) hours")
            #expect(stage.faults.isEmpty)
        }
    }

    @Test
    func `a clock that a time server puts back by seconds is followed, and one that is further behind says nothing`() {
        let now = Sample.start
        #expect(now.latest(after: nil) == now.wall)
        // Two minutes that nobody can tell: one since the last note, and one of a time server's.
        func known(_ wall: Timestamp) -> Moment { Moment(monotonic: now.monotonic, wall: wall) }
        #expect(now.latest(after: known(now.wall.advanced(bySeconds: -86_400))) == now.wall.advanced(bySeconds: 120))
        let soon = now.wall.advanced(bySeconds: 60)
        #expect(now.latest(after: known(soon)) == soon.advanced(bySeconds: 120))
        let late = now.wall.advanced(bySeconds: 61)
        #expect(now.latest(after: known(late)) == nil)
        #expect(now.latest(after: known(late), isConfirmed: true) == late.advanced(bySeconds: 120))
        // A clock that goes on from where it was put back never gets there; one that is put right does.
        let later = Moment(monotonic: now.monotonic + 7_200_000, wall: now.wall.advanced(bySeconds: 7_200))
        #expect(later.latest(after: known(late)) == nil)
        let right = Moment(monotonic: later.monotonic, wall: late.advanced(bySeconds: 7_200))
        #expect(right.latest(after: known(late)) == right.wall.advanced(bySeconds: 120))
    }

    @Test func `A5: a stored payment that is refused after it was never seen is neither declined nor stored again`() {
        for refusal in [Move.declined, .refused] {
            var stage = play(.stored, .forward, .written, .unusable, .written, .forward, .neverSeen, .written)
            #expect(stage.books.open == .neverSeen && stage.isResent)
            stage.play(refusal)
            stage.play(.written)
            #expect(stage.books.transaction.state == .unknown && stage.books.open == .refusedAfterDoubt)
            // A restart forgets nothing of it.
            stage.die(wasTaken: false)
            for move in [Move.neverSeen, .forward, .declined, .written] { stage.play(move) }
            #expect(stage.books.transaction.state == .unknown && stage.books.open == .refusedAfterDoubt)
            #expect(stage.faults.isEmpty)
        }
    }

    @Test func `a person's word ends what is open, and is contradicted by an answer on its way, no more`() {
        var stage = play(
            .interrupted, .recover, .written, .reversalNeverSeen, .written, .due, .reversalNeverSeen, .written)
        stage.play(.due)
        stage.play(.settleCharged)
        stage.play(.written)
        #expect(stage.books.transaction.state == .approved && !stage.machine.isOver)
        stage.play(.acknowledged)
        stage.play(.written)
        #expect(stage.books.transaction.state == .approved && stage.machine.isOver)
        #expect(stage.books.transaction.settlement?.contradictedAt != nil)
        #expect(stage.faults.isEmpty)
    }

    @Test func `an answer over another sum than a person has named contradicts that person`() throws {
        var part = Sample.answer(.partial)
        let cases: [(Int64?, Int64?, isContrary: Bool)] = [
            (40, 40, false), (40, 50, true), (nil, 50, true), (40, nil, true),
        ]
        for (settled, answered, isContrary) in cases {
            var stage = play(.stored, .forward, .written, .unusable, .written, .forward, .neverSeen, .written)
            let (whole, id) = (stage.books.transaction.amount, RequestID(900))
            let sum = settled.map { Money(value: $0, currency: whole.currency) }
            let word = Settlement(.charged, amount: sum, at: stage.now.wall, uid: 0, note: "in the portal")
            let asked = stage.machine.take(.settle(word, id), at: stage.now)
            guard case .write(let write) = asked.first, asked.count == 1 else { Issue.record("\(asked)"); return }
            let result = try #require(write.changes.last?.result)
            #expect(result.outcome == (sum == nil ? .approved : .partiallyApproved) && result.amountApproved == sum)
            _ = stage.machine.take(.written(write.number), at: stage.now)
            part.amountApproved = answered.map { Money(value: $0, currency: whole.currency) }
            let answer = answered == nil ? Sample.answer(.approved) : part
            let told = stage.machine.take(.replied(.answered(answer), question: stage.question), at: stage.now)
            let contradictions = told.filter { effect in
                if case .write(let write) = effect, case .contradict = write.form { true } else { false }
            }
            #expect(contradictions.count == (isContrary ? 1 : 0), "\(settled ?? 0) settled, \(answered ?? 0) answered")
        }
    }

    @Test func `what was not settled for want of room on the disk stays what it was`() {
        var stage = play(.interrupted, .recover, .written, .notAsked, .written, .settleNotCharged, .full)
        #expect(stage.books.transaction.state == .reversing && stage.openWishes.isEmpty)
        stage.play(.settleNotCharged)
        stage.play(.written)
        #expect(stage.books.transaction.state == .reversed)
        #expect(stage.faults.isEmpty)
    }

    @Test func `A7: a stored payment whose service contradicts the demand is an open item, and never settled by that`()
    {
        let stage = play(.stored, .forward, .written, .partial, .written)
        #expect(stage.books.transaction.state == .unknown && stage.books.open == .unanswered)
        #expect(stage.faults.isEmpty)
    }

    @Test func `a payment whose answer the journal never takes holds up no other one that is to be forwarded`() {
        let doubt: [Move] = [.unusable, .written, .forward]
        for (before, answer) in [([], Move.approved), ([], .unusable), (doubt, .neverSeen)] {
            var stage = play(.stored, .forward, .written)
            for move in before + [answer, .failed] { stage.play(move) }
            #expect(stage.openWishes.isEmpty && stage.machine.isWriting, "after \(answer)")
            // The forwarder's next rounds: while it waits for the disk, and while the disk is asked.
            stage.play(.forward)
            #expect(stage.openWishes.isEmpty)
            stage.play(.due)
            stage.play(.forward)
            stage.play(.failed)
            #expect(stage.openWishes.isEmpty)
            // What came back is not forgotten.
            stage.play(.due)
            stage.play(.written)
            #expect(stage.books.transaction.state == (answer == .approved ? .approved : .unknown))
            #expect(stage.faults.isEmpty)
        }
    }

    @Test func `the forwarder hears of a write that the journal can never take`() throws {
        var stage = play(.stored, .forward, .written, .unusable, .written, .forward, .neverSeen)
        let write = try #require(stage.asked)
        let effects = stage.machine.take(.notWritten(write.number, .illegal), at: stage.now)
        let answers = effects.compactMap { if case .outward(.answer(_, let answer), _) = $0 { answer } else { nil } }
        #expect(answers == [.superseded] && !stage.machine.isWriting)
    }
}
