// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// What a request said of the payment beyond its amount, kept with the transaction: its receipt is made of it.
/// It has a stored property for each member.
public struct TransactionDetails: Codable, Equatable, Sendable {
    public var items: [Item]?
    public var amountStatus: AmountStatus?
    /// How long an amount that is captured later is wished to be held, and whether it will be adjusted.
    public var capture: CaptureOptions?
    /// `false` where the payment service had not said that it captures what it holds.
    public var capturable: Bool?
    /// The card was to be stored with the payment.
    public var store: Bool?
    public var description: AmountDescription?
    /// Of what the customer reads, BCP 47.
    public var language: String?
    public var reason: VerificationReason?
    /// Why it was given back, with a refund that names a payment, in the till's words.
    public var refundReason: String?
    /// With a refund that names a payment: which card gets the money.
    public var refundCard: RefundCardRule?
    /// How the customer was told that the card is stored, in the till's words.
    public var consent: String?
    /// With a charge: which stored card, under which agreement, and why.
    public var charge: ChargeOptions?
    /// With a link: for how long the customer may pay.
    public var link: LinkOptions?
    /// The same with a hand-over, and to which terminal it is.
    public var handover: LinkOptions?
    /// The shop as it was when the payment was asked for.
    public var merchant: Merchant?
    /// The terminal's number at the acquirer (9F1C).
    public var terminal: String?

    public init(_ request: TransactionRequest, merchant: Merchant? = nil, terminal: String? = nil) {
        items = request.items
        amountStatus = request.amountStatus
        capture = request.capture
        store = request.store
        description = request.description
        language = request.language
        reason = request.reason
        refundReason = request.refundReason
        refundCard = request.of == nil ? nil : request.card
        consent = request.consent
        charge = request.charge
        if request.type == .handover { handover = request.link } else { link = request.link }
        self.merchant = merchant
        self.terminal = terminal
    }

    /// Whether a card is read for the refund.
    public var asksForCard: Bool { refundCard.map { $0 != RefundCardRule.none } ?? false }

    /// Whether an approval holds the sum, and nothing is charged before the shop captures it.
    public var isOnlyHeld: Bool { isPreauthorization || capture?.mode == .manual }

    /// Whether the payment is a reservation, which the shop captures later.
    public var isPreauthorization: Bool { amountStatus == .preauthorized || description?.isPreauthorization == true }
}
