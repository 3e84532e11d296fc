// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PSPAPI
import PaymentValues
import StoreAndForward

/// From a read that is sealed to the moment in which it goes out, or is stored.
extension TransactionMachine {
    /// What the card said is there: it is sent as soon as there is somebody to send it to.
    mutating func take(_ read: Read) {
        if demand.earlierFailedReads > 0 || (presentation?.failedReads ?? 0) > 0 { local(.failedReads(0)) }
        // Who wants it cancelled is not asked for a PIN, and what is kept for nobody is not kept.
        if read.pin != nil || demand.kept != nil, presentation?.canceller != nil { return end(.readCancelled) }
        answerCancels(.tooLate(.reading, becomesReversal: false))
        if demand.isHandedOver { return passRefundRead(read) }
        var read = read
        read.takenAt = now.monotonic
        // What nobody has approved cannot be confirmed.
        if read.repeats != nil, demand.confirmRepeatWithin != nil { read.sale.needsConfirmation = true }
        if let kept = demand.kept { return offer(read, kept) }
        if let pin = read.pin { return ask(for: pin, read) }
        phase = .sealed(read, giveUpAt: now.after(demand.times.query + Self.answerMargin))
        local(.connect)
    }

    /// - Parameter isKept: whether another run may have to send it. What goes out at once is taken back by a start, and never sent
    ///   again: the sealed record of the card is on no disk then.
    func sealed(_ read: Read, isKept: Bool = true) -> StateChange {
        var sealed = StateChange(.sealed, at: read.at)
        sealed.authorization = isKept ? read.request : nil
        sealed.card = read.request.card
        sealed.chip = read.chip
        return sealed
    }

    mutating func connection(_ input: Input) {
        if let charge = demand.charge, case .created = phase {
            return send(charge, input)
        }
        if let link = demand.link, case .created = phase { return open(link, input) }
        guard case .sealed(let read, _) = phase else { return }
        guard case .connected = input else { return store(read) }
        guard mayBeSent(read) else {
            return end(.readExpired, after: unwritten(read))
        }
        local(.draft(read.message))
        let question = Question(
            subject: .payment(read.message), read: read, askUntil: now.after(demand.times.answer),
            pause: demand.times.pause,
            step: .asking(until: now.after(demand.times.answer + Self.answerMargin)),
            reader: reader(after: read), keyLife: demand.keyLife)
        var sent = change(.sent)
        sent.pin = read.pin?.attempt
        sent.pin?.state = .sent
        var event = event(.paymentAuthorizing)
        event.card = read.request.card
        write(
            unwritten(read, isKept: false) + [sent], next: .sent(question),
            then: (read.hasLeft ? [.publish(event)] : [])
                + [.send(read.message, question: 1, isAgain: false, within: demand.times.answer)])
    }

    /// What the journal does not have yet of a read: before a PIN is asked for it has it.
    private func unwritten(_ read: Read, isKept: Bool = true) -> [StateChange] {
        transaction.state == .sealed ? [] : [sealed(read, isKept: isKept)]
    }

    /// A card whose PIN was asked for may go since.
    private func reader(after read: Read) -> Question.Reader {
        if read.hasLeft { return .free }
        return read.pin == nil && demand.kept == nil
            ? .held(until: now.after(demand.times.handover)) : .leaving(until: now.after(Self.settleTime))
    }

    /// Whether a read is young enough, by the clock that nobody sets (rule R2).
    func mayBeSent(_ read: Read?) -> Bool {
        guard let read else { return true }
        let (age, isFar) = now.monotonic.subtractingReportingOverflow(read.takenAt)
        return !isFar && age <= demand.times.readLife.milliseconds
    }

    /// Nothing has left: the payment is stored where the rules allow it, else the sealed read is forgotten in the same
    /// write that ends the transaction.
    private mutating func store(_ read: Read) {
        // Nothing but a sale is ever stored, and no PIN.
        guard read.request.type == .sale, read.pin == nil, demand.kept == nil else {
            return end(.pspUnreachable, after: unwritten(read))
        }
        let (stored, told) = stored(read)
        write(
            [sealed(read), stored], as: .store(read.request, read.sale),
            next: .leaving([.publish(completed(read.request.card))] + told, at: now.after(Self.settleTime)),
            then: [.settleReader])
    }

    /// What is written of a payment that is stored, and what is told of it. Nobody has approved it: the reader says no more
    /// than that the card was read.
    func stored(_ read: Read) -> (StateChange, [Outward]) {
        var stored = change(.stored)
        stored.result = PaymentResult(mode: transaction.mode, outcome: .stored)
        stored.result?.repeats = read.repeats
        var event = event(.paymentStored)
        (event.result, event.card) = (stored.result, read.request.card)
        return (stored, [.publish(event), .show(.read)])
    }
}
