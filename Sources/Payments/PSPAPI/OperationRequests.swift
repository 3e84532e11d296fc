// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// Body of the adapter's `POST /v1/authorizations/{id}/captures`: takes what a preauthorisation holds, or a part of it.
/// `Idempotency-Key` is the operation's id, never that of the authorisation.
public struct CaptureRequest: Codable, Equatable, Sendable {
    public var id: OperationID
    public var mode: Mode
    /// Tip included.
    public var amount: Money
    /// Part of `amount`.
    public var tip: Money?
    /// The rest of the hold is given up with it.
    public var final: Bool
    public var order: String?
    /// The payment service's own name for the authorisation, where it has given one.
    public var pspReference: String?

    public init(
        id: OperationID, mode: Mode, amount: Money, tip: Money? = nil, final: Bool, order: String? = nil,
        pspReference: String? = nil
    ) {
        self.id = id
        self.mode = mode
        self.amount = amount
        self.tip = tip
        self.final = final
        self.order = order
        self.pspReference = pspReference
    }
}

/// Body of the adapter's `POST /v1/authorizations/{id}/adjustments`: another sum is to be held from now on, or the same one
/// for longer.
public struct AdjustmentRequest: Codable, Equatable, Sendable {
    public var id: OperationID
    public var mode: Mode
    /// The sum to be held, not the difference: a repetition adds nothing. `nil` with `extend`.
    public var total: Money?
    /// `true` without `total`.
    public var extend: Bool?
    public var pspReference: String?

    public init(
        id: OperationID, mode: Mode, total: Money? = nil, extend: Bool? = nil, pspReference: String? = nil
    ) {
        self.id = id
        self.mode = mode
        self.total = total
        self.extend = extend
        self.pspReference = pspReference
    }
}

/// Body of the adapter's `POST /v1/authorizations/{id}/releases`: gives up what is held, or a part of it.
public struct ReleaseRequest: Codable, Equatable, Sendable {
    public var id: OperationID
    public var mode: Mode
    public var amount: Money
    public var pspReference: String?

    public init(id: OperationID, mode: Mode, amount: Money, pspReference: String? = nil) {
        self.id = id
        self.mode = mode
        self.amount = amount
        self.pspReference = pspReference
    }
}

/// Body of the adapter's `POST /v1/authorizations/{id}/refunds`: gives back what was captured, or a part of it. `{id}` is the
/// payment; `id` is the refund's own, for it is a transaction of its own.
public struct RefundRequest: Codable, Equatable, Sendable {
    public var id: TransactionID
    public var mode: Mode
    public var amount: Money
    public var card: RefundCardRule
    /// The read, where `card` is not `none`: the body of an authorisation of type `refund` with the same id and amount.
    public var authorization: AuthorizationRequest?
    /// As the till gave it.
    public var reason: String?
    public var order: String?
    /// The payment service's own name for the payment that is refunded.
    public var pspReference: String?

    public init(
        id: TransactionID, mode: Mode, amount: Money, card: RefundCardRule = .none,
        authorization: AuthorizationRequest? = nil, reason: String? = nil, order: String? = nil,
        pspReference: String? = nil
    ) {
        self.id = id
        self.mode = mode
        self.amount = amount
        self.card = card
        self.authorization = authorization
        self.reason = reason
        self.order = order
        self.pspReference = pspReference
    }
}
