// SPDX-License-Identifier: Apache-2.0
/// What the caller asks for, and what becomes due.
extension AcquirerLink {
    // MARK: - Asking

    mutating func authorize(_ id: ExchangeID, _ message: ISOMessage, _ moment: LinkMoment) -> [LinkEffect] {
        if case .voided = exchanges[id]?.stage { return [.settled(id, .declined(.declined("94")))] }
        if let refusal = refusal(id, message, kinds: [1, 2], functions: [0]) {
            // What is known by this name is settled by its own answer; a second one must not speak for it.
            return [refusal == .idInUse ? .alarm(.refused(id, .idInUse)) : .settled(id, .notSent(refusal))]
        }
        guard isSignedOn else { return [.settled(id, .notSent(.notSignedOn))] }
        switch prepared(message, moment) {
        case .failure(let error): return [.settled(id, .notSent(error.refusal))]
        case .success(let message):
            let until = later(moment, rules.answerWithin)
            let kept = message.keeping(Self.matched + packager.reversal.fields)
            return [begin(id, kept, .awaiting(until: until, cancelled: nil)), .send(message)]
        }
    }

    /// Fields by which answers are found and held against the question.
    static let matched = [3, 4, 7, 11, 12, 32, 33, 37, 41, 49]

    mutating func advise(_ id: ExchangeID, _ message: ISOMessage, _ moment: LinkMoment) -> [LinkEffect] {
        // A reversal of a part is an advice of its own: it takes nothing back as a whole.
        if let refusal = refusal(id, message, kinds: [1, 2, 4], functions: [2]) {
            return [.alarm(.refused(id, refusal))]
        }
        return repeated(id, message, moment) { .advising($0) }
    }

    mutating func reconcile(_ id: ExchangeID, _ message: ISOMessage, _ moment: LinkMoment) -> [LinkEffect] {
        if let refusal = refusal(id, message, kinds: [5], functions: [0, 2]) {
            return [.alarm(.refused(id, refusal))]
        }
        return repeated(id, message, moment) { .reconciling($0) }
    }

    private mutating func repeated(
        _ id: ExchangeID, _ message: ISOMessage, _ moment: LinkMoment, _ stage: (Repetition) -> Exchange.Stage
    ) -> [LinkEffect] {
        switch prepared(message, moment) {
        case .failure(let error): return [.alarm(.refused(id, error.refusal))]
        case .success(let message):
            let repetition = Repetition(
                message: message, attempts: 0, due: moment.milliseconds, isGivenUp: false)
            return [begin(id, message, stage(repetition))] + sendDue(moment)
        }
    }

    private func refusal(
        _ id: ExchangeID, _ message: ISOMessage, kinds: Set<UInt8>, functions: Set<UInt8>
    ) -> Refusal? {
        let type = message.type
        if exchanges[id] != nil { return .idInUse }
        guard kinds.contains(type.kind), functions.contains(type.function), type == type.first else {
            return .wrongType
        }
        if message[52] != nil { return .pinData }
        return exchanges.count < rules.mostExchanges ? nil : .tooMany
    }

    private struct Unsendable: Error {
        let refusal: Refusal
    }

    /// The message as it will be sent, if it can be: what cannot be packed must not become a doubt.
    private mutating func prepared(_ message: ISOMessage, _ moment: LinkMoment) -> Result<ISOMessage, Unsendable> {
        guard var message = stamped(message, moment), let stan = message.text(11) else {
            return .failure(Unsendable(refusal: .tooMany))
        }
        if message[37] == nil { message.set(37, moment.time.reference(stan: stan)) }
        do throws(MessageError) {
            _ = try packager.build(message)
            if message.type.function == 0, message.type.kind != 5 {
                // Its reversal is made and packed as a trial: a payment that cannot be taken back is not begun.
                guard var trial = reversal(of: message, .timeout) else {
                    return .failure(Unsendable(refusal: .notReversible))
                }
                trial.set(11, stan)
                trial.set(7, moment.time.transmission)
                _ = try packager.build(trial)
            }
        } catch {
            return .failure(Unsendable(refusal: .unpackable(error)))
        }
        return .success(message)
    }

    // MARK: - Taking back

