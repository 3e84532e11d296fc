// SPDX-License-Identifier: Apache-2.0
public import PINDeviceAPI
public import POSAPI
public import PSPAPI
public import PaymentValues
public import StoreAndForward

/// What has to be done for a transaction.
public enum Effect: Sendable {
    /// Answered by `Input.written` or `.notWritten`; until then the machine keeps what else comes.
    case write(Write)
    /// What others see. Rests on what is in the journal: only a machine whose write was taken can say so.
    case outward(Outward, Written)
    /// What stays in this process.
    case local(Local)
}

/// The proof that the journal has taken what a step outward rests on.
public struct Written: Equatable, Sendable {
    let number: UInt64
}

public struct Write: Equatable, Sendable {
    /// How it is written.
    public enum Form: Equatable, Sendable {
        case append
        /// With a signed record for the queue, where the rules of storing allow it.
        case store(AuthorizationRequest, OfflineSale)
        /// A stored payment leaves the queue's rest.
        case forward
        /// A stored card is charged, if what allows it still stands.
        case charge
        /// An approval is taken back, if it still is one.
        case reversal(unconfirmedOnly: Bool)
        /// No change of state: what became of the entry of a PIN that an issuer has asked for. Only while it is `sent`.
        case pin(PINAttempt, at: Timestamp)
        /// No change of state: when a reversal is tried again.
        case plan(ReversalPlan)
        /// Nobody can prove how it ends, unless the service says more: a person gets to see it. With the next attempt
        /// of a reversal.
        case open(OpenReason, ReversalPlan?)
        /// A person says how it ended; only where it is an open item.
        case settle(Settlement)
        /// The service has said the contrary of what a person had.
        case contradict(Timestamp)

        var isSettlement: Bool { if case .settle = self { true } else { false } }
    }

    public let number: UInt64
    public var changes: [StateChange]
    public var form: Form
    /// Answered when the disk has it. Else when the journal has it, which the death of this process leaves alone and a power cut may not.
    public let isDurable: Bool
}

public enum Outward: Equatable, Sendable {
    case publish(Event)
    /// The lanes ask for a card.
    case arm([String])
    /// - Parameter isAgain: over a new connection, under the same key.
    case send(AuthorizationRequest, question: Int, isAgain: Bool, within: Duration)
    /// The same for a stored card.
    case charge(ChargeRequest, question: Int, isAgain: Bool, within: Duration)
    /// What was read goes on as an operation on an approved payment.
    case passRefundRead(AuthorizationRequest)
    /// What became of it, or of its continuation with this PIN.
    case query(PINAttemptID?, question: Int, within: Duration)
    /// The same read goes on with the PIN that the issuer has asked for. Under a key of its own, over a connection of its own.
    case proceed(ContinuationRequest, question: Int, isAgain: Bool, within: Duration)
    /// The device asks the customer for a PIN. Wants `pin`.
    case askPIN(PINRequest, within: Duration)
    /// The device stops to ask.
    case withdrawPIN(PINAttempt)
    case link(LinkQuestion, question: Int, within: Duration)
    case reverse(PSPAPI.ReversalRequest, question: Int)
    /// Another way to pay may go on with it: in memory only, on the monotonic clock.
    case keepRead(KeptRead, until: Int64)
    /// The reader may say that the card was read.
    case settleReader
    case show(Lamp)
    case answer(RequestID, RequestAnswer)
    /// What was dropped from the journal is to leave the disk.
    case scrub
}

/// What the reader's lamps say of the answer.
public enum Lamp: Equatable, Sendable {
    case read, approved, declined, error
}

public enum Local: Equatable, Sendable {
    case prepare
    /// Nothing waits for a card any more; a reader that was kept waiting goes on.
    case disarm
    /// Opens a connection to the adapter while the card is read.
    case connectEarly
    /// Wants `connected` or `notConnected`.
    case connect
    /// Writes the request out while the journal is busy with it.
    case draft(AuthorizationRequest)
    /// A card of this order could not be read, so often now.
    case failedReads(Int)
    case log(Contradiction)
}

/// Something that cannot be: a state and an input, or a change that the journal takes for illegal.
public struct Contradiction: Equatable, Sendable {
    public var state: TransactionState
    public var what: String
}

public enum RequestAnswer: Equatable, Sendable {
    case cancelled
    case tooLate(TransactionState, becomesReversal: Bool)
    case nothingToCancel
    case done
    case refused(ErrorCode)
    /// A stored payment was not answered: why.
    case notForwarded(ErrorCode)
    /// It is not what it was when the wish came: look again.
    case superseded
}
