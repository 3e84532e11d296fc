// SPDX-License-Identifier: Apache-2.0

/// A connection of a till: a socket, a serial line, or one exchange of HTTP. Numbers are not used again.
public struct TillConnection: Hashable, Sendable {
    public let number: UInt64

    public init(_ number: UInt64) { self.number = number }
}

/// What a machine asks of its host. Effects are carried out in order.
public enum TillEffect: Equatable, Sendable {
    /// In one piece. With `isApproval` the host first looks whether the till is still there, says `lost` if it is not, and
    /// says `sent` once the whole of it has left, before whatever the till does then: one that has read it and gone was told.
    case send([UInt8], TillConnection, isApproval: Bool = false)
    /// The answer to an exchange of HTTP; the host says `sent` or `lost` afterwards.
    case respond(ProxyResponse, TillConnection)
    case close(TillConnection)
    /// A timer that is armed again begins anew.
    case arm(TillTimer, milliseconds: Int64)
    /// On disk before any effect behind it; a host that cannot write it ends, and carries out nothing more.
    case record(Attempt)
    /// A number was given out that no attempt has; it is never given out again.
    case spend(UInt64)
    case start(StartRequest)
    /// It is not begun: `settled` with this refusal follows, as if the daemon had said so.
    case refuse(AttemptKey, TillRefusal)
    /// Nobody wants the payment any more; `tooLate` or an outcome follows.
    case cancel(AttemptKey)
    /// Ask the daemon again with the same key: the outcome follows.
    case lookUp(AttemptKey)
    /// Repeated by the host until the daemon has answered, at once and before anything else.
    case confirm(AttemptKey)
    case takeBack(AttemptKey, TakeBackReason)
    /// The till wants a paid sale reversed; `reversed` follows.
    case reverse(AttemptKey)
    /// The till wants this of a reservation; `booked` follows.
    case book(Booking, of: AttemptKey)
    /// All attempts up to this number belong to a batch that is closed.
    case closeBatch(through: UInt64)
    case alarm(TillAlarm)

    var isRecord: Bool { if case .record = self { true } else { false } }
}

/// A payment to be asked for, with the limits that let the till learn of it.
public struct StartRequest: Equatable, Sendable {
    public var key: AttemptKey
    public var order: TillOrder
    /// Seconds within which a card has to be presented.
    public var deadline: Int
    /// Seconds within which the daemon wants to hear that the till knows of an approval.
    public var confirmWithin: Int

    public init(key: AttemptKey, order: TillOrder, deadline: Int, confirmWithin: Int) {
        self.key = key
        self.order = order
        self.deadline = deadline
        self.confirmWithin = confirmWithin
    }
}

public enum TakeBackReason: Sendable, CaseIterable {
    /// The till cannot know of the approval.
    case notDelivered
    /// The till had the approval and does not hand out the goods.
    case refusedByTill
    /// The till was told, and then lost what it was told.
    case malfunction
    /// Another sum than was asked for.
    case otherAmount
    /// Too late to be told.
    case late
}

/// What a person has to know.
public enum TillAlarm: Equatable, Sendable {
    /// The host ended while the till was told: the payment is taken back, and the till may think it is paid.
    case endedWhileTelling(AttemptKey)
    /// The till was told "paid", and the daemon has not kept it.
    case toldButNotKept(AttemptKey)
    /// The till has booked the payment when it began, and it is not paid.
    case bookedNotPaid(AttemptKey)
    /// The same card has paid the same sum within a minute: a sale that the cashier may have asked for again.
    case sameCardAgain(AttemptKey)
    /// Somebody guesses receipt numbers.
    case reversalsBarred
    /// A start of hw_proxy began nothing, and its till knows no more than that.
    case notStarted(ProxyRefusal)
}

public enum TillTimer: Hashable, Sendable {
    /// Silence after the bytes of a request.
    case quiet(TillConnection)
    /// A request has to be whole.
    case request(TillConnection)
    /// A request waits for the end of the one before it.
    case parked(TillConnection)
    /// A payment has to be settled.
    case patience(AttemptKey)
    /// A till that was told can still lose it.
    case watch(AttemptKey)
    /// The till has to answer; the number of what it has to answer to.
    case answer(UInt64)
    /// The till was not ready.
    case again(UInt64)
    /// A till that is waiting has to be told so.
    case keepWaiting
    /// A till waits for a card to be read; the number of its question.
    case card(UInt64)
    /// Nobody has asked for this any more.
    case kept(AttemptKey)
    /// Between the bytes of a serial frame, and for its acknowledgement.
    case serialByte
    case serialFrame(UInt64)
}

/// What happens to a machine.
public enum TillInput: Equatable, Sendable {
    public enum Loss: Sendable, CaseIterable {
        /// A clean end: whatever was sent was read.
        case closed
        /// Something that was sent was not read.
        case reset
    }

    /// To a reversal or a booking.
    public enum Answer: Sendable, CaseIterable {
        case done, already, refused
        /// No answer: it goes on, and its end is not known.
        case unknown
    }

    /// Once, before anything else: what the ledger has is brought to its end.
    case restored
    case connected(TillConnection, peer: String)
    case bytes([UInt8], TillConnection)
    case lost(TillConnection, Loss)
    case sent(TillConnection)
    case timer(TillTimer)
    case settled(AttemptKey, TillOutcome)
    case progress(AttemptKey, TillProgress)
    /// The payment cannot be cancelled any more.
    case tooLate(AttemptKey)
    case confirmed(AttemptKey)
    case notConfirmed(AttemptKey)
    case takenBack(AttemptKey)
    case reversed(AttemptKey, Answer)
    /// Of the reservation with this key, and when.
    case booked(AttemptKey, Answer, at: TillTime? = nil)
    /// What was presented has certainly no payment application, and this is its UID; `settled` follows. No host says so yet.
    case identified(AttemptKey, uid: [UInt8])
    /// As they are after a reversal or a booking of this payment, before the answer to it.
    case receipts(AttemptKey, [TillReceipt])
    /// It is this day in the shop from now on: its year, month and day as one number, 20261123.
    case day(UInt32)
}

/// How a payment is getting on.
public struct TillProgress: Equatable, Sendable {
    public enum Step: Sendable, CaseIterable {
        case cardAwaited, cardDetected, cardNotReadable, removeCard, unlockPhone, authorising, declined, cancelled
        case unknown, reversed, other
    }

    public var step: Step
    /// A line for the customer, in the till's language.
    public var text: String?

    public init(_ step: Step, text: String? = nil) {
        self.step = step
        self.text = text
    }
}
