// SPDX-License-Identifier: Apache-2.0
public import POSAPI
public import PaymentValues

/// The books of one approved payment: its rows of the ledger, its operations, and the refunds that name it. Wishes go in and
/// are accepted or refused by what the rows say; answers of the payment service go in and become rows. Without I/O: whoever
/// calls writes operations and rows down, in one step, before anything leaves the process.
///
/// What is uncertain counts against whoever asks for more: a capture without an answer lessens what can be captured, a
/// refund without one what can be given back.
public struct PaymentLedger: Sendable {
    public let payment: TransactionID
    public let currency: Currency
    public let capture: PaymentAccount.Capture
    public internal(set) var rows: [LedgerRow] = []
    /// Oldest first.
    public internal(set) var operations: [Operation] = []
    public internal(set) var refunds: [LinkedRefund] = []
    /// Until when the payment service holds the sum, by its own word.
    public internal(set) var captureBefore: Timestamp?
    /// How much the payment service lets the shop capture in all, where that is more than it holds.
    public internal(set) var maximumCapture: Int64?
    /// The approval is taken back unless the till confirms it.
    public internal(set) var isAwaitingConfirmation = false

    /// Attempts to have another sum held, refused ones included.
    static let adjustmentLimit = 10
    /// A capture must reach the payment service in time.
    static let captureMargin: Int64 = 60_000

    public init(payment: TransactionID, currency: Currency, capture: PaymentAccount.Capture) {
        self.payment = payment
        self.currency = currency
        self.capture = capture
    }

    /// As the journal has it, after a restart.
    public init(
        payment: TransactionID, currency: Currency, capture: PaymentAccount.Capture, rows: [LedgerRow],
        operations: [Operation], refunds: [LinkedRefund], captureBefore: Timestamp?, maximumCapture: Int64?,
        isAwaitingConfirmation: Bool
    ) {
        self.init(payment: payment, currency: currency, capture: capture)
        self.rows = rows
        self.operations = operations
        self.refunds = refunds
        self.captureBefore = captureBefore
        self.maximumCapture = maximumCapture
        self.isAwaitingConfirmation = isAwaitingConfirmation
    }

    /// The sum that the issuer holds.
    public var hold: Int64 { sum(\.hold) }
    /// The shop's money, refunds not counted.
    public var money: Int64 { sum(\.money) }
    /// What is part of captures as a tip.
    public var tips: Int64 {
        operations.reduce(0) { total, operation in
            guard operation.state == .done, case .capture(_, let tip, _) = operation.action else { return total }
            return saturated(total, tip)
        }
    }
    /// Taken back, and not put right again.
    public var isReversed: Bool { rows.last { [.reversed, .corrected].contains($0.entry) }?.entry == .reversed }
    /// The operation that has no end yet: there is never more than one.
    public var openOperation: Operation? { operations.first { $0.state.isOpen } }

    public var account: PaymentAccount {
        let captured = sum(\.money, of: .captured)
        let released = -(saturated(sum(\.hold, of: .released), sum(\.hold, of: .expired)))
        let authorised =
            capture == .automatic ? captured : saturated(sum(\.hold, of: .authorised), sum(\.hold, of: .adjusted))
        let pendingCapture = openOperation?.pendingCapture ?? 0
        let (refunded, pendingRefund) = givenBack
        let remaining = isFinalCaptureOpen ? 0 : max(0, saturated(hold, -pendingCapture))
        let allowed = maximumCapture.map { saturated($0, -saturated(captured, pendingCapture)) } ?? remaining
        return PaymentAccount(
            currency: currency, capture: capture, state: state(captured: captured, refunded: refunded),
            authorised: authorised, captured: captured, released: released, refunded: refunded,
            pendingCapture: pendingCapture, pendingRefund: pendingRefund, remaining: remaining,
            capturableUpTo: hold > 0 && !isFinalCaptureOpen ? max(remaining, allowed) : 0,
            refundable: isReversed ? 0 : max(0, saturated(captured, -saturated(refunded, pendingRefund))),
            before: capture == .manual ? captureBefore : nil)
    }

    /// What the invariants of the ledger say is wrong; empty as long as the books hold.
    public var contradictions: [String] {
        var found: [String] = []
        if hold < 0 { found.append("hold \(hold) is below zero") }
        if money < 0 { found.append("money \(money) is below zero") }
        let (refunded, pendingRefund) = givenBack
        let captured = sum(\.money, of: .captured)
        if saturated(refunded, pendingRefund) > captured { found.append("more is given back than was captured") }
        if isReversed || rows.contains(where: { $0.entry == .expired }), hold != 0 {
            found.append("\(hold) is held after the end")
        }
        if isReversed, money != 0 { found.append("\(money) is left after the reversal") }
        if Set(rows.map { [$0.operation?.text ?? "", $0.entry.rawValue] }).count != rows.count {
            found.append("a fact is booked twice")
        }
        if operations.count(where: \.state.isOpen) > 1 { found.append("two operations are open") }
        return found
    }

    /// Done, and what may still be done.
    private var givenBack: (done: Int64, pending: Int64) {
        refunds.reduce((0, 0)) { sums, refund in
            switch refund.state {
            case .pending: (sums.0, saturated(sums.1, refund.amount))
            case .done(let amount): (saturated(sums.0, amount), sums.1)
            case .refused: sums
            }
        }
    }

    /// Nothing is left for a second capture, whatever the first one takes.
    private var isFinalCaptureOpen: Bool {
        guard case .capture(_, _, let isFinal) = openOperation?.action else { return false }
        return isFinal
    }

    private func state(captured: Int64, refunded: Int64) -> PaymentAccount.State {
        if isReversed { return .reversed }
        if hold > 0 { return .open }
        if captured > 0 { return refunded == 0 ? .captured : refunded < captured ? .partiallyRefunded : .refunded }
        return rows.contains { $0.entry == .expired } ? .expired : .released
    }

    private func sum(_ figure: KeyPath<LedgerRow, Int64>, of entry: LedgerEntry? = nil) -> Int64 {
        rows.reduce(0) { entry == nil || $1.entry == entry ? saturated($0, $1[keyPath: figure]) : $0 }
    }
}

/// The sum, or the nearest number that there is: a limit that is computed from it is never too wide by an overflow.
func saturated(_ left: Int64, _ right: Int64) -> Int64 {
    let (sum, overflow) = left.addingReportingOverflow(right)
    return overflow ? (right > 0 ? .max : .min) : sum
}
