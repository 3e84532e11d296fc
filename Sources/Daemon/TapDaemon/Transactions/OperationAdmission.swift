// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Crypto
import Journal
import Ledger
import LocalHTTP
import POSAPI
import PSPAPI
import PaymentValues
import Transactions

/// Which wishes about an approved payment become operations, or refunds. Limits are checked by the books, in the write that
/// creates it.
struct OperationAdmission: Sendable {
    let engine: OperationEngine
    let runner: TransactionRunner

    private var journal: JournalThread { runner.journal }

    /// What a till asks for.
    enum Request: Sendable {
        case capture(POSAPI.CaptureRequest)
        case adjustment(POSAPI.AdjustmentRequest)
        case release(POSAPI.ReleaseRequest)

        var amount: Money? {
            switch self {
            case .capture(let demand): demand.amount ?? demand.tip
            case .adjustment(.total(let total)): total
            case .adjustment(.extend): nil
            case .release(let demand): demand.amount
            }
        }

        var operation: NewOperation.Request {
            switch self {
            case .capture(let demand):
                .capture(amount: demand.amount?.value, tip: demand.tip?.value ?? 0, isFinal: demand.final)
            case .adjustment(.total(let total)): .adjust(total: total.value)
            case .adjustment(.extend): .extend
            case .release(let demand): .release(amount: demand.amount?.value)
            }
        }

        fileprivate var hash: String {
            get throws(ErrorBody) {
                do {
                    let (word, body) =
                        switch self {
                        case .capture(let demand): ("capture", try WireJSON.encode(demand.meant))
                        case .adjustment(let demand): ("adjustment", try WireJSON.encode(demand))
                        case .release(let demand): ("release", try WireJSON.encode(demand))
                        }
                    return Hex.string(SHA256.hash(data: Array(word.utf8) + body))
                } catch {
                    throw ErrorBody(.internalFault)
                }
            }
        }
    }

    // MARK: - Operations

    /// - Returns: the operation, and whether this is a repetition.
    func make(
        _ wish: Request, of transaction: Transaction, _ key: PrincipalKey
    ) async throws(ErrorBody) -> (OperationID, isRepeated: Bool) {
        let id = transaction.id
        let hash = try wish.hash + id.text
        let earlier = try await inJournal { (journal) throws(JournalError) in
            try journal.earlierOperation(owner: key.owner, idempotencyKey: key.key, requestHash: hash)
        }
        if let earlier { return (try outcome(earlier, of: transaction).id, true) }
        try check(wish, transaction)
        if let amount = wish.amount, amount.currency != transaction.amount.currency {
            throw ErrorBody(.amountCurrencyMismatch, transaction: id)
        }
        let new = NewOperation(
            id: OperationID(), payment: id, owner: key.owner, idempotencyKey: key.key, requestHash: hash,
            wish: wish.operation, at: .now)
        let isInTime = await runner.books.live[id]?.isConfirmable
        let (creation, ongoing) = try await inJournal(isNew: true) {
            (journal) throws(JournalError) -> (OperationCreation, OngoingOperation?) in
            let creation = try journal.createOperation(new, isInTime: isInTime) { operation, books in
                transaction.request(for: operation, books.currency)
            }
            guard case .created(let record) = creation else {
                return (creation, nil)
            }
            return (creation, try journal.ongoing(record))
        }
        let record = try outcome(creation, of: transaction)
        guard case .created = creation, let ongoing else { return (record.id, true) }
        // Who captures wants the payment: nothing takes it back for want of a confirmation any more.
        if ongoing.kind == .capture { await runner.take(.confirmed, id) }
        await engine.begin(ongoing)
        return (record.id, false)
    }

    func check(_ wish: Request, _ transaction: Transaction) throws(ErrorBody) {
        let id = transaction.id
        guard transaction.mode == runner.mode else { throw ErrorBody(.transactionUnknown) }
        switch transaction.state {
        case .approved, .reversing, .reversed: break
        case .stored: throw ErrorBody(.queueStored, transaction: id)
        case .delivered: throw ErrorBody(.captureElsewhere, transaction: id)
        case .created, .preparing, .armed, .reading, .sealed, .sent, .unknown, .declined, .cancelled, .failed,
            .completed:
            throw ErrorBody(.transactionNotApproved, transaction: id)
        }
        guard transaction.account?.capture == .manual else {
            throw ErrorBody(
                transaction.type.isPayment ? .captureAutomatic : .transactionNotApproved,
                transaction: id)
        }
        // Nothing heard of the service since the start: it is asked when it is back.
        guard let supports = engine.health.supports else { return }
        for (feature, code) in needs(wish, transaction.account) where !supports.contains(feature.rawValue) {
            throw ErrorBody(code, transaction: id)
        }
    }

