// SPDX-License-Identifier: Apache-2.0
/// What the caller knows a payment, an advice or a reconciliation by.
public struct ExchangeID: Hashable, Sendable, CustomStringConvertible {
    public let description: String
    public init(_ text: String) { description = text }
}

/// One message to the host and what has become of it, as far as it is kept in the books.
///
/// Of a payment only those fields are kept that its reversal needs: no track, no cryptogram. Of an advice all are kept until it
/// is acknowledged, for it has to be repeated.
public struct Exchange: Equatable, Sendable {
    public enum Stage: Equatable, Sendable {
        /// Sent, or about to be; a reversal was asked for meanwhile.
        case awaiting(until: UInt64, cancelled: ReversalReason?)
        case answered(HostVerdict)
        case reversing(Repetition)
        case reversed
        /// A reversal came before its payment: the payment will not be sent.
        case voided
        case advising(Repetition)
        case advised(isAccepted: Bool)
        case reconciling(Repetition)
        case reconciled(Balance)
    }

    public let id: ExchangeID
    /// The order in which exchanges began.
    public let order: Int
    public internal(set) var original: ISOMessage
    public internal(set) var stage: Stage
    /// The message that was repeated last, whose answers may still come.
    var taking: ISOMessage?
    /// The host has said that it approved the payment, whether or not that was believed: it cannot say later that it never had it.
    public internal(set) var isApprovedByHost = false
    /// Reversals that were sent before an approval came that was too late, or before a restart: an answer to one of them may be older than what
    /// the host has booked, and ends nothing.
    var reversalsBeforeApproval = 0
    /// The line that it was sent over has ended, or the program: an approval that was on its way may have come to nobody.
    var isUnheard = false
    /// One of these answers came: the host has no payment that it could deny.
    var wasReversedBefore = false
    /// What the card said is not here any more: only an exchange taken from the books is followed by another message.
    var isShed = false

    /// From the books.
    public init(id: ExchangeID, order: Int, original: ISOMessage, stage: Stage, isApprovedByHost: Bool = false) {
        self.id = id
        self.order = order
        self.original = original
        self.stage = stage
        self.isApprovedByHost = isApprovedByHost
    }

    /// Taken back without an approval: the host may still come to know of it, and then it is taken back once more.
    public var mayStillBeApproved: Bool { stage == .reversed && !isApprovedByHost }

    /// An approval of it would have been heard: nothing more has to be asked about it once no host can still hold one back.
    public var wouldBeHeard: Bool { mayStillBeApproved && !isUnheard }

    /// Sendings of what is repeated until it is answered, as the books have them: no fewer than those whose answers end nothing.
    public var sendings: Int { max(repetition?.attempts ?? 0, reversalsBeforeApproval) }

    /// Not at an end: asked and not answered, or not acknowledged.
    public var isOpen: Bool { due != nil || repetition != nil }

    /// When something has to be done without an answer.
    var due: UInt64? {
        switch stage {
        case .awaiting(let until, _): until
        case .reversing(let repetition), .advising(let repetition), .reconciling(let repetition):
            repetition.isGivenUp ? nil : repetition.due
        case .answered, .reversed, .voided, .advised, .reconciled: nil
        }
    }

    public var repetition: Repetition? {
        switch stage {
        case .reversing(let repetition), .advising(let repetition), .reconciling(let repetition): repetition
        case .awaiting, .answered, .reversed, .voided, .advised, .reconciled: nil
        }
    }
}

/// A message that is sent until it is answered.
public struct Repetition: Equatable, Sendable {
    /// As it is sent for the first time. A repeat differs in its type alone, and so has the same key.
    public let message: ISOMessage
    public internal(set) var attempts: Int
    public internal(set) var due: UInt64
    /// Repeated as often as the rules allow: an open item for a person.
    public internal(set) var isGivenUp: Bool

    /// From the books.
    public init(message: ISOMessage, attempts: Int, due: UInt64 = 0, isGivenUp: Bool = false) {
        self.message = message
        self.attempts = attempts
        self.due = due
        self.isGivenUp = isGivenUp
    }
}

public enum Balance: Equatable, Sendable {
    case inBalance
    case outOfBalance
    /// Acknowledged without field 66.
    case unsaid
}

/// Intervals in milliseconds.
public struct LinkRules: Equatable, Sendable {
    /// From sending a payment to taking it back.
    public var answerWithin: UInt64 = 20_000
    /// For how long after an exchange's end a late answer to it is waited for.
    public var lateWithin: UInt64 { answers(6) }
    /// From an exchange's end until what would not have been heard is asked for again: no link listens any more.
    public var unheardAfter: UInt64 { answers(9) }
    /// Silence after which the host is asked for an echo.
    public var echoAfter: UInt64 = 60_000
    public var networkWithin: UInt64 = 20_000
    /// After the host's own sign-off, if it does not sign on before.
    public var signOnAgainAfter: UInt64 = 60_000
    /// Echoes without an answer after which the connection is given up.
    public var missedEchoes = 2
    /// Payments in a row without an answer after which the host counts as silent, whatever it says to echoes.
    public var mostUnanswered = 3
    /// Before each repeat; the last one for all further ones.
    public var pauses: [UInt64] = [10_000, 30_000, 60_000, 300_000, 600_000, 3_600_000]
    /// Sendings after which a person has to help; `nil` for never.
    public var mostAttempts: Int?
    public var mostExchanges = 100_000

    public init() {}

    /// So many times an answer's time.
    private func answers(_ count: UInt64) -> UInt64 {
        let (product, overflow) = answerWithin.multipliedReportingOverflow(by: count)
        return overflow ? .max : product
    }

    func pause(after attempts: Int) -> UInt64 {
        guard let last = pauses.last else { return 10_000 }
        return attempts >= 1 && attempts <= pauses.count ? pauses[attempts - 1] : last
    }
}
