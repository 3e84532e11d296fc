// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PSPAPI
import PaymentValues
import StoreAndForward

/// From a request that was sent to the payment service's answer.
extension TransactionMachine {
    mutating func keep(_ question: Question) { phase.question = question }

    private var question: Question? { phase.question }

    /// Something before the adapter has passed it on to nobody: the same as if there had been no connection.
    private mutating func notDelivered(_ question: Question) {
        guard let read = question.read else { return putBack(question, .pspUnreachable) }
        guard read.request.type == .sale, read.pin == nil, demand.kept == nil, question.continuation == nil,
            !question.mustBeReversed
        else { return decline(.pspUnreachable) }
        let (stored, told) = stored(read)
        lastQuestion = question.number
        write([stored], as: .store(read.request, read.sale), next: .stored, then: told)
    }

    /// The payment could not be stored either, and has left nothing anywhere.
    mutating func decline(_ code: ErrorCode) {
        var result = PaymentResult(mode: transaction.mode, outcome: .declined)
        result.next = code.entry.next
        finish(.declined, .paymentDeclined, result, .error, nil, error: code)
    }

    /// The adapter has not carried out what was forwarded: it goes back, so that nothing is lost.
    private mutating func putBack(_ question: Question, _ code: ErrorCode) {
        lastQuestion = question.number
        let wish = question.owedTo.map { Outward.answer($0, .notForwarded(code)) }
        write([change(.stored)], .forCertain, next: .stored, then: [wish].compactMap(\.self))
    }

    func completed(_ card: MaskedCard?) -> Event {
        var event = event(.readCompleted)
        event.card = card
        return event
    }

    // MARK: - The reader's word

    /// The adapter has the result before anybody sees or hears that the card was read.
    private mutating func settle(_ question: inout Question) {
        outward(.settleReader)
        question.reader = .leaving(until: now.after(Self.settleTime))
    }

    mutating func readerIsFree(_ question: Question) {
        if case .free = question.reader { return }
        var question = question
        question.reader = .free
        outward(.publish(completed(question.read?.request.card)))
        var event = event(.paymentAuthorizing)
        event.card = question.read?.request.card
        outward(.publish(event))
        let reply = question.reply
        question.reply = nil
        keep(question)
        if let reply { judge(reply, question) }
    }

    // MARK: - Answers

    mutating func replied(_ reply: Reply, _ number: Int) {
        if case .settled(let asked, _) = phase, asked == number { return answerAfterSettlement(reply) }
        // One answer to one question: a second one does not undo the first.
        guard var question, question.number == number, question.reply == nil, case .asking = question.step else {
            return
        }
        // An adapter that accepts connections only to close them is asked at intervals.
        let reply = question.kind == .resend && reply == .neverSeen ? .unusable : reply
        switch question.reader {
        case .free: judge(reply, question)
        case .held:
            question.reply = reply
            settle(&question)
            keep(question)
        case .leaving:
            question.reply = reply
            keep(question)
        }
    }

    mutating func questionDue(_ question: Question) {
        var question = question
        switch question.reader {
        case .held(let time) where now.monotonic >= time:
            settle(&question)
            return keep(question)
        case .leaving(let time) where now.monotonic >= time: return readerIsFree(question)
        case .held, .leaving, .free: break
        }
        switch question.step {
        case .pausing(let time) where now.monotonic >= time:
            let left = question.askUntil - now.monotonic
            guard left > 0 else { return reverse(.hostTimeout, .timeout, .pspNoAnswer) }
            ask(&question, .query)
            keep(question)
            outward(
                .query(
                    question.continuation, question: question.number,
                    within: min(.milliseconds(left), demand.times.query)))
        case .asking(let time) where now.monotonic >= time:
            // What asks has lost its answer: the same as silence.
            question.step = .pausing(until: now.monotonic)
            replyIsLost(question)
        case .asking, .pausing, .resting: break
        }
    }

    private mutating func ask(_ question: inout Question, _ kind: Question.Kind) {
        question.number += 1
        question.kind = kind
        question.step = .asking(until: now.after(demand.times.answer + Self.answerMargin))
    }