    private func needs(_ wish: Request, _ account: PaymentAccount?) -> [(AdapterFeature, ErrorCode)] {
        switch wish {
        case .capture(let demand):
            var needed = [(AdapterFeature.capture, ErrorCode.captureNotSupported)]
            if !demand.final || account.map({ $0.captured > 0 }) == true {
                needed.append((.multicapture, .captureNotSupported))
            }
            if let account, let amount = demand.amount?.value, amount > account.remaining,
                amount <= account.capturableUpTo
            {
                needed.append((.overcapture, .captureNotSupported))
            }
            return needed
        case .adjustment(.total): return [(.adjust, .adjustmentNotSupported)]
        case .adjustment(.extend): return [(.extend, .adjustmentNotSupported)]
        case .release: return [(.release, .releaseNotSupported)]
        }
    }

    private func outcome(
        _ creation: OperationCreation, of transaction: Transaction
    ) throws(ErrorBody) -> OperationRecord {
        switch creation {
        case .created(let record): return record
        case .repeated(let record):
            guard record.payment == transaction.id else { throw ErrorBody(.idempotencyKeyReused) }
            return record
        case .keyReused(let id):
            var refusal = ErrorBody(.idempotencyKeyReused)
            refusal.error.operation = id
            throw refusal
        case .erased: throw ErrorBody(.transactionErased)
        case .refused(let refusal): throw ErrorBody(refusal, transaction)
        case .unknownPayment: throw ErrorBody(.transactionUnknown)
        case .withoutRequest: throw ErrorBody(.internalFault)
        }
    }

    /// An operation as it is now, with the payment's account.
    func operation(_ id: OperationID) async throws(ErrorBody) -> (PaymentOperation, owner: Principal) {
        let found = try await inJournal {
            (journal) throws(JournalError) -> (PaymentOperation, owner: Principal)? in
            guard let record = try journal.operation(id) else { return nil }
            return (record.answer(try journal.books(of: record.payment)?.account), record.owner)
        }
        guard let found else { throw ErrorBody(.operationUnknown) }
        return found
    }

    func operations(of id: TransactionID) async throws(ErrorBody) -> [PaymentOperation] {
        try await inJournal { (journal) throws(JournalError) in
            let account = try journal.books(of: id)?.account
            return try journal.operations(of: id).map { $0.answer(account) }
        }
    }

    // MARK: - Refunds

    /// Gives a payment back, or a part of it, without its card.
    func refund(
        _ demand: AdmissionRequest, of original: TransactionID
    ) async throws(ErrorBody) -> (TransactionID, isRepeated: Bool) {
        let request = demand.request
        let payment = try await inJournal { (journal) throws(JournalError) in try journal.record(original) }
        let mode = runner.mode
        guard let payment, payment.transaction.mode == mode else { throw ErrorBody(.refundOriginalUnknown) }
        try check(payment, asksForCard: false)
        let (value, currency) = (request.amount == .none ? nil : request.amount.value, request.amount.currency)
        let refund = NewTransaction(
            id: TransactionID(), owner: demand.key.owner, idempotencyKey: demand.key.key,
            requestHash: demand.requestHash, type: .refund, mode: mode, lane: payment.transaction.lane,
            amount: Money(value: 0, currency: value == nil ? payment.transaction.amount.currency : currency),
            order: request.order, at: .now,
            details: TransactionDetails(
                request, merchant: payment.transaction.details?.merchant,
                terminal: payment.transaction.details?.terminal), service: payment.service)
        let id = refund.id
        let creation = try await inJournal(isNew: true) { (journal) throws(JournalError) in
            try journal.createRefund(refund, of: original, amount: value)
        }
        switch creation {
        case .created:
            let ongoing = try await inJournal { (journal) throws(JournalError) in
                try journal.record(id).flatMap { (record) throws(JournalError) in try journal.ongoing(record) }
            }
            if let ongoing { await engine.begin(ongoing) }
            return (id, false)
        case .known(let known):
            switch known {
            case .repeated(let id): return (id, true)
            case .keyReused(let id): throw ErrorBody(.idempotencyKeyReused, transaction: id)
            case .erased: throw ErrorBody(.transactionErased)
            case .overDayLimit(let left): throw ErrorBody(overDayLimit: left)
            case .barred(let reason): throw ErrorBody(ErrorCode(reason))
            case .created: throw ErrorBody(.internalFault)
            }
        case .refused(let refusal): throw ErrorBody(refusal, payment.transaction)
        case .originalUnknown: throw ErrorBody(.refundOriginalUnknown)
        case .otherCurrency: throw ErrorBody(.amountCurrencyMismatch, field: "amount", transaction: original)
        }
    }

