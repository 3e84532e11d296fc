// SPDX-License-Identifier: Apache-2.0
import POSAPI
public import PaymentValues

/// From the beginning until a card is read.
extension TransactionMachine {
    var presentation: Presentation? {
        switch phase {
        case .created(let presentation), .preparing(let presentation), .armed(let presentation),
            .reading(let presentation):
            presentation
        case .sealed, .offered, .awaitingPIN, .sent, .challenged, .unknown, .linked, .approved, .reversing, .leaving,
            .unwritten, .settled, .stored, .ended:
            nil
        }
    }

    /// The same state, with what is known now.
    private mutating func keep(_ presentation: Presentation) {
        switch phase {
        case .created: phase = .created(presentation)
        case .preparing: phase = .preparing(presentation)
        case .armed: phase = .armed(presentation)
        case .reading: phase = .reading(presentation)
        case .sealed, .offered, .awaitingPIN, .sent, .challenged, .unknown, .linked, .approved, .reversing, .leaving,
            .unwritten, .settled, .stored, .ended:
            break
        }
    }

    /// The state `reading` names it in the journal: until then the transaction has the first of its lanes.
    private var winner: String? { presentation?.winner }
    private var isLoyalty: Bool { transaction.type == .loyalty }
    private var amount: Money? { transaction.amount == .none ? nil : transaction.amount }

    mutating func prepare(_ input: Input) {
        guard var presentation else { return }
        switch (phase, input) {
        case (.created, .begin): local(.prepare)
        case (.created, .preparing):
            presentation.giveUpAt = now.after(Self.preparationTime)
            write([change(.preparing)], next: .preparing(presentation))
        case (.created, .prepared(let lanes)), (.preparing, .prepared(let lanes)):
            guard let first = lanes.first else { return end(.internalFault) }
            let wait = demand.cardTime(at: now)
            guard wait > 0 else { return end(.requestTooLate) }
            var armed = change(.armed)
            armed.lane = first
            presentation.cardBy = now.after(.milliseconds(wait) + Self.readerTime)
            presentation.giveUpAt = presentation.cardBy
            write([armed], next: .armed(presentation), then: [.arm(lanes)])
        case (.created, .notPrepared(let code)), (.preparing, .notPrepared(let code)): end(code)
        default: contradiction(input.name)
        }
    }

    mutating func present(_ input: Input) {
        if case .cardMayGo = input { return cardMayGo() }
        if case .tapFinished = input { return tapFinished() }
        guard var presentation else { return }
        switch phase {
        case .armed, .reading: break
        default: return contradiction(input.name)
        }
        switch input {
        case .ready(let lane):
            guard presentation.winner == nil, presentation.readyLanes.insert(lane).inserted else { return }
            keep(presentation)
            tellReady(lane)
        case .won(let lane):
            presentation.winner = lane
            keep(presentation)
        case .cardLeft(let lane): outward(.publish(readEvent(.readRemoveCard, lane)))
        case .collision(let lane):
            guard presentation.collidedLanes.insert(lane).inserted else { return }
            keep(presentation)
            // Two cards at a time are no failed read: one of them goes, and it works.
            outward(.publish(retryEvent(lane, .presentOneCardOnly)))
        case .targetUnsupported(let lane):
            // What takes no commands is no try: it is told of, and a card is waited for.
            outward(.publish(unsupportedEvent(lane)))
        case .presentationFailed: presentationFailed(presentation)
        // No card, and no failed read: it is held out again, alone and still.
        case .unreadable(let lane): outward(.publish(retryEvent(lane, nil)))
        case .message(let message):
            presentation.message = message
            if message.asksForCard { presentation.asked = message }
            keep(presentation)
        case .cardDetected: cardDetected(presentation)
        case .cardAwaited: cardAwaited(presentation)
        case .passAgain(let action):
            var event = readEvent(.readRetry, transaction.lane)
            event.customerAction = action
            event.customerText = action?.text(in: demand.language) ?? event.customerText
            waitAgain(presentation, [.publish(event)])
        case .passes(let found, let hasPass, let payment): passes(found, hasPass, payment, presentation)
        case .endedWithPasses: complete()
        case .read, .declinedOffline:
            // Nothing may be sent that no state leads to, nor for a read of passes.
            guard case .reading = phase, !isLoyalty else {
                contradiction(input.name)
                return end(.internalFault)
            }
            if case .read(let read) = input { take(read) }
            if case .declinedOffline(let card, let chip, let reason, let read) = input {
                declined(card, chip, reason, demand.keepsRead ? read : nil)
            }
        case .ended(let code, let withoutApplication, let unsupported):
            tapEnded(code, withoutApplication, unsupported, presentation)
        default: contradiction(input.name)
        }
    }

