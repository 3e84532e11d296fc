// SPDX-License-Identifier: Apache-2.0
public import POSAPI
public import PSPAPI
public import PaymentValues

/// A reversal that goes on until the adapter acknowledges it.
public struct ReversalPlan: Equatable, Sendable {
    public var reason: PSPAPI.ReversalRequest.Reason
    /// How often it has been tried.
    public var attempts: Int
    /// When it is tried next.
    public var due: Timestamp

    public init(reason: PSPAPI.ReversalRequest.Reason, attempts: Int = 0, due: Timestamp) {
        self.reason = reason
        self.attempts = attempts
        self.due = due
    }
}

/// A change of state, with what is known since. It has a stored property for each thing that may be.
public struct StateChange: Equatable, Sendable {
    public var state: TransactionState
    public var at: Timestamp
    /// Where it takes place from now on, where several lanes waited for the card.
    public var lane: String?
    public var card: MaskedCard?
    /// With the state that follows a read: what the card's chip said.
    public var chip: ChipData?
    public var result: PaymentResult?
    public var error: ErrorDetail?
    public var cancelledBy: Canceller?
    /// With an end before anything was read: what the card or phone had asked of the customer last.
    public var message: CardholderMessage?
    /// With `sealed`.
    public var authorization: AuthorizationRequest?
    /// What became of the entry of a PIN.
    public var pin: PINAttempt?
    /// With `reversing`.
    public var reversal: ReversalPlan?
    /// With `approved`, where the POS has to confirm it.
    public var confirmBy: Timestamp?
    /// Where a person says so.
    public var settlement: Settlement?
    /// With `sent`, where a stored payment goes to another service than the one it was begun for.
    public var service: AskedService?
    /// With `approved`: what the payment service has said of captures and refunds.
    public var terms: ServiceTerms?

    public init(_ state: TransactionState, at: Timestamp = .now) {
        self.state = state
        self.at = at
    }
}

extension TransactionState {
    /// An approval ends every doubt before it: no earlier error holds any more, and nothing is to be confirmed but what it says itself.
    public var endsDoubt: Bool { self == .approved }
}
