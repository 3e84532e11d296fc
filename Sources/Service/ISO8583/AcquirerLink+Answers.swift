// SPDX-License-Identifier: Apache-2.0
/// What comes from the host.
extension AcquirerLink {
    mutating func receive(_ message: ISOMessage, _ moment: LinkMoment) -> [LinkEffect] {
        hear(moment)
        if message.type.kind == 8 { return receiveNetwork(message, moment) }
        guard let key = AnswerKey(message) else { return [.alarm(.notServed(message.type))] }
        guard let exchange = expected[key].flatMap({ exchanges[$0] }) else { return [.alarm(.stray(message.type))] }
        if message.type == exchange.original.type.answer, message.answers(exchange.original, packager.answers) {
            unanswered = 0
            return answerToOriginal(message, exchange, moment)
        }
        guard case .reversing(let repetition) = exchange.stage, message.answers(repetition.message, packager.answers)
        else {
            // A second acknowledgement of what is over says nothing new.
            if exchange.stage == .reversed, message.type.kind == 4 { return [] }
            return [.alarm(differing(message, exchange) ?? .stray(message.type))]
        }
        unanswered = 0
        return reversalAnswered(message, exchange, repetition, moment)
    }

    /// Whoever has sent it, nothing that it says counts: a payment that waits for its answer is taken back. What is repeated anyway is repeated.
    mutating func receiveUnauthenticated(_ message: ISOMessage, _ moment: LinkMoment) -> [LinkEffect] {
        guard let key = AnswerKey(message), var exchange = expected[key].flatMap({ exchanges[$0] }),
            message.answers(exchange.original, packager.answers), case .awaiting(_, let cancelled) = exchange.stage
        else { return [.alarm(.notAuthentic(nil))] }
        // It may be the host's own word all the same, by another key: then it cannot say later that it never had the payment.
        switch message.verdict(on: exchange.original, packager.codes) {
        case .success(.approved), .success(.partial): exchange.isApprovedByHost = true
        case .success(.declined), .success(.later), .success(.doubtful), .failure: break
        }
        return doubt(exchange, cancelled ?? .badAnswer, moment)
            + [.settled(exchange.id, .unknown), .alarm(.notAuthentic(exchange.id))]
    }

    /// What keeps a message with a known trace number from being an answer; `nil` where it is of another kind than the questions were.
    private func differing(_ message: ISOMessage, _ exchange: Exchange) -> LinkAlarm? {
        for question in [exchange.original, exchange.repetition?.message] {
            guard let question, message.type == question.type.answer, message[11] == question[11],
                let field = message.difference(from: question, packager.answers)
            else { continue }
            return .answerDiffers(exchange.id, field: field)
        }
        return nil
    }

    private mutating func answerToOriginal(
        _ message: ISOMessage, _ exchange: Exchange, _ moment: LinkMoment
    ) -> [LinkEffect] {
        switch exchange.stage {
        case .awaiting(_, let cancelled): return paymentAnswered(message, exchange, cancelled, moment)
        case .answered(let verdict):
            return answeredAgain(exchange, verdict, message.verdict(on: exchange.original, packager.codes))
        case .reversing: return late(message, exchange, afterReversal: false)
        case .reversed: return late(message, exchange, afterReversal: true)
        case .advising(let repetition): return adviceAnswered(message, exchange, repetition)
        case .reconciling: return reconciliationAnswered(message, exchange)
        case .advised(let isAccepted): return acknowledgedAgain(message, exchange, isAccepted)
        case .voided, .reconciled: return []
        }
    }

    /// The first answer stands, for it was told. What it says of money and the second one denies, a person has to see.
    private func answeredAgain(
        _ exchange: Exchange, _ first: HostVerdict, _ second: Result<HostVerdict, Contradicted>
    ) -> [LinkEffect] {
        if case .success(first) = second { return [] }
        let moved: Bool?
        switch second {
        case .success(.approved), .success(.partial): moved = true
        case .success(.declined), .success(.later): moved = false
        // Without a word on money.
        case .success(.doubtful): moved = nil
        case .failure(let contradicted): moved = contradicted.by == .noCode ? nil : true
        }
        let hasMoved = first == .approved || first == .partial
        guard let moved, moved || hasMoved else { return [.alarm(.answersDiffer(exchange.id))] }
        return [.alarm(.contradictsItself(exchange.id))]
    }

    /// An advice was refused for good and is accepted after that, or was “sent twice”: the host has booked what the books have not. That it refuses the repeat of what it has
    /// accepted says nothing: it has it already.
    private func acknowledgedAgain(_ message: ISOMessage, _ exchange: Exchange, _ isAccepted: Bool) -> [LinkEffect] {
        guard !isAccepted, let code = message.text(39),
            packager.codes.verdict(code) == .approved || HostCodes.duplicate.contains(code)
        else { return [] }
        return [.alarm(.contradictsItself(exchange.id))]
    }

    /// Recorded nowhere and never told as an answer: the reversal goes on. An approval of a wrong sum is one of the host, too.
    private mutating func late(_ message: ISOMessage, _ exchange: Exchange, afterReversal: Bool) -> [LinkEffect] {
        switch message.verdict(on: exchange.original, packager.codes) {
        case .success(.approved), .success(.partial): break
        case .success(.declined), .success(.later), .success(.doubtful): return []
        case .failure(let contradicted): guard contradicted.by != .noCode else { return [] }
        }
        let alarm = LinkEffect.alarm(.lateApproval(exchange.id, afterReversal: afterReversal))
        guard !exchange.isApprovedByHost else { return [alarm] }
        // Whatever ended its reversal, the host may have booked it after that: asked once more, it has it no more for certain.
        if afterReversal { return [alarm, .alarm(.approvedAfterAll(exchange.id))] }
        var exchange = exchange
        exchange.isApprovedByHost = true
        exchange.reversalsBeforeApproval = exchange.repetition?.attempts ?? 0
        return [move(exchange, to: exchange.stage), alarm]
    }

