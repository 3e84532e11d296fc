// SPDX-License-Identifier: Apache-2.0
import PINDeviceAPI
import POSAPI
import PSPAPI
import PaymentValues

/// Where a transaction stands, with what it has to know there and no more.
///
/// Every case has a time at which it goes on by itself, but the ends and a stored payment that waits for the forwarder.
public enum Phase: Sendable {
    case created(Presentation)
    case preparing(Presentation)
    /// Waits for a card.
    case armed(Presentation)
    case reading(Presentation)
    /// Read, and nothing sent: connects, or stores.
    case sealed(Read, giveUpAt: Int64)
    /// Read, and kept until a machine claims it: nothing has been sent, and nothing is unless it does.
    case offered(Offer)
    /// Read, and the customer is asked for the PIN.
    case awaitingPIN(PINWait)
    case sent(Question)
    /// Sent and declined, and the customer is asked for the PIN that the issuer wants: nothing stands there.
    case challenged(PINChallenge)
    case unknown(Question)
    /// Sent, and nothing else: a link that the customer pays by, or does not.
    case linked(LinkWatch)
    /// - Parameter confirmBy: monotonic; `nil` where nobody has to confirm it.
    case approved(confirmBy: Int64?)
    case reversing(Reversal)
    /// Ended, but for what is said once the reader has let the card go.
    case leaving([Outward], at: Int64)
    /// Ended for whoever waits, and the journal does not take it yet.
    case unwritten(StateChange, retryAt: Int64)
    /// Ended by a person's word; an answer that is still on its way may say the contrary until then.
    case settled(question: Int, until: Int64)
    /// Stored: waits for the forwarder, which looks after its time.
    case stored
    case ended

    /// When it goes on by itself, on the monotonic clock.
    var due: Int64? {
        switch self {
        case .created(let presentation), .preparing(let presentation), .armed(let presentation),
            .reading(let presentation):
            presentation.giveUpAt
        case .sealed(_, let time), .leaving(_, let time), .unwritten(_, let time), .settled(_, let time): time
        case .offered(let offer): offer.until
        case .awaitingPIN(let wait): wait.until
        case .challenged(let challenge): challenge.until
        case .sent(let question), .unknown(let question): question.due
        case .linked(let watch): watch.due
        case .approved(let time): time
        case .reversing(let reversal): reversal.due
        case .stored, .ended: nil
        }
    }

    /// What the payment service is asked; `nil` where it is asked nothing, and what is set then is lost.
    var question: Question? {
        get {
            switch self {
            case .sent(let question), .unknown(let question): question
            default: nil
            }
        }
        set {
            guard let newValue else { return }
            switch self {
            case .sent: self = .sent(newValue)
            case .unknown: self = .unknown(newValue)
            default: return
            }
        }
    }
}

/// What is known while a card is wanted or read.
public struct Presentation: Sendable {
    /// When the host gives up on whatever it waits for.
    var giveUpAt: Int64
    /// Lanes whose customer has been told that a card may come.
    var readyLanes: Set<String> = []
    /// Lanes whose customer has been told to present one card only; nothing has changed there since.
    var collidedLanes: Set<String> = []
    /// The lane on which a card has answered first: everything comes from there.
    var winner: String?
    /// When the time for the card is over, with what the reader may take beyond it.
    var cardBy: Int64 = .max
    /// The payment goes on with the card that gave its passes: its first wait for a card is none.
    var staysOnCard = false
    /// A card was read in vain, and it is not known yet whether it leaves, stays or is read after all.
    var isFailing = false
    /// A pass was delivered.
    var hasPass = false
    /// What the kernel wants the customer to see, until the next card.
    var message: CardholderMessage?
    /// What the customer is still to do with card or phone, until one is read otherwise: what a receipt says of the attempt.
    var asked: CardholderMessage?
    /// Failed reads of this order so far.
    var failedReads: Int
    /// Who wants it cancelled, and waits for word of it.
    var canceller: Canceller?
    var wishes: [RequestID] = []
}

