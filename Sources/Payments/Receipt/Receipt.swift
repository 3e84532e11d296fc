// SPDX-License-Identifier: Apache-2.0
public import POSAPI
public import PaymentValues

/// What a shop hands to the customer, or keeps, of one payment, refund or card check. Says what is true of the transaction
/// when it is made: a declined one says that nothing was charged, one that was taken back says so, an open link that it is not paid. It has a stored property for each line or
/// block that a receipt may have.
public struct Receipt: Codable, Equatable, Sendable {
    public enum Copy: String, Codable, CaseIterable, Sendable {
        case customer, merchant
    }

    public enum Status: String, Codable, CaseIterable, Sendable {
        case approved, partiallyApproved, declined
        /// A held sum that was given up, or ran out: nothing of it was charged.
        case released
        /// A link that nobody has paid yet.
        case open
        /// Not sent yet: no issuer has approved it.
        case stored
        /// Sent, and whether it was booked is being found out.
        case unknown
        /// Taken back; the payment service has not acknowledged it yet.
        case reversing
        case reversed
        /// Ended before anything was sent.
        case cancelled, notCompleted
    }

    /// The payment that a refund gives back.
    public struct Sale: Codable, Equatable, Sendable {
        public var transaction: TransactionID
        public var order: String?
        public var at: Timestamp
        public var amount: Money

        init(_ sale: Transaction) {
            transaction = sale.id
            order = sale.order
            at = sale.readAt
            amount = sale.result?.amountApproved ?? sale.amount
        }
    }

    public var copy: Copy
    public var language: String
    public var mode: Mode
    public var type: TransactionType
    public var status: Status
    public var transaction: TransactionID
    public var order: String?
    /// When the card was read; when it was asked for, where none was.
    public var at: Timestamp
    public var merchant: Merchant?
    public var terminal: String?
    /// What the customer pays or gets: what was approved where that is less than was asked for, and of a held sum what was
    /// captured, tips included, or what is held now. Missing for a card check.
    public var amount: Money?
    /// The requested amount, if another amount was approved.
    public var requested: Money?
    public var items: [Item]?
    /// What became of the approved sum, where that is more than its charge.
    public var account: ReceiptAccount?
    /// With a refund that names its payment.
    public var sale: Sale?
    /// Missing once a held sum was captured or given up, for then it says what was.
    public var amountStatus: AmountStatus?
    /// The same holds of a description as a reservation.
    public var description: AmountDescription?
    public var card: MaskedCard?
    public var emv: EMVBlock?
    public var approvalCode: String?
    public var reason: DeclineReason?
    /// What the card would have needed, where this reader cannot take it.
    public var unsupportedKernel: UnsupportedKernel?
    /// What the card or phone had asked of the customer when the attempt ended.
    public var message: CardholderMessage?
    public var pspReference: String?
    /// What the payment service wants printed.
    public var pspLines: [String]?
    /// Payload of the QR code under which the customer finds the receipt; of an open link, where the customer pays.
    public var qr: String?
    /// Of an open link: until when the customer can pay.
    public var payUntil: Timestamp?

    /// - Parameters:
    ///   - operations: on this payment; the done ones give the tips, and lines that the payment service wants printed.
    ///   - sale: the payment that this refund names.
    /// - Returns: `nil` for a read of passes, and while the end of the transaction is open; a link has one as soon as it can be paid.
    public init?(
        of transaction: Transaction, operations: [PaymentOperation] = [], refunding sale: Transaction? = nil,
        copy: Copy,
        language: Language
    ) {
        guard transaction.type != .loyalty, let status = Status(of: transaction) else { return nil }
        let details = transaction.details
        let result = transaction.result
        self.copy = copy
        self.language = language.rawValue
        mode = transaction.mode
        type = transaction.type
        self.status = status
        self.transaction = transaction.id
        order = transaction.order
        at = transaction.readAt
        merchant = details?.merchant
        terminal = details?.terminal
        let done = operations.filter { $0.state == .done }
        let books = status.isCharged || status == .released ? transaction.account : nil
        account = books.flatMap { ReceiptAccount($0, done) }
        if transaction.type != .verification {
            let approved = result?.amountApproved ?? transaction.amount
            amount = books?.chargedOrHeld ?? approved
            requested = approved == transaction.amount ? nil : transaction.amount
            items = details?.items
        }
        let isStillHeld = account?.captured == nil && status != .released
        amountStatus = isStillHeld ? details?.amountStatus : nil
        description = details?.description.flatMap { !isStillHeld && $0.isPreauthorization ? nil : $0 }
        self.sale = sale.map { Sale($0) }
        card = transaction.card ?? sale?.card
        emv = transaction.chip.map { EMVBlock($0, result) }
        approvalCode = result?.approvalCode
        // A customer is not told that the card is reported stolen: that is between the issuer and the shop.
        // And what was charged has none, whatever was feared before.
        let reason = status.isCharged ? nil : result?.reason
        self.reason = copy == .customer ? reason?.forCustomers : reason
        unsupportedKernel = transaction.error?.unsupportedKernel
        message = transaction.message
        pspReference = result?.pspReference
        let lines = (result?.receiptLines ?? []) + done.flatMap { $0.result?.receiptLines ?? [] }
        pspLines = lines.isEmpty ? result?.receiptLines : lines
        let link = status == .open ? transaction.link : nil
        payUntil = link?.expiresAt
        qr = copy == .customer ? link?.url ?? result?.receiptURL : nil
    }
}

extension Receipt.Status {
    /// - Returns: `nil` while it has no end.
    init?(of transaction: Transaction) {
        switch transaction.state {
        case .sent where transaction.type == .link && transaction.link != nil: self = .open
        case .created, .preparing, .armed, .reading, .sealed, .sent, .completed: return nil
        case .approved:
            switch transaction.account?.state {
            case .released, .expired: self = .released
            case .open, .captured, .reversed, .refunded, .partiallyRefunded, nil:
                self = transaction.result?.outcome == .partiallyApproved ? .partiallyApproved : .approved
            }
        case .declined: self = .declined
        case .stored, .delivered: self = .stored
        case .unknown: self = .unknown
        case .reversing: self = .reversing
        case .reversed: self = .reversed
        case .cancelled: self = .cancelled
        case .failed: self = .notCompleted
        }
    }

    /// Whether the customer owes or gets the amount.
    package var isCharged: Bool {
        switch self {
        case .approved, .partiallyApproved, .stored: true
        case .declined, .released, .open, .unknown, .reversing, .reversed, .cancelled, .notCompleted: false
        }
    }
}

extension Transaction {
    /// When the card was read; when it was asked for, where none was.
    fileprivate var readAt: Timestamp { history.first { $0.state == .sealed }?.at ?? createdAt }
}

extension DeclineReason {
    /// The same reason, or a general one if the true one would accuse the person with the card.
    var forCustomers: DeclineReason {
        switch self {
        case .lostCard, .stolenCard, .suspectedFraud: .notAccepted
        case .referToIssuer, .notAccepted, .invalidTransaction, .invalidCard, .insufficientFunds, .expiredCard,
            .wrongPIN, .notPermitted, .limitExceeded, .otherInterfaceNeeded, .issuerUnavailable, .cardDeclined,
            .notAcceptedHere, .hostTimeout, .cancelledAfterSending, .notConfirmed, .reversed,
            .linkExpired, .handoverExpired:
            self
        }
    }
}
