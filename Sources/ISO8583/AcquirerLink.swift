// SPDX-License-Identifier: Apache-2.0
/// One connection to an acquirer as a machine without I/O: inputs in, effects out, time as a parameter.
///
/// It signs on, asks for echoes, gives every message its trace number, finds the question to every answer, takes payments back
/// that were not answered as asked, and repeats reversals, advices and reconciliations until they are acknowledged. What it says
/// of a payment is said once: an approval that comes after the doubt began is an alarm and nothing else.
public struct AcquirerLink: Sendable {
    enum Session: Equatable, Sendable {
        case down
        case signingOn(ISOMessage, until: UInt64)
        case up(echo: ISOMessage?, until: UInt64, missed: Int)
        case leaving
    }

    public let rules: LinkRules
    let packager: Packager
    var session = Session.down
    var exchanges: [ExchangeID: Exchange] = [:]
    /// Exchanges by the answers that may still come to them.
    var expected: [AnswerKey: ExchangeID] = [:]
    /// Exchanges in which something becomes due.
    var open: Set<ExchangeID> = []
    /// Nothing in `open` is due before.
    var earliest = UInt64.max
    var lastHeard: UInt64 = 0
    private var nextOrder = 0
    private var stan: Int

    /// - Parameters:
    ///   - books: the exchanges that were recorded last, after a restart. What was sent and not answered is taken back.
    ///   - stan: the trace number to begin with, 1 to 999,999; after a restart one that was not used lately.
    public init(
        _ packager: Packager, rules: LinkRules = LinkRules(), books: [Exchange] = [], stan: Int,
        at moment: LinkMoment
    ) {
        self.packager = packager
        self.rules = rules
        self.stan = (1...999_999).contains(stan) ? stan : 1
        for exchange in books.sorted(by: { $0.order < $1.order }) {
            keep(rebased(exchange, moment))
            nextOrder = max(nextOrder, exchange.order + 1)
        }
    }

    /// The clock of a program that has ended says nothing: every interval begins again.
    private func rebased(_ exchange: Exchange, _ moment: LinkMoment) -> Exchange {
        func again(_ repetition: Repetition) -> Repetition {
            var repetition = repetition
            // What was recorded may have been sent; it is repeated as soon as there is a connection.
            repetition.due = moment.milliseconds
            return repetition
        }
        var exchange = exchange
        switch exchange.stage {
        case .awaiting(_, let cancelled):
            exchange.stage = .awaiting(
                until: later(moment, rules.answerWithin), cancelled: cancelled ?? .timeout)
        case .reversing(let repetition): exchange.stage = .reversing(again(repetition))
        case .advising(let repetition): exchange.stage = .advising(again(repetition))
        case .reconciling(let repetition): exchange.stage = .reconciling(again(repetition))
        case .answered, .reversed, .voided, .advised, .reconciled: break
        }
        return exchange
    }

    // MARK: - For the caller

    public var isSignedOn: Bool {
        if case .up = session { true } else { false }
    }

    public func exchange(_ id: ExchangeID) -> Exchange? { exchanges[id] }

    /// Exchanges that are not at an end: asked and not answered, or not acknowledged.
    public var openExchanges: [Exchange] {
        exchanges.values.filter { $0.due != nil || $0.repetition != nil }.sorted { $0.order < $1.order }
    }

    /// When `handle(.tick, …)` has something to do; looks through what is open.
    public var nextDeadline: UInt64? {
        let isUp = isSignedOn
        let due = open.compactMap { id -> UInt64? in
            guard let exchange = exchanges[id], isUp || exchange.repetition == nil else { return nil }
            return exchange.due
        }
        switch session {
        case .down, .leaving: return due.min()
        case .signingOn(_, let until): return (due + [until]).min()
        case .up(let echo, let until, _): return (due + [echo == nil ? silence : until]).min()
        }
    }

    public mutating func handle(_ input: LinkInput, at moment: LinkMoment) -> [LinkEffect] {
        // What became due comes first: an answer after its deadline is late, whether or not a tick came in between.
        var effects = expire(moment)
        switch input {
        case .connected: effects += connect(moment)
        case .disconnected: session = .down
        case .authorize(let id, let message): effects += authorize(id, message, moment)
        case .advise(let id, let message): effects += advise(id, message, moment)
        case .reconcile(let id, let message): effects += reconcile(id, message, moment)
        case .reverse(let id, let reason): effects += reverse(id, reason, moment)
        case .received(let message): effects += receive(message, moment)
        case .unreadable(let error): effects.append(.alarm(.unreadable(error)))
        case .forget(let id): forget(id)
        case .tick: break
        case .leave: effects += leave(moment)
        }
        return effects
    }

    // MARK: - Keeping

    mutating func keep(_ exchange: Exchange) {
        exchanges[exchange.id] = exchange
        if let key = AnswerKey(to: exchange.original) { expected[key] = exchange.id }
        if let message = exchange.repetition?.message, let key = AnswerKey(to: message) { expected[key] = exchange.id }
        if let due = exchange.due {
            open.insert(exchange.id)
            earliest = min(earliest, due)
        } else {
            open.remove(exchange.id)
        }
    }

    /// Leaves alone what is not at an end.
    private mutating func forget(_ id: ExchangeID) {
        guard let exchange = exchanges[id], exchange.due == nil, exchange.repetition == nil else { return }
        exchanges[id] = nil
        expected = expected.filter { $0.value != id }
    }

    /// The exchange in its new stage, in the books and here.
    mutating func move(_ exchange: Exchange, to stage: Exchange.Stage) -> LinkEffect {
        var exchange = exchange
        exchange.stage = stage
        keep(exchange)
        return .record(exchange)
    }

    mutating func begin(_ id: ExchangeID, _ original: ISOMessage, _ stage: Exchange.Stage) -> LinkEffect {
        let exchange = Exchange(id: id, order: nextOrder, original: original, stage: stage)
        nextOrder += 1
        keep(exchange)
        return .record(exchange)
    }

    // MARK: - Numbers and times

    func later(_ moment: LinkMoment, _ interval: UInt64) -> UInt64 {
        let (sum, overflow) = moment.milliseconds.addingReportingOverflow(interval)
        return overflow ? .max : sum
    }

    var silence: UInt64 {
        let (sum, overflow) = lastHeard.addingReportingOverflow(rules.echoAfter)
        return overflow ? .max : sum
    }

    /// The message with a trace number that no other exchange of its kind has, and the time. `nil` where all are taken.
    mutating func stamped(_ message: ISOMessage, _ moment: LinkMoment) -> ISOMessage? {
        var message = message
        message.set(7, moment.time.transmission)
        for _ in 1...999_999 {
            let digits = OriginalData.justified("\(stan)", 6)
            stan = stan == 999_999 ? 1 : stan + 1
            message.set(11, digits)
            guard let key = AnswerKey(to: message) else { return nil }
            if expected[key] == nil { return message }
        }
        return nil
    }
}