    private mutating func replyIsLost(_ question: Question) {
        var question = question
        if let kept = question.reply {
            question.reply = nil
            return judge(kept, question)
        }
        judge(.unusable, question)
    }

    private mutating func judge(_ reply: Reply, _ question: Question) {
        var question = question
        var reply = reply
        // What contradicts the demand is no answer: it is asked about like a lost one (rule R1).
        if case .answered(let answer) = reply, answer.contradicts(transaction.amount) {
            contradiction("an answer with another amount, or an invalid approval")
            // Nothing takes it back, and nothing else may ever come: a person gets to know.
            if question.isOwed { return rest(question, wasNeverSeen ? nil : .unanswered, .pspNoAnswer) }
            reply = .unusable
        }
        // That a question, or what was sent again, did not get there says nothing about what did.
        if reply == .notDelivered, question.kind != .send { reply = .unusable }
        // The first question may have met a connection that was closed before a byte was written; later ones have not.
        if reply == .unusable || (reply == .neverSeen && question.kind != .send) { question.isInDoubt = true }
        switch reply {
        case .answered(let answer): answered(answer, question)
        case .refused: refused(question)
        case .notDelivered: notDelivered(question)
        case .running, .neverSeen, .unusable:
            if question.isOwed { unanswered(reply, question) } else { inDoubt(reply, question) }
        }
    }

    private mutating func answered(_ answer: AuthorizationAnswer, _ question: Question) {
        var result = PaymentResult(answer, mode: transaction.mode)
        result.repeats = result.outcome == .declined ? nil : question.read?.repeats ?? transaction.result?.repeats
        let card = transaction.card?.named(answer.cardToken)
        if question.isOwed {
            return forwarded(result, question, card, ServiceTerms(answer, transaction.amount))
        }
        guard result.outcome != .declined else {
            guard !question.isInDoubt else { return reverse(.hostTimeout, .timeout, .pspNoAnswer) }
            if let challenge = challenge(by: answer, question, result, card) { return ask(for: challenge) }
            // `sent` is on the disk: a start would take back what nobody has booked.
            return finish(.declined, .paymentDeclined, result, .declined, card, durable: false)
        }
        guard !question.mustBeReversed else {
            return reverse(.cancelledAfterSending, .customerCancel, nil, after: answer)
        }
        // Nothing is pretended: without a name for the card there is nothing to charge later.
        let isNotGiven = demand.storing != nil && card?.token == nil
        finish(
            .approved, .paymentApproved, result, .approved, card, error: isNotGiven ? .storedCardNotGiven : nil,
            terms: ServiceTerms(answer, transaction.amount))
    }

    private mutating func refused(_ question: Question) {
        guard !question.isOwed else {
            // That this request was not carried out says nothing about the one before it.
            if question.isInDoubt { return rest(question, .refusedAfterDoubt, .pspRefused) }
            return putBack(question, .pspRefused)
        }
        guard !question.isInDoubt else { return reverse(.hostTimeout, .timeout, .pspNoAnswer) }
        decline(.pspRefused)
    }

    mutating func finish(
        _ state: TransactionState, _ name: EventName, _ result: PaymentResult, _ lamp: Lamp, _ card: MaskedCard?,
        error: ErrorCode? = nil, terms: ServiceTerms? = nil, then: [Outward] = [], durable: Bool? = nil
    ) {
        var change = change(state)
        change.terms = terms
        change.result = result
        change.card = card
        change.error = error.map { ErrorDetail($0, transaction: id) }
        // The issuer has verified the PIN that it asked for.
        if state == .approved, phase.question?.continuation != nil {
            change.chip = transaction.chip
            change.chip?.verification = .onlinePIN
        }
        var next = Phase.ended
        if state == .approved, let seconds = confirmationTime(result) {
            change.confirmBy = now.wall.advanced(bySeconds: Int64(seconds))
            // Not before the last moment in which a confirmation counts.
            next = .approved(confirmBy: now.after(.seconds(seconds) + .milliseconds(1)))
        }
        var event = event(name)
        (event.result, event.error, event.card) = (result, change.error, card?.withoutToken)
        write(
            [change], .forCertain, next: next, then: [.publish(event), .show(lamp)] + scrubbing + then, durable: durable
        )
    }