    /// Said only once it has been read to the end, and not after the transaction's own.
    private mutating func cardMayGo() {
        switch phase {
        case .sent, .unknown, .leaving, .awaitingPIN, .offered:
            outward(.publish(readEvent(.readRemoveCard, transaction.lane)))
        case .created, .preparing, .armed, .reading, .sealed, .challenged, .linked, .approved, .reversing, .unwritten,
            .settled, .stored, .ended:
            break
        }
    }

    private func readEvent(_ name: EventName, _ lane: String) -> Event {
        var event = event(name, lane: lane)
        event.customerText = name.customerText(in: demand.language)
        return event
    }

    private mutating func tellReady(_ lane: String) {
        var event = readEvent(.readReadyForTap, lane)
        event.amount = amount
        outward(.publish(event))
    }

    /// Says again what to do, in the kernel's own words where it has some.
    private func retryEvent(_ lane: String, _ message: CardholderMessage?) -> Event {
        var event = readEvent(.readRetry, lane)
        if let message, message.asksForCard {
            event.message = message
            event.customerText = message.text(in: demand.language)
        }
        if message != .seePhone { event.error = ErrorDetail(.readCardUnreadable, transaction: id) }
        return event
    }

    /// Says that what lies there is no card to pay with.
    private func unsupportedEvent(_ lane: String) -> Event {
        var event = readEvent(.readRetry, lane)
        event.customerText = ErrorCode.readCardUnsupported.texts(in: Language(tag: demand.language)).resolution
        event.error = ErrorDetail(.readCardUnsupported, transaction: id)
        return event
    }

    private mutating func cardDetected(_ presentation: Presentation) {
        var presentation = presentation
        presentation.collidedLanes = []
        presentation.message = nil
        presentation.isFailing = false
        guard case .armed = phase else { return keep(presentation) }
        // Nobody stands there any more who was there when it was asked for.
        guard !demand.isPast(at: now) else { return end(.requestTooLate) }
        if !isLoyalty { local(.connectEarly) }
        var reading = change(.reading)
        reading.lane = winner
        presentation.giveUpAt = now.after(Self.readingTime)
        write([reading], next: .reading(presentation), then: [.publish(event(.readCardDetected, lane: winner))])
    }

    /// The card is activated again. That alone is no failed read, and nobody has to do anything yet.
    private mutating func cardAwaited(_ presentation: Presentation) {
        var presentation = presentation
        guard case .reading = phase else { return }
        if presentation.staysOnCard {
            presentation.staysOnCard = false
            return keep(presentation)
        }
        // A phone that wants its holder first has been read as it should be; its holder hears of it at once.
        guard presentation.message == .seePhone else {
            presentation.isFailing = true
            return keep(presentation)
        }
        waitAgain(presentation, [.publish(retryEvent(transaction.lane, .seePhone))])
    }

    /// The card has left, or has stayed for long enough, and nothing has come of it: one failed read, however often it was
    /// activated (EMV Contactless Book B requirement 3.3.3.7 goes back to start B without a limit; three tries are a person's).
    private mutating func presentationFailed(_ presentation: Presentation) {
        var presentation = presentation
        guard case .reading = phase, presentation.isFailing else { return contradiction("presentationFailed") }
        presentation.isFailing = false
        presentation.failedReads += 1
        local(.failedReads(presentation.failedReads))
        guard presentation.failedReads < demand.maximumReads else {
            keep(presentation)
            return end(.readRetriesExhausted)
        }
        waitAgain(presentation, [.publish(retryEvent(transaction.lane, presentation.message))])
    }