    mutating func reverse(_ id: ExchangeID, _ reason: ReversalReason, _ moment: LinkMoment) -> [LinkEffect] {
        guard let exchange = exchanges[id] else {
            // The payment may come later, by another way: it must not be sent then.
            return [begin(id, ISOMessage(packager.network.type), .voided), .reversed(id)]
        }
        switch exchange.stage {
        // Without its card a host would not find it.
        case .answered(.approved) where exchange.isShed, .answered(.partial) where exchange.isShed:
            return [.alarm(.cannotReverse(id))]
        case .awaiting(let until, _):
            // Whether the host has it is not known before its answer or the deadline.
            return [move(exchange, to: .awaiting(until: until, cancelled: reason))]
        case .answered(.approved), .answered(.partial): return doubt(exchange, reason, moment)
        // Wanted once more, from the books: nobody may have heard that the host approved it after all.
        case .reversed where exchange.mayStillBeApproved && !exchange.isShed: return doubt(exchange, reason, moment)
        case .answered(.declined), .answered(.later), .answered(.doubtful), .reversed, .voided: return [.reversed(id)]
        case .reversing(var repetition):
            guard repetition.isGivenUp else { return [] }
            repetition.isGivenUp = false
            repetition.due = moment.milliseconds
            return [move(exchange, to: .reversing(repetition))] + sendDue(moment)
        case .advising, .advised, .reconciling, .reconciled: return [.alarm(.cannotReverse(id))]
        }
    }

    /// Begins a reversal and sends it if the link is up.
    mutating func doubt(_ exchange: Exchange, _ reason: ReversalReason, _ moment: LinkMoment) -> [LinkEffect] {
        guard let message = reversal(of: exchange.original, reason).flatMap({ stamped($0, moment) }) else {
            return [.alarm(.openItem(exchange.id))]
        }
        let repetition = Repetition(message: message, attempts: 0, due: moment.milliseconds, isGivenUp: false)
        return [move(exchange, to: .reversing(repetition))] + sendDue(moment)
    }

    /// 0420 or 0400 for a payment, without its own trace number and time.
    private func reversal(of original: ISOMessage, _ reason: ReversalReason) -> ISOMessage? {
        let rules = packager.reversal
        guard let data = OriginalData(of: original) else { return nil }
        var message = original.keeping(rules.fields)
        message.type = MessageType(
            version: original.type.version, kind: 4, function: rules.isAdvice ? 2 : 0, origin: 0)
        for (field, text) in rules.constants { message.set(field, text) }
        if let text = rules.reasons[reason] { message.set(rules.reasonField, text) }
        if packager.version == .iso1987 {
            message.set(90, data.field90)
        } else {
            message.set(56, data.field56)
        }
        return message
    }

    // MARK: - Becoming due

    mutating func expire(_ moment: LinkMoment) -> [LinkEffect] {
        var effects = expireSession(moment)
        guard earliest <= moment.milliseconds else { return effects }
        let before = unanswered
        for exchange in due(moment) {
            guard case .awaiting(_, let cancelled) = exchange.stage else { continue }
            unanswered += 1
            effects += doubt(exchange, cancelled ?? .timeout, moment)
            effects.append(.settled(exchange.id, .unknown))
        }
        effects += sendDue(moment)
        if unanswered > before { effects += probe(moment) }
        earliest = open.compactMap { exchanges[$0]?.due }.min() ?? .max
        return effects
    }

    private func due(_ moment: LinkMoment) -> [Exchange] {
        open.compactMap { exchanges[$0] }.filter { $0.due.map { $0 <= moment.milliseconds } ?? false }
            .sorted { $0.order < $1.order }
    }

    /// Sends what waits to be repeated and is due, oldest first.
    mutating func sendDue(_ moment: LinkMoment) -> [LinkEffect] {
        guard isSignedOn else { return [] }
        var effects: [LinkEffect] = []
        for exchange in due(moment) {
            switch exchange.stage {
            case .reversing(let repetition): effects += sendAgain(exchange, repetition, moment) { .reversing($0) }
            case .advising(let repetition): effects += sendAgain(exchange, repetition, moment) { .advising($0) }
            case .reconciling(let repetition): effects += sendAgain(exchange, repetition, moment) { .reconciling($0) }
            case .awaiting, .answered, .reversed, .voided, .advised, .reconciled: break
            }
        }
        return effects
    }

    private mutating func sendAgain(
        _ exchange: Exchange, _ repetition: Repetition, _ moment: LinkMoment,
        _ stage: (Repetition) -> Exchange.Stage
    ) -> [LinkEffect] {
        var repetition = repetition
        if let most = rules.mostAttempts, repetition.attempts >= most {
            repetition.isGivenUp = true
            return [move(exchange, to: stage(repetition)), .alarm(.openItem(exchange.id))]
        }
        var message = repetition.message
        if repetition.attempts > 0 { message.type = message.type.again }
        repetition.attempts += 1
        repetition.due = later(moment, rules.pause(after: repetition.attempts))
        return [move(exchange, to: stage(repetition)), .send(message)]
    }
}
