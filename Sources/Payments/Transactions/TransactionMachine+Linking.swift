// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PSPAPI
import PaymentValues

/// Payment links: the customer pays elsewhere, within minutes or hours. Only the service's word ends one (rule R1): it is not taken
/// back for want of an answer, because the customer may be paying in that moment, and asked about for as long as it takes.
/// A hand-over to another terminal is one without an address, whose card may be declined.
extension TransactionMachine {
    /// Between two looks at a link that can be paid.
    static let linkPause: Duration = .seconds(2)
    /// Between questions in vain.
    private static let linkPauses = RetrySchedule(
        linkPause, .seconds(4), .seconds(8), .seconds(16), .seconds(30), .seconds(60))

    /// Connected, it goes out; not connected, nobody has been asked anything.
    mutating func open(_ request: LinkRequest, _ input: Input) {
        guard case .connected = input else { return end(.pspUnreachable) }
        let watch = LinkWatch(
            expires: monotonic(of: request.expiresAt, atMost: Self.longestLink),
            step: .asking(until: now.after(demand.times.answer + Self.answerMargin)))
        write(
            [change(.sent)], next: .linked(watch),
            then: [.link(.open(request), question: watch.number, within: demand.times.answer)])
    }

    private static var longestLink: Duration { .seconds(Limits.linkSeconds.upperBound) }

    /// An earlier run has sent it: it is looked at at once, with the rest of its time.
    func watchAfterRestart() -> LinkWatch {
        let seconds = Int64((transaction.details?.link ?? transaction.details?.handover)?.expires ?? 0)
        let end = transaction.createdAt.advanced(bySeconds: seconds)
        return LinkWatch(
            expires: monotonic(of: end, atMost: .seconds(seconds)), step: .pausing(until: now.monotonic), number: 0)
    }

    mutating func linkDue(_ watch: LinkWatch) {
        switch watch.step {
        case .asking: unanswered(watch)
        case .pausing: ask(watch)
        }
    }

    private mutating func ask(_ watch: LinkWatch) {
        var watch = watch
        if watch.ending == nil, now.monotonic >= watch.expires { watch.ending = expiry }
        watch.number += 1
        watch.isClosing = watch.ending != nil
        watch.step = .asking(until: now.after(demand.times.query + Self.answerMargin))
        phase = .linked(watch)
        outward(.link(watch.isClosing ? .close : .look, question: watch.number, within: demand.times.query))
    }

    private var expiry: DeclineReason { transaction.type == .handover ? .handoverExpired : .linkExpired }

    private mutating func pause(_ watch: LinkWatch, _ time: Duration) {
        var watch = watch
        watch.step = .pausing(until: now.after(time))
        phase = .linked(watch)
    }

    // MARK: - Answers

    mutating func linkReplied(_ reply: LinkReply, _ number: Int) {
        if case .settled(let asked, _) = phase, asked == number { return linkAnswerAfterSettlement(reply) }
        guard case .linked(var watch) = phase, watch.number == number, case .asking = watch.step else { return }
        switch reply {
        case .answered(let answer): linkAnswered(answer, watch)
        case .refused(let code): decline(code)
        case .neverSeen where !watch.isClosing:
            // It may still be on its way: only what is closed before it comes can never be paid.
            watch.ending = watch.ending ?? .hostTimeout
            ask(watch)
        case .neverSeen, .unusable: unanswered(watch)
        }
    }