    /// Until a card answers again, the transaction can be cancelled.
    private mutating func waitAgain(_ presentation: Presentation, _ then: [Outward]) {
        guard case .reading = phase else {
            keep(presentation)
            return outward(then)
        }
        var presentation = presentation
        presentation.giveUpAt = presentation.cardBy
        write([change(.armed)], next: .armed(presentation), then: then)
    }

    private mutating func passes(
        _ found: LoyaltyResult, _ hasPass: Bool, _ payment: PaymentAfterPasses, _ presentation: Presentation
    ) {
        var presentation = presentation
        presentation.hasPass = hasPass
        var event = event(.loyaltyResult)
        event.loyalty = found
        outward(.publish(event))
        guard !isLoyalty, amount != nil else { return keep(presentation) }
        switch payment {
        case .sameActivation:
            presentation.staysOnCard = true
            keep(presentation)
        case .afterFieldReset: waitAgain(presentation, [])
        case .afterRemoval:
            guard case .reading = phase else { return keep(presentation) }
            var retry = self.event(.readRetry)
            retry.customerAction = .presentAgain
            retry.customerText = LoyaltyResult.CustomerAction.presentAgain.text(in: demand.language)
            waitAgain(presentation, [.publish(retry)])
        }
    }

    private mutating func tapEnded(
        _ code: ErrorCode, _ withoutApplication: Bool, _ unsupported: UnsupportedKernel?, _ presentation: Presentation
    ) {
        // A phone with only a pass, or one that gave its pass and did not come again.
        if presentation.hasPass, !isLoyalty, code == .readTimedOut || withoutApplication { return complete() }
        // A phone that wants its holder first has been read as it should be.
        guard code == .readCardUnreadable, !isLoyalty, presentation.message != .seePhone else {
            return end(code, unsupported: unsupported)
        }
        var presentation = presentation
        presentation.asked = nil
        presentation.failedReads += 1
        local(.failedReads(presentation.failedReads))
        keep(presentation)
        end(presentation.failedReads >= demand.maximumReads ? .readRetriesExhausted : code)
    }

    /// The pass is all there was to read: nothing is charged.
    private mutating func complete() {
        leave([change(.completed)], [.publish(event(.readCompleted))])
    }

    /// Ends with what was read; what is left to say waits until the reader has let the card go.
    mutating func leave(_ changes: [StateChange], _ last: [Outward], _ then: [Outward] = []) {
        let wishes = presentation?.wishes ?? []
        write(
            changes, next: .leaving(last, at: now.after(Self.settleTime)),
            then: then + wishes.map { .answer($0, .nothingToCancel) } + [.settleReader])
    }

    private mutating func tapFinished() {
        switch phase {
        case .leaving(let last, _):
            phase = transaction.state == .stored ? .stored : .ended
            outward(last)
        case .armed, .reading: end(.internalFault)
        case .sent(let question), .unknown(let question): readerIsFree(question)
        case .sealed(let read, let time): phase = .sealed(cardHasLeft(read), giveUpAt: time)
        case .offered(var offer):
            offer.read = cardHasLeft(offer.read)
            phase = .offered(offer)
        case .awaitingPIN(var wait):
            wait.read = cardHasLeft(wait.read)
            phase = .awaitingPIN(wait)
        case .created, .preparing, .challenged, .linked, .approved, .reversing, .unwritten, .settled, .stored, .ended:
            break
        }
    }

    // MARK: - Ends without anything having been sent

