// SPDX-License-Identifier: Apache-2.0
import Journal
import Ledger
import LocalHTTP
import POSAPI
import PSPAPI
import PaymentValues
import Transactions

/// An operation, or a refund that names a payment, that has no end yet.
struct OngoingOperation: Sendable {
    enum Subject: Sendable {
        case operation(OperationKind)
        /// A transaction of its own, which names the payment.
        case refund(TransactionID)
    }

    let subject: Subject
    let message: OperationMessage
    let mode: Mode
    let lane: String
    /// Whose transaction a client hears of, and whose payment it is about.
    let till, tillOfPayment: TillName?
    /// What the payment service has to be able to do.
    let feature: AdapterFeature
    /// Whom it is sent to, and nobody else.
    let service: AskedService?
    /// From then on it is not sent for the first time any more.
    let expiry: Timestamp?
    /// A card was read for it, until then fresh enough to be sent; `nil` for what an earlier run has read.
    let asksForCard: Bool
    let readUntil: Int64?
    var machine: OperationMachine
    var connection: HTTPClientConnection?
    /// A reply is on its way: it may contradict what a person has said meanwhile.
    var isAsked = false
    /// It has an end.
    let isSettled = OneShot()

    var id: OperationID { message.id }
    var kind: OperationKind? {
        switch subject {
        case .operation(let kind): kind
        case .refund: nil
        }
    }

    /// The transaction that a client hears of.
    var transaction: TransactionID {
        switch subject {
        case .operation: message.payment
        case .refund(let id): id
        }
    }

    /// A capture has to reach the payment service within this time before its limit.
    static let margin: Duration = .seconds(-60)

    init(_ record: OperationRecord, _ payment: JournalRecord, captureBefore: Timestamp?) {
        let (kind, call, feature) = record.operation.action.words
        subject = .operation(kind)
        message = OperationMessage(
            id: record.id, payment: record.payment, call: call, body: Array(record.request.utf8))
        mode = payment.transaction.mode
        lane = payment.transaction.lane
        (till, tillOfPayment) = (payment.owner.till, payment.owner.till)
        (asksForCard, readUntil) = (false, nil)
        self.feature = feature
        service = payment.service
        expiry = kind == .release ? nil : captureBefore?.moved(by: Self.margin)
        machine = OperationMachine(
            id: record.id, amount: Money(value: record.operation.action.value, currency: record.currency),
            state: record.state, firstSentAt: record.history.first { $0.state == .sent }?.at, attempts: record.attempts,
            isStuck: record.attention == .stuck, at: .now)
    }

    /// For how long a read may be sent after it was sent for the first time.
    static let readLife: Duration = .seconds(60)

    /// - Parameters:
    ///   - original: the payment that is given back.
    ///   - readUntil: with a card: how long its read is fresh, on the monotonic clock.
    init?(refund record: JournalRecord, of original: JournalRecord, readUntil: Int64? = nil) {
        let refund = record.transaction
        guard let id = OperationID(refund.id.text) else { return nil }
        let request = RefundRequest(
            id: refund.id, mode: refund.mode, amount: refund.amount,
            card: refund.details?.refundCard ?? RefundCardRule.none,
            authorization: record.authorization, reason: refund.details?.refundReason,
            order: refund.order, pspReference: original.transaction.result?.pspReference)
        let body: [UInt8]
        do { body = try WireJSON.encode(request) } catch { return nil }
        subject = .refund(refund.id)
        message = OperationMessage(id: id, payment: original.transaction.id, call: "refunds", body: body)
        mode = refund.mode
        lane = refund.lane
        (till, tillOfPayment) = (record.owner.till, original.owner.till)
        feature = .refundLinked
        service = original.service
        expiry = nil
        asksForCard = refund.details?.asksForCard == true
        self.readUntil = record.authorization == nil ? nil : readUntil
        machine = OperationMachine(
            id: id, amount: refund.amount, hasParts: true, state: refund.state.asOperation,
            firstSentAt: refund.history.first { $0.state == .sent }?.at, isStuck: record.open != nil, at: .now)
    }
}

extension Ledger.Operation.Action {
    var words: (kind: OperationKind, call: String, feature: AdapterFeature) {
        switch self {
        case .capture: (.capture, "captures", .capture)
        case .adjust: (.adjustment, "adjustments", .adjust)
        case .extend: (.adjustment, "adjustments", .extend)
        case .release: (.release, "releases", .release)
        }
    }

    /// What an answer has to be about; an extension is about no amount.
    var value: Int64 {
        switch self {
        case .capture(let amount, _, _), .release(let amount): amount
        case .adjust(let total): total
        case .extend: 0
        }
    }
}

extension Transaction {
    /// A refund that names a payment, once no card is waited for any more: it is asked about, and not taken back.
    var isOperation: Bool {
        guard of != nil, type == .refund else { return false }
        switch state {
        // Before `sent` nothing has left: what was read is of no use to another run.
        case .created, .preparing, .armed, .reading, .sealed: return details?.asksForCard != true
        case .sent, .unknown, .stored, .approved, .declined, .delivered, .cancelled, .failed, .reversing, .reversed,
            .completed:
            return true
        }
    }
}
