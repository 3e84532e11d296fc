// SPDX-License-Identifier: Apache-2.0
/// When something happens: milliseconds of a clock that never goes back, and the time of day for messages.
public struct LinkMoment: Equatable, Sendable {
    public var milliseconds: UInt64
    public var time: HostTime

    public init(milliseconds: UInt64, time: HostTime) {
        self.milliseconds = milliseconds
        self.time = time
    }
}

public enum LinkInput: Equatable, Sendable {
    case connected
    case disconnected
    /// A payment to be asked for, without fields 7 and 11, which the link sets.
    case authorize(ExchangeID, ISOMessage)
    /// What has happened already and has to be told: captures, payments approved by the card.
    case advise(ExchangeID, ISOMessage)
    case reconcile(ExchangeID, ISOMessage)
    case reverse(ExchangeID, ReversalReason)
    case received(ISOMessage)
    /// A message that should carry a code, and has none or a wrong one: nothing that it says counts.
    case unauthenticated(ISOMessage)
    /// The key that this message of the host brought can be used, or could not be taken.
    case keyTaken(ISOMessage, Bool)
    /// Bytes in a frame that are no message.
    case unreadable(MessageError)
    /// An exchange of a link that has ended, from the books: what it had sent and got no answer to is taken back after `rest`
    /// milliseconds, as after a restart. One that is known and open already stays as it is.
    case adopt(Exchange, rest: UInt64)
    /// The first record of this exchange was not made, so that nothing of it was sent.
    case withdraw(ExchangeID)
    /// The books keep this exchange elsewhere, and late answers to it need not be known any more.
    case forget(ExchangeID)
    /// The books keep this exchange, which is at an end: nothing of the card stays here. Answers to it are still known; before it is taken
    /// back it is adopted from the books.
    case shed(ExchangeID)
    case tick
    /// Signs off.
    case leave
}

/// What is to be done, in this order: a `record` is on disk before anything after it happens.
public enum LinkEffect: Equatable, Sendable {
    case record(Exchange)
    case send(ISOMessage)
    /// Told once for each payment.
    case settled(ExchangeID, HostOutcome)
    case reversed(ExchangeID)
    case advised(ExchangeID, isAccepted: Bool)
    case reconciled(ExchangeID, Balance)
    /// The host's next day has begun; field 15 of its message, MMDD.
    case cutOver(String?)
    /// The host hands a key over: it is answered by `keyTaken`.
    case takeKey(ISOMessage)
    /// What is sent from here on is coded by the key that this message brought. The host uses it when it has the answer, which was sent before.
    case useKey(ISOMessage)
    case alarm(LinkAlarm)
    case disconnect(LinkEnd)
}

public enum HostOutcome: Equatable, Sendable {
    case approved(ISOMessage)
    case partial(ISOMessage)
    case declined(HostVerdict)
    /// No answer that can be believed. The payment is being taken back, whatever comes now.
    case unknown
    /// Nothing was sent and nothing will be.
    case notSent(Refusal)
}

public enum Refusal: Equatable, Sendable {
    case notSignedOn
    case idInUse
    case wrongType
    /// PIN data is never taken.
    case pinData
    case unpackable(MessageError)
    case tooMany
    /// It lacks what a reversal would have to name.
    case notReversible
}

public enum LinkAlarm: Equatable, Sendable {
    case lateApproval(ExchangeID, afterReversal: Bool)
    /// The host has ended the reversal and approved the payment after that: it has to be taken back again, from the books.
    case approvedAfterAll(ExchangeID)
    /// The first answer has decided; another one says otherwise.
    case answersDiffer(ExchangeID)
    /// One answer says that money has moved and another one that it has not, or how much. A person has to ask the acquirer which is true.
    case contradictsItself(ExchangeID)
    case contradiction(ExchangeID, Contradiction)
    case stanUsedTwice(ExchangeID)
    case adviceDeclined(ExchangeID, String)
    case reversalRefused(ExchangeID, String)
    /// The host has approved the payment and says now, by this code, that it never had it. A person has to ask the acquirer.
    case reversalContradictsApproval(ExchangeID, String)
    /// A code that no list of the packager has. A payment is taken back, an advice is sent again.
    case unknownCode(ExchangeID, String)
    /// A reconciliation was answered by this code, which compares nothing: it is sent again.
    case dayNotTaken(ExchangeID, String)
    case openItem(ExchangeID)
    case outOfBalance(ExchangeID)
    case stray(MessageType)
    /// It has the trace number of what was asked, and this field is another one than was sent: it is not taken for its answer. A host that sets the field
    /// itself needs `answers` in the packager.
    case answerDiffers(ExchangeID, field: Int)
    /// A code is wrong or missing. Of a payment: it is taken back.
    case notAuthentic(ExchangeID?)
    /// The host's key cannot be unwrapped, or its check value is another one: the key before it stays.
    case keyRefused
    /// The host has signed off: nothing is sent until it signs on.
    case signedOff
    case unreadable(MessageError)
    /// Only a payment can be taken back, once it has been answered.
    case cannotReverse(ExchangeID)
    case refused(ExchangeID, Refusal)
    /// The host asked for something that this side does not do.
    case notServed(MessageType)
}

public enum Contradiction: Equatable, Sendable {
    case noCode
    case amount
    case currency
    case processing
}

public enum LinkEnd: Equatable, Sendable {
    case signOnRefused(String)
    case noSignOn
    case noEcho
    /// The host gave no key for messages, or none that could be taken.
    case noKey
    case left
}
