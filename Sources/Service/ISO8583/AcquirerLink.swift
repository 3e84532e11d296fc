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
        /// Signed on, and asked for the key of this line.
        case keying(ISOMessage, until: UInt64)
        case up(echo: ISOMessage?, until: UInt64, missed: Int)
        /// The host wants nothing until it signs on, or is asked to at this time.
        case signedOff(until: UInt64)
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
    /// Payments in a row that were not answered in time; an answer to anything but an echo ends the row.
    public internal(set) var unanswered = 0
    private var nextOrder = 0
    private let stans: ClosedRange<Int>
    /// The trace number that the next message gets, unless it is in use.
    public private(set) var stan: Int

    /// - Parameters:
    ///   - books: the exchanges that were recorded last, after a restart. What was sent and not answered is taken back.
    ///   - stan: the trace number to begin with; after a restart one that was not used lately.
    ///   - stans: those of this link, 1 to 999,999: links of one acquirer that work side by side share none.
    public init(
        _ packager: Packager, rules: LinkRules = LinkRules(), books: [Exchange] = [], stan: Int,
        stans: ClosedRange<Int> = 1...999_999, at moment: LinkMoment
    ) {
        self.packager = packager
        self.rules = rules
        let stans = (1...999_999).clamped(to: stans)
        self.stans = stans
        self.stan = stans.contains(stan) ? stan : stans.lowerBound
        for exchange in books.sorted(by: { $0.order < $1.order }) {
            keep(rebased(exchange, moment, rules.answerWithin))
            nextOrder = max(nextOrder, exchange.order + 1)
        }
    }

    /// The clock of a program that has ended says nothing: every interval begins again.
    private func rebased(_ exchange: Exchange, _ moment: LinkMoment, _ rest: UInt64) -> Exchange {
        func again(_ repetition: Repetition) -> Repetition {
            var repetition = repetition
            // What was recorded may have been sent; it is repeated as soon as there is a connection.
            repetition.due = moment.milliseconds
            return repetition
        }
        var exchange = exchange
        exchange.isUnheard = true
        switch exchange.stage {
        case .awaiting(_, let cancelled):
            exchange.stage = .awaiting(
                until: later(moment, min(rest, rules.answerWithin)), cancelled: cancelled ?? .timeout)
        case .reversing(let repetition):
            exchange.stage = .reversing(again(repetition))
            // Which of its answers have come is not in the books.
            if exchange.isApprovedByHost { exchange.reversalsBeforeApproval = repetition.attempts }
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

    /// Whether the host answers more than echoes, as far as it was asked.
    public var isAnswering: Bool { unanswered < rules.mostUnanswered }

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
        case .signingOn(_, let until), .keying(_, let until), .signedOff(let until): return (due + [until]).min()
        case .up(let echo, let until, _): return (due + [echo == nil ? silence : until]).min()
        }
    }

    public mutating func handle(_ input: LinkInput, at moment: LinkMoment) -> [LinkEffect] {
        // What became due comes first: an answer after its deadline is late, whether or not a tick came in between.
        var effects = expire(moment)
        switch input {
        case .connected: effects += connect(moment)
        case .disconnected:
            session = .down
            for id in Array(exchanges.keys) { exchanges[id]?.isUnheard = true }
        case .authorize(let id, let message): effects += authorize(id, message, moment)
        case .advise(let id, let message): effects += advise(id, message, moment)
        case .reconcile(let id, let message): effects += reconcile(id, message, moment)
        case .reverse(let id, let reason): effects += reverse(id, reason, moment)
        case .received(let message): effects += receive(message, moment)
        case .unauthenticated(let message): effects += receiveUnauthenticated(message, moment)
        case .keyTaken(let message, let isTaken): effects += keyTaken(message, isTaken, moment)
        case .unreadable(let error): effects.append(.alarm(.unreadable(error)))
        case .adopt(let exchange, let rest): adopt(exchange, moment, rest)
        case .withdraw(let id): drop(id)
        case .forget(let id): forget(id)
        case .shed(let id): shed(id)
        case .tick: break
        case .leave: effects += leave(moment)
        }
        return effects
    }

    // MARK: - Keeping

    mutating func keep(_ exchange: Exchange) {
        var exchange = exchange
        exchange.taking = exchange.repetition?.message ?? exchanges[exchange.id]?.taking
        switch exchange.stage {
        case .answered(.approved), .answered(.partial): exchange.isApprovedByHost = true
        default: break
        }
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

    private mutating func adopt(_ exchange: Exchange, _ moment: LinkMoment, _ rest: UInt64) {
        if let known = exchanges[exchange.id], known.isOpen { return }
        drop(exchange.id)
        var own = Exchange(
            id: exchange.id, order: nextOrder, original: exchange.original, stage: exchange.stage,
            isApprovedByHost: exchange.isApprovedByHost)
        own = rebased(own, moment, rest)
        nextOrder += 1
        keep(own)
    }

    /// Leaves alone what is not at an end.
    private mutating func forget(_ id: ExchangeID) {
        guard let exchange = exchanges[id], !exchange.isOpen else { return }
        drop(id)
    }

    /// Leaves of what is at an end those fields by which answers are found.
    private mutating func shed(_ id: ExchangeID) {
        guard var exchange = exchanges[id], !exchange.isOpen else { return }
        exchange.original = exchange.original.keeping(Self.matched)
        exchange.taking = exchange.taking?.keeping(Self.matched)
        exchange.isShed = true
        exchanges[id] = exchange
    }

    private mutating func drop(_ id: ExchangeID) {
        guard let exchange = exchanges.removeValue(forKey: id) else { return }
        open.remove(id)
        for message in [exchange.original, exchange.taking, exchange.repetition?.message] {
            guard let message, let key = AnswerKey(to: message), expected[key] == id else { continue }
            expected[key] = nil
        }
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
        for _ in stans {
            let digits = OriginalData.justified("\(stan)", 6)
            stan = stan == stans.upperBound ? stans.lowerBound : stan + 1
            message.set(11, digits)
            guard let key = AnswerKey(to: message) else { return nil }
            if expected[key] == nil { return message }
        }
        return nil
    }
}