    private mutating func paymentAnswered(
        _ message: ISOMessage, _ exchange: Exchange, _ cancelled: ReversalReason?, _ moment: LinkMoment
    ) -> [LinkEffect] {
        let id = exchange.id
        var exchange = exchange
        if packager.answers.reference == .host, let reference = message[37] { exchange.original[37] = reference }
        let verdict: HostVerdict
        switch message.verdict(on: exchange.original, packager.codes) {
        case .success(let found): verdict = found
        case .failure(let contradicted):
            // Without a code nothing was approved yet; a wrong sum or currency was.
            exchange.isApprovedByHost = contradicted.by != .noCode
            return doubt(exchange, .badAnswer, moment)
                + [.settled(id, .unknown), .alarm(.contradiction(id, contradicted.by))]
        }
        switch verdict {
        case .approved, .partial:
            if let cancelled {
                exchange.isApprovedByHost = true
                return doubt(exchange, cancelled, moment) + [.settled(id, .unknown)]
            }
            let outcome: HostOutcome = verdict == .approved ? .approved(message) : .partial(message)
            return [move(exchange, to: .answered(verdict)), .settled(id, outcome)]
        case .doubtful(let code):
            var alarms: [LinkEffect] = HostCodes.duplicate.contains(code) ? [.alarm(.stanUsedTwice(id))] : []
            if !packager.codes.knows(code) { alarms.append(.alarm(.unknownCode(id, code))) }
            return doubt(exchange, .malfunction, moment) + [.settled(id, .unknown)] + alarms
        case .declined, .later:
            let end: [LinkEffect] = cancelled == nil ? [] : [.reversed(id)]
            return [move(exchange, to: .answered(verdict)), .settled(id, .declined(verdict))] + end
        }
    }

    private mutating func reversalAnswered(
        _ message: ISOMessage, _ exchange: Exchange, _ repetition: Repetition, _ moment: LinkMoment
    ) -> [LinkEffect] {
        // Whatever else it says, the host may still have the payment: it is asked again.
        guard let code = message.text(39), packager.codes.reversed.contains(code) else {
            return [.alarm(.reversalRefused(exchange.id, message.text(39) ?? ""))]
        }
        // “Sent twice” answers a repeat: the first one was carried out. Where there was no first one it says nothing.
        if HostCodes.duplicate.contains(code), repetition.attempts < 2 { return [.alarm(.stanUsedTwice(exchange.id))] }
        if exchange.reversalsBeforeApproval > 0 {
            // Each reversal is answered once at most: one answer more than these is to a reversal that came after the approval.
            var (exchange, repetition) = (exchange, repetition)
            exchange.reversalsBeforeApproval -= 1
            exchange.wasReversedBefore = !packager.codes.unknown.contains(code) || exchange.wasReversedBefore
            // The host answers: its next silence is its first.
            (repetition.attempts, repetition.due) = (1, moment.milliseconds)
            return [move(exchange, to: .reversing(repetition))] + sendDue(moment)
        }
        if packager.codes.unknown.contains(code), exchange.isApprovedByHost, !exchange.wasReversedBefore {
            // What it has approved it cannot have never had: a person has to ask the acquirer which is true.
            var repetition = repetition
            repetition.isGivenUp = true
            let alarm = LinkEffect.alarm(.reversalContradictsApproval(exchange.id, code))
            return [move(exchange, to: .reversing(repetition)), alarm, .alarm(.openItem(exchange.id))]
        }
        return [move(exchange, to: .reversed), .reversed(exchange.id)]
    }

    private mutating func adviceAnswered(
        _ message: ISOMessage, _ exchange: Exchange, _ repetition: Repetition
    ) -> [LinkEffect] {
        guard let code = message.text(39) else { return [.alarm(.contradiction(exchange.id, .noCode))] }
        func end(_ isAccepted: Bool) -> [LinkEffect] {
            [move(exchange, to: .advised(isAccepted: isAccepted)), .advised(exchange.id, isAccepted: isAccepted)]
        }
        switch packager.codes.verdict(code) {
        case .approved: return end(true)
        case .later: return []
        case .doubtful:
            // “Sent twice” answers a repeat: the first one has arrived. Every other doubt is asked again.
            guard HostCodes.duplicate.contains(code) else {
                return packager.codes.knows(code) ? [] : [.alarm(.unknownCode(exchange.id, code))]
            }
            return repetition.attempts > 1 ? end(true) : [.alarm(.stanUsedTwice(exchange.id))]
        case .partial, .declined: return end(false) + [.alarm(.adviceDeclined(exchange.id, code))]
        }
    }

    private mutating func reconciliationAnswered(_ message: ISOMessage, _ exchange: Exchange) -> [LinkEffect] {
        // Field 39 first: what a host could not look at it has not compared, and it is asked again.
        let code = message.text(39) ?? ""
        let balance: Balance
        switch (packager.version, code, message.text(66)) {
        case (.iso1987, "95", _), (.iso1993, "501", _): balance = .outOfBalance
        case (.iso1993, "500", _): balance = .inBalance
        case (_, _, let said) where packager.codes.approved.contains(code):
            balance = said == "1" ? .inBalance : said == "2" ? .outOfBalance : .unsaid
        case (_, _, _): return [.alarm(.dayNotTaken(exchange.id, code))]
        }
        let alarm: [LinkEffect] = balance == .outOfBalance ? [.alarm(.outOfBalance(exchange.id))] : []
        return [move(exchange, to: .reconciled(balance)), .reconciled(exchange.id, balance)] + alarm
    }
}