    private mutating func linkAnswered(_ answer: LinkAnswer, _ watch: LinkWatch) {
        var watch = watch
        guard answer.id == id else { return contradicted(watch, "an answer about another link") }
        switch answer.state {
        case .open:
            if transaction.type == .link {
                guard let url = answer.url, url.isCustomerAddress else {
                    return contradicted(watch, "an open link without a usable address")
                }
                show(url, watch)
            }
            watch.unanswered = 0
            // Asked to close it, the service says that somebody is paying.
            if watch.isClosing { tooLate(&watch) }
            if watch.ending != nil, !watch.isClosing { ask(watch) } else { pause(watch, Self.linkPause) }
        case .paid:
            guard let payment = answer.payment, payment.outcome == .approved, !payment.contradicts(transaction.amount)
            else { return contradicted(watch, "a paid link with another amount, or without its payment") }
            paid(payment, answer.card, watch)
        case .expired, .cancelled:
            var result = PaymentResult(mode: transaction.mode, outcome: .declined)
            result.reason = answer.state == .expired ? expiry : watch.ending
            result.next = [.otherCard, .otherMethod, .paymentLink]
            if transaction.type == .handover { result.next?.insert(.otherInterface, at: 0) }
            let wishes = watch.wishes.map { Outward.answer($0, .cancelled) }
            finish(.declined, .paymentDeclined, result, .declined, nil, then: wishes)
        case .declined:
            // By a link the customer tries another card, so that none is ever declined.
            guard transaction.type == .handover, let payment = answer.payment, payment.outcome == .declined
            else { return contradicted(watch, "a declined link, or no answer to its payment") }
            let wishes = watch.wishes.map { Outward.answer($0, .tooLate(.declined, becomesReversal: false)) }
            finish(
                .declined, .paymentDeclined, PaymentResult(payment, mode: transaction.mode), .declined,
                answer.card?.withoutToken, then: wishes)
        }
    }

    /// Told once for each address; nobody is sent to one that is being closed.
    private mutating func show(_ url: String, _ watch: LinkWatch) {
        guard transaction.link?.url != url, let wish = transaction.details?.link else { return }
        let link = OpenLink(url: url, expiresAt: transaction.createdAt.advanced(bySeconds: Int64(wish.expires)))
        tell(link)
        guard watch.ending == nil else { return }
        var event = event(.linkOpened)
        (event.link, event.amount, event.retryOf) = (link, transaction.amount, transaction.retryOf)
        event.customerText = EventName.linkOpened.customerText(in: demand.language)
        outward(.publish(event))
    }

    private mutating func paid(_ payment: AuthorizationAnswer, _ card: MaskedCard?, _ watch: LinkWatch) {
        guard !watch.mustBeReversed else {
            for wish in watch.wishes { outward(.answer(wish, .tooLate(.sent, becomesReversal: true))) }
            return reverse(.cancelledAfterSending, .customerCancel, nil, after: payment)
        }
        let wishes = watch.wishes.map { Outward.answer($0, .tooLate(.approved, becomesReversal: false)) }
        finish(
            .approved, .paymentApproved, PaymentResult(payment, mode: transaction.mode), .approved,
            card?.withoutToken, terms: ServiceTerms(payment, transaction.amount), then: wishes)
    }

    private mutating func contradicted(_ watch: LinkWatch, _ what: String) {
        contradiction(what)
        unanswered(watch)
    }

    private mutating func tooLate(_ watch: inout LinkWatch) {
        for wish in watch.wishes { outward(.answer(wish, .tooLate(transaction.state, becomesReversal: false))) }
        watch.wishes = []
    }

    /// No usable answer: asked again, less and less often. One that is to end and does not is a person's business, too.
    private mutating func unanswered(_ watch: LinkWatch) {
        var watch = watch
        tooLate(&watch)
        watch.unanswered += 1
        watch.step = .pausing(until: now.after(Self.linkPauses.pause(after: watch.unanswered)))
        guard watch.ending != nil, watch.unanswered >= Self.attemptsUnseen, open == nil else {
            phase = .linked(watch)
            return
        }
        write([], as: .open(.unanswered, nil), .ifPossible, next: .linked(watch))
    }

    // MARK: - Wishes

    /// The service has to say whether it still can be closed.
    mutating func cancelLink(_ watch: LinkWatch, _ wish: RequestID?) {
        var watch = watch
        if let wish { watch.wishes.append(wish) }
        watch.ending = watch.ending ?? .cancelledAfterSending
        if case .pausing = watch.step { ask(watch) } else { phase = .linked(watch) }
    }

    /// Closed, and taken back should it have been paid.
    mutating func reverseLink(_ watch: LinkWatch, _ wish: RequestID) {
        var watch = watch
        watch.mustBeReversed = true
        outward(.answer(wish, .done))
        cancelLink(watch, nil)
    }

    /// What comes back once a person has ended it.
    private mutating func linkAnswerAfterSettlement(_ reply: LinkReply) {
        guard case .answered(let answer) = reply, answer.id == id, answer.state != .open else { return }
        answerAfterSettlement(taken: answer.state != .paid)
    }
}