    /// Ends a refund without an answer as a person says, who has asked the payment service.
    ///
    /// - Throws: `open_item.not_open` while the service is still asked about it, as for a sale.
    func settle(_ refund: Transaction, _ settlement: Settlement) async throws(ErrorBody) -> Transaction {
        let record = try await inJournal { (journal) throws(JournalError) in try journal.record(refund.id) }
        guard record?.open != nil else {
            throw ErrorBody((record?.transaction ?? refund).settlementRefusal, transaction: refund.id)
        }
        let resolution = OperationResolution(
            isDone: settlement.outcome == .charged, evidence: "settled as \(settlement.evidence)",
            settlement: settlement)
        if let id = OperationID(refund.id.text), await engine.resolve(id, resolution) {
            let after = try await inJournal { (journal) throws(JournalError) in try journal.record(refund.id) }
            guard let after = after?.transaction, after.settlement != nil else {
                throw ErrorBody(.storageFailed, transaction: refund.id)
            }
            return after
        }
        throw ErrorBody(refund.settlementRefusal, transaction: refund.id)
    }

    /// - Returns: whether there was anything that a person had to look at.
    func settleAttention(to id: OperationID, _ evidence: String) async throws(ErrorBody) -> Bool {
        try await inJournal { (journal) throws(JournalError) in
            try journal.settleAttention(to: id, evidence: evidence, at: .now)
        }
    }

    /// The payment that a refund names, where it can be given back, and how much of it is.
    func original(
        of demand: AdmissionRequest, _ id: TransactionID
    ) async throws(ErrorBody) -> (JournalRecord, Money) {
        let payment = try await inJournal { (journal) throws(JournalError) in try journal.record(id) }
        guard let payment, payment.transaction.mode == runner.mode else { throw ErrorBody(.refundOriginalUnknown) }
        let trial = try await trial(demand, of: id)
        guard let amount = trial.amount else { throw ErrorBody(.internalFault) }
        return (payment, amount)
    }

    func check(_ payment: JournalRecord, asksForCard: Bool) throws(ErrorBody) {
        let (original, id) = (payment.transaction, payment.transaction.id)
        guard original.type.isPayment else { throw ErrorBody(.refundOriginalUnknown) }
        switch original.state {
        case .approved: break
        case .stored: throw ErrorBody(.queueStored, transaction: id)
        case .reversing, .reversed: throw ErrorBody(.refundAlreadyReversed, transaction: id)
        case .sent, .unknown: throw ErrorBody(.orderUnresolved, transaction: id)
        case .created, .preparing, .armed, .reading, .sealed, .declined, .delivered, .cancelled, .failed, .completed:
            throw ErrorBody(.refundNotCaptured, transaction: id)
        }
        if !asksForCard, payment.terms?.refundNeedsCard == true { throw ErrorBody(.refundCardNeeded, transaction: id) }
        if let supports = engine.health.supports, !supports.contains(AdapterFeature.refundLinked.rawValue) {
            throw ErrorBody(.refundNotSupported, transaction: id)
        }
    }

    func inJournal<Result: Sendable>(
        isNew: Bool = false, _ body: @Sendable (Journal) throws(JournalError) -> Result
    ) async throws(ErrorBody) -> Result {
        do throws(JournalError) {
            return isNew ? try await journal.useForNew(body) : try await journal.use(body)
        } catch {
            throw ErrorBody(ErrorCode(error))
        }
    }
}

extension Transaction {
    /// The body that asks the payment service for an operation; `nil` where it cannot be written, so that nobody is asked.
    fileprivate func request(for operation: Ledger.Operation, _ currency: Currency) -> String? {
        let reference = result?.pspReference
        let money = { (value: Int64) in Money(value: value, currency: currency) }
        do throws(WireError) {
            let body =
                switch operation.action {
                case .capture(let amount, let tip, let isFinal):
                    try WireJSON.encode(
                        PSPAPI.CaptureRequest(
                            id: operation.id, mode: mode, amount: money(amount), tip: tip > 0 ? money(tip) : nil,
                            final: isFinal, order: order, pspReference: reference))
                case .adjust(let total):
                    try WireJSON.encode(
                        PSPAPI.AdjustmentRequest(
                            id: operation.id, mode: mode, total: money(total), pspReference: reference))
                case .extend:
                    try WireJSON.encode(
                        PSPAPI.AdjustmentRequest(id: operation.id, mode: mode, extend: true, pspReference: reference))
                case .release(let amount):
                    try WireJSON.encode(
                        PSPAPI.ReleaseRequest(
                            id: operation.id, mode: mode, amount: money(amount), pspReference: reference))
                }
            return String(decoding: body, as: UTF8.self)
        } catch {
            return nil
        }
    }
}