/// A read that is kept until a machine claims it.
public struct Offer: Sendable {
    var read: Read
    /// Then it is forgotten.
    let until: Int64
    /// Who wants it forgotten, and waits for word of it.
    var wishes: [RequestID] = []
}

/// A request that was sent, and what is known of its answer.
public struct Question: Sendable {
    enum Step: Sendable {
        /// An answer is on its way, until then.
        case asking(until: Int64)
        case pausing(until: Int64)
        /// A forwarded payment that waits for the forwarder's next round.
        case resting
    }

    /// How the latest question was put.
    enum Kind: Sendable {
        /// For the first time, over a connection that stood.
        case send
        case query
        /// Again, under the same key.
        case resend
    }

    /// The reader's lamp and tone come after the adapter has the request.
    enum Reader: Sendable {
        case held(until: Int64)
        case leaving(until: Int64)
        case free
    }

    /// What is asked for.
    enum Subject: Sendable {
        case payment(AuthorizationRequest)
        case charge(ChargeRequest)
        case continuation(ContinuationRequest)
    }

    let subject: Subject
    /// What was read from the card just now; `nil` for a stored payment that is forwarded, and for a stored card.
    let read: Read?
    /// Whoever forwards it.
    var owedTo: RequestID?
    /// Stored before: never reversed for want of an answer.
    var isOwed: Bool {
        if case .charge = subject { false } else { read == nil }
    }
    /// Whose outcome is asked for: of a continuation, or `nil` of the authorisation.
    var continuation: PINAttemptID? {
        if case .continuation(let request) = subject { request.id } else { nil }
    }
    /// Taken back if it turns out to be approved.
    var mustBeReversed = false
    /// An answer was lost, or the service says that it has never seen what it was sent: it may have booked the payment
    /// and forgotten it. From then on only an approval ends the payment without a reversal (rule R1).
    var isInDoubt = false
    /// Number of the latest question; answers to others are too late.
    var number = 1
    /// Then it is reversed.
    var askUntil: Int64
    var pause: Duration
    var step: Step
    var reader: Reader
    /// Has come while the reader was not free yet.
    var reply: Reply?
    var kind = Kind.send
    /// Of the service's memory for keys.
    var keyLife: Duration
    /// The latest that it may have been when the forwarder put it; `nil` where nobody knows what time it is.
    var latest: Timestamp?

    /// It goes out.
    mutating func begin(_ times: AdapterTimes, at now: Moment) {
        askUntil = now.after(times.answer)
        step = .asking(until: now.after(times.answer + TransactionMachine.answerMargin))
        if case .held = reader { reader = .held(until: now.after(times.handover)) }
    }

    /// It goes out under the number of the question.
    func sending(isAgain: Bool, within time: Duration) -> Outward {
        switch subject {
        case .payment(let request): .send(request, question: number, isAgain: isAgain, within: time)
        case .charge(let request): .charge(request, question: number, isAgain: isAgain, within: time)
        case .continuation(let request): .proceed(request, question: number, isAgain: isAgain, within: time)
        }
    }

    /// A forwarded payment whose next round the forwarder decides on.
    var isAtRest: Bool {
        if isOwed, case .resting = step { true } else { false }
    }

    var due: Int64? {
        let reader: Int64? =
            switch reader {
            case .held(let time), .leaving(let time): time
            case .free: nil
            }
        let step: Int64? =
            switch step {
            case .asking(let time), .pausing(let time): time
            case .resting: nil
            }
        return [reader, step].compactMap(\.self).min()
    }
}

/// A payment that is being taken back.
public struct Reversal: Sendable {
    var plan: ReversalPlan
    /// What was approved, or demanded where that is not known; `nil` for all of it, where a restart has forgotten which.
    var amount: Money?
    /// How often the service has said that it has never seen the payment: it acknowledges nothing by that (rule R1).
    var unseen = 0
    var number = 0
    var isAsking = false
    /// The next attempt, or when an answer to this one can no longer come.
    var due: Int64
}