    /// The journal has had the sealed record of the card: before somebody is asked for a PIN it has it.
    private var scrubbing: [Outward] {
        phase.question?.read?.pin != nil || phase.question?.continuation != nil ? [.scrub] : []
    }

    /// Seconds within which an approval has to be confirmed; `nil` for not at all.
    private func confirmationTime(_ result: PaymentResult) -> Int? {
        demand.confirmWithin ?? (result.repeats == nil ? nil : demand.confirmRepeatWithin)
    }

    /// Between sending and an answer something went wrong: nobody may charge this order again until it is resolved.
    private mutating func inDoubt(_ reply: Reply, _ question: Question) {
        var question = question
        let left = question.askUntil - now.monotonic
        var next: [Outward] = []
        if left > 0 {
            if reply == .neverSeen {
                guard mayBeSentAgain(question), mayBeSent(question.read) else {
                    return reverse(.hostTimeout, .timeout, .pspNoAnswer)
                }
                ask(&question, .resend)
                next = [
                    question.sending(isAgain: true, within: .milliseconds(left))
                ]
            } else {
                question.step = .pausing(until: now.after(min(question.pause, .milliseconds(left))))
                question.pause = min(question.pause * 2, .seconds(2))
            }
        }
        guard reply == .unusable, case .sent = phase else {
            guard left > 0 else { return reverse(.hostTimeout, .timeout, .pspNoAnswer) }
            keep(question)
            return outward(next)
        }
        if left <= 0 { question.step = .pausing(until: now.monotonic) }
        var unknown = change(.unknown)
        unknown.result = PaymentResult(mode: transaction.mode, outcome: .unknown)
        var event = event(.paymentUnknown)
        event.result = unknown.result
        write([unknown], .forCertain, next: .unknown(question), then: [.publish(event)] + next)
    }

    /// Sent again it is carried out once, for as long as the service keeps the key. A clock that was put back proves
    /// nothing about how long ago it was sent.
    private func mayBeSentAgain(_ question: Question) -> Bool {
        guard question.isInDoubt else { return true }
        guard question.keyLife > .zero, let sent = transaction.history.last(where: { $0.state == .sent }) else {
            return false
        }
        // By both clocks: it may have been sent before a restart, and the wall clock may have been put back since.
        let (age, isFar) = now.wall.milliseconds.subtractingReportingOverflow(sent.at.milliseconds)
        let (known, isLong) = now.monotonic.subtractingReportingOverflow(knownSince)
        let life = 0...max(0, question.keyLife.milliseconds)
        return !isFar && !isLong && life.contains(age) && life.contains(known)
    }

    // MARK: - Stored payments that are forwarded

    private enum KeyAge { case young, old, untold }

    /// How old a key may be is told by a clock that is believed, and by nothing else: an hour back or a year ahead, it makes
    /// no key too old, and none young (W11).
    private func keyAge(_ question: Question) -> KeyAge {
        guard question.isInDoubt else { return .young }
        guard question.keyLife > .zero, let sent = transaction.history.last(where: { $0.state == .sent }) else {
            return .old
        }
        let life = max(0, question.keyLife.milliseconds)
        let (known, isLong) = now.monotonic.subtractingReportingOverflow(knownSince)
        guard !isLong, known <= life else { return .old }
        guard let latest = question.latest else { return .untold }
        let (age, isFar) = latest.milliseconds.subtractingReportingOverflow(sent.at.milliseconds)
        // Sent later than the latest that it may be: one of the two is wrong.
        guard !isFar, age >= 0 else { return .untold }
        return age <= life ? .young : .old
    }