    /// Ends with an error, or cancelled. What the card or phone still wants of the customer is kept for the receipt.
    mutating func end(
        _ code: ErrorCode, unsupported: UnsupportedKernel? = nil, after changes: [StateChange] = []
    ) {
        let presentation = presentation
        local(.disarm)
        let wishes = presentation?.wishes ?? []
        let message = presentation?.asked
        if code == .readCancelled {
            var cancelled = change(.cancelled)
            cancelled.cancelledBy = presentation?.canceller ?? .shutdown
            cancelled.message = message
            var event = event(.readCancelled, lane: winner)
            event.by = cancelled.cancelledBy
            write(
                changes + [cancelled], next: .ended,
                then: [.publish(event)] + wishes.map { .answer($0, .cancelled) })
        } else {
            var failed = change(.failed)
            failed.error = isLoyalty ? ErrorDetail(loyalty: code, transaction: id) : ErrorDetail(code, transaction: id)
            failed.error?.unsupportedKernel = unsupported
            failed.message = message
            var event = event(.readNotCompleted, lane: winner)
            event.error = failed.error
            event.message = message
            event.customerText = message?.text(in: demand.language)
            write(
                changes + [failed], next: .ended,
                then: [.publish(event)] + wishes.map { .answer($0, .nothingToCancel) })
        }
    }

    mutating func answerCancels(_ answer: RequestAnswer) {
        var wishes = presentation?.wishes ?? []
        if case .awaitingPIN(let wait) = phase { wishes += wait.wishes }
        if case .offered(let offer) = phase { wishes += offer.wishes }
        for wish in wishes { outward(.answer(wish, answer)) }
    }

    // MARK: - Cancelling

    /// Cancels if it is not too late. A card that arrives meanwhile decides: either it is read and the cancel too late, or
    /// it is not and nothing is charged.
    mutating func cancel(by canceller: Canceller, _ wish: RequestID?) {
        switch phase {
        case .created(var presentation), .preparing(var presentation):
            presentation.canceller = presentation.canceller ?? canceller
            if let wish { presentation.wishes.append(wish) }
            keep(presentation)
            end(.readCancelled)
        case .armed(var presentation), .reading(var presentation):
            // A card that is being read decides. If it is to be presented again, as by a phone that wants its holder, it is
            // not: nobody is charged.
            presentation.canceller = presentation.canceller ?? canceller
            if let wish { presentation.wishes.append(wish) }
            keep(presentation)
            local(.disarm)
        case .awaitingPIN(let wait): cancelPIN(wait, by: canceller, wish)
        case .offered(let offer): forget(offer, by: canceller, wish)
        case .challenged(let challenge): endWithoutPIN(challenge, wish.map { .answer($0, .nothingToCancel) })
        case .sealed: answer(wish, .tooLate(transaction.state, becomesReversal: false))
        case .sent(var question), .unknown(var question):
            if !question.isOwed { question.mustBeReversed = true }
            keep(question)
            answer(wish, .tooLate(transaction.state, becomesReversal: !question.isOwed))
        // Handed over: whoever has it now does not give it back.
        case .leaving where transaction.state == .sealed: answer(wish, .tooLate(.sealed, becomesReversal: false))
        case .linked(let watch): cancelLink(watch, wish)
        case .approved, .reversing, .leaving, .unwritten, .settled, .stored, .ended: answer(wish, .nothingToCancel)
        }
    }

    mutating func answer(_ wish: RequestID?, _ answer: RequestAnswer) {
        if let wish { outward(.answer(wish, answer)) }
    }
}

extension Input {
    /// Without what came with it: an envelope is never in a log.
    var name: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }
}

extension ErrorDetail {
    /// The error in words of the loyalty flow: nothing in it speaks of a payment.
    public init(loyalty code: ErrorCode, transaction: TransactionID?) {
        let own: [ErrorCode: ErrorCode] = [.readTimedOut: .loyaltyTimedOut, .readCardUnreadable: .loyaltyUnreadable]
        self.init(own[code] ?? code, transaction: transaction)
        next = nil
    }
}

extension CardholderMessage {
    /// What the customer is to do with the card or phone, beside "once more".
    fileprivate var asksForCard: Bool {
        switch self {
        case .presentOneCardOnly, .seePhone: true
        case .approved, .notAuthorised, .enterPIN, .processingError, .removeCard, .welcome, .presentCard, .processing,
            .cardReadOK, .insertOrSwipe, .approvedPleaseSign, .authorising, .insertSwipeOrTryAnotherCard, .insertCard,
            .presentCardAgain:
            false
        }
    }
}
