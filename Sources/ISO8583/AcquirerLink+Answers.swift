// SPDX-License-Identifier: Apache-2.0
/// What comes from the host.
extension AcquirerLink {
    mutating func receive(_ message: ISOMessage, _ moment: LinkMoment) -> [LinkEffect] {
        hear(moment)
        if message.type.kind == 8 { return receiveNetwork(message, moment) }
        guard let key = AnswerKey(message) else { return [.alarm(.notServed(message.type))] }
        guard let exchange = expected[key].flatMap({ exchanges[$0] }) else { return [.alarm(.stray(message.type))] }
        if message.type == exchange.original.type.answer, message.answers(exchange.original) {
            return answerToOriginal(message, exchange, moment)
        }
        guard case .reversing(let repetition) = exchange.stage, message.answers(repetition.message) else {
            // A second acknowledgement of what is over says nothing new.
            return exchange.stage == .reversed && message.type.kind == 4 ? [] : [.alarm(.stray(message.type))]
        }
        return reversalAnswered(message, exchange, repetition)
    }

    private mutating func answerToOriginal(
        _ message: ISOMessage, _ exchange: Exchange, _ moment: LinkMoment
    ) -> [LinkEffect] {
        switch exchange.stage {
        case .awaiting(_, let cancelled): return paymentAnswered(message, exchange, cancelled, moment)
        case .answered(let verdict):
            let second = message.verdict(on: exchange.original, packager.codes)
            if case .success(let other) = second, other == verdict { return [] }
            return [.alarm(.answersDiffer(exchange.id))]
        case .reversing: return late(message, exchange, afterReversal: false)
        case .reversed: return late(message, exchange, afterReversal: true)
        case .advising(let repetition): return adviceAnswered(message, exchange, repetition)
        case .reconciling: return reconciliationAnswered(message, exchange)
        case .voided, .advised, .reconciled: return []
        }
    }

    /// Recorded nowhere and never told as an answer: the reversal goes on.
    private func late(_ message: ISOMessage, _ exchange: Exchange, afterReversal: Bool) -> [LinkEffect] {
        guard case .success(let verdict) = message.verdict(on: exchange.original, packager.codes) else { return [] }
        switch verdict {
        case .approved, .partial:
            let alarm = LinkEffect.alarm(.lateApproval(exchange.id, afterReversal: afterReversal))
            return exchange.isUnknownToHost ? [alarm, .alarm(.approvedAfterAll(exchange.id))] : [alarm]
        case .declined, .later, .doubtful: return []
        }
    }

    private mutating func paymentAnswered(
        _ message: ISOMessage, _ exchange: Exchange, _ cancelled: ReversalReason?, _ moment: LinkMoment
    ) -> [LinkEffect] {
        let id = exchange.id
        let verdict: HostVerdict
        switch message.verdict(on: exchange.original, packager.codes) {
        case .success(let found): verdict = found
        case .failure(let contradicted):
            return doubt(exchange, .badAnswer, moment)
                + [.settled(id, .unknown), .alarm(.contradiction(id, contradicted.by))]
        }
        switch verdict {
        case .approved, .partial:
            if let cancelled { return doubt(exchange, cancelled, moment) + [.settled(id, .unknown)] }
            let outcome: HostOutcome = verdict == .approved ? .approved(message) : .partial(message)
            return [move(exchange, to: .answered(verdict)), .settled(id, outcome)]
        case .doubtful(let code):
            let alarm: [LinkEffect] = ["94", "913"].contains(code) ? [.alarm(.stanUsedTwice(id))] : []
            return doubt(exchange, .malfunction, moment) + [.settled(id, .unknown)] + alarm
        case .declined, .later:
            let end: [LinkEffect] = cancelled == nil ? [] : [.reversed(id)]
            return [move(exchange, to: .answered(verdict)), .settled(id, .declined(verdict))] + end
        }
    }

    private mutating func reversalAnswered(
        _ message: ISOMessage, _ exchange: Exchange, _ repetition: Repetition
    ) -> [LinkEffect] {
        // Whatever else it says, the host may still have the payment: it is asked again.
        guard let code = message.text(39), packager.codes.reversed.contains(code) else {
            return [.alarm(.reversalRefused(exchange.id, message.text(39) ?? ""))]
        }
        var exchange = exchange
        // “Sent twice” answers a repeat: the first one was carried out.
        exchange.isUnknownToHost = !packager.codes.approved.contains(code) && !["94", "913"].contains(code)
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
            guard ["94", "913"].contains(code) else { return [] }
            return repetition.attempts > 1 ? end(true) : [.alarm(.stanUsedTwice(exchange.id))]
        case .partial, .declined: return end(false) + [.alarm(.adviceDeclined(exchange.id, code))]
        }
    }

    private mutating func reconciliationAnswered(_ message: ISOMessage, _ exchange: Exchange) -> [LinkEffect] {
        let balance: Balance =
            switch message.text(66) {
            case "1": .inBalance
            case "2": .outOfBalance
            case nil, .some: .unsaid
            }
        let alarm: [LinkEffect] = balance == .outOfBalance ? [.alarm(.outOfBalance(exchange.id))] : []
        return [move(exchange, to: .reconciled(balance)), .reconciled(exchange.id, balance)] + alarm
    }
}