    /// A stored payment goes out, or is asked about where it went out before.
    mutating func forward(
        _ request: AuthorizationRequest, _ wish: RequestID, _ keyLife: Duration, _ latest: Timestamp?
    ) {
        var question = Question(
            subject: .payment(request), read: nil, owedTo: wish,
            askUntil: now.after(demand.times.answer), pause: demand.times.pause,
            step: .asking(until: now.after(demand.times.answer + Self.answerMargin)), reader: .free, keyLife: keyLife,
            latest: latest)
        question.number = max(lastQuestion, self.question?.number ?? 0) + 1
        switch (transaction.state, phase) {
        // Asked about it is already, or it is none of the queue's.
        case (.unknown, .unknown(let earlier)) where !earlier.isAtRest: outward(.answer(wish, .superseded))
        case (.stored, .stored):
            write(
                [change(.sent)], as: .forward, next: .sent(question),
                then: [
                    .send(request, question: question.number, isAgain: false, within: demand.times.answer)
                ])
        case (.sent, .stored), (.unknown, .stored), (.unknown, .unknown):
            question.kind = .query
            question.isInDoubt = true
            phase = transaction.state == .sent ? .sent(question) : .unknown(question)
            outward(.query(nil, question: question.number, within: demand.times.query))
        default: outward(.answer(wish, .superseded))
        }
    }

    private mutating func forwarded(
        _ result: PaymentResult, _ question: Question, _ card: MaskedCard?, _ terms: ServiceTerms?
    ) {
        // A refusal of what was sent again may come from a service that has booked the payment and forgotten it, and what
        // the customer has cannot be taken back (rule R1).
        if result.outcome == .declined, wasNeverSeen { return rest(question, .refusedAfterDoubt, .pspRefused) }
        var change = change(result.outcome == .declined ? .declined : .approved)
        change.result = result
        if result.outcome != .declined { (change.card, change.terms) = (card, terms) }
        var event = event(.queueForwarded)
        (event.amount, event.result) = (transaction.amount, result)
        var then: [Outward] = [.publish(event), .scrub]
        if let wish = question.owedTo { then.append(.answer(wish, .done)) }
        write([change], .forCertain, next: .ended, then: then)
    }

    /// The forwarder asks again: nothing is reversed for want of an answer, since the customer has the goods.
    private mutating func unanswered(_ reply: Reply, _ question: Question) {
        guard reply == .neverSeen else { return rest(question, nil, .pspNoAnswer) }
        // Once it was refused, or too old, it never goes out again, whatever the clock says later.
        if open == .refusedAfterDoubt { return rest(question, nil, .pspRefused) }
        switch keyAge(question) {
        case .young where open != .keyLifeOver: break
        case .young, .old: return rest(question, .keyLifeOver, .openItemKeyLifeOver)
        // It is asked about on and on, and judged once the clock is believed.
        case .untold: return rest(question, nil, .clockUnbelievable)
        }
        var question = question
        ask(&question, .resend)
        let send = question.sending(isAgain: true, within: demand.times.answer)
        guard question.isInDoubt, open != .neverSeen else {
            keep(question)
            return outward(send)
        }
        // Written down before it is sent again: whatever refuses it then is no proof.
        let changes = transaction.state == .sent ? [change(.unknown)] : []
        write(changes, as: .open(.neverSeen, nil), .forCertain, next: .unknown(question), then: [send])
    }

    /// Waits for the forwarder's next round.
    ///
    /// - Parameter reason: what makes it an open item.
    private mutating func rest(_ question: Question, _ reason: OpenReason?, _ code: ErrorCode) {
        var question = question
        let answer = question.owedTo.map { Outward.answer($0, .notForwarded(code)) }
        let then = [answer].compactMap(\.self)
        question.owedTo = nil
        question.step = .resting
        let changes = transaction.state == .sent ? [change(.unknown)] : []
        if let reason, reason != open {
            return write(changes, as: .open(reason, nil), .forCertain, next: .unknown(question), then: then)
        }
        guard !changes.isEmpty else {
            keep(question)
            return outward(then)
        }
        write(changes, .forCertain, next: .unknown(question), then: then)
    }
}
