// SPDX-License-Identifier: Apache-2.0
import Configuration
import Journal
import LocalHTTP
import POSAPI
import PaymentValues
import Transactions

/// What becomes of an approved payment: captures, adjustments, releases, and what is known of them. Whose payment it was
/// does not matter, except at a till: shifts change.
extension PointOfSaleAPI {
    var desk: OperationAdmission { OperationAdmission(engine: engine, runner: store) }
    var admission: TransactionAdmission { TransactionAdmission(runner: store, desk: desk, health: health) }

    static let operationCalls: Set<String> = ["captures", "adjustments", "releases", "operations"]

    func answerAboutOperations(
        of id: TransactionID, _ call: String, _ request: HTTPRequest, _ caller: Caller
    ) async throws(ErrorBody) -> HTTPResponse {
        guard call != "operations" else {
            try request.only(.get, parameters: [])
            try caller.roles.require(.cashier)
            _ = try await known(id)
            try await requireOwn(id, caller)
            return .message(200, OperationList(operations: try await desk.operations(of: id)))
        }
        try request.only(.post, parameters: [])
        try caller.roles.require(.cashier)
        let key = PrincipalKey(caller.principal, key: try request.idempotencyKey())
        let seconds = try request.preferredWait()
        let wish: OperationAdmission.Request =
            switch call {
            case "captures": .capture(try request.message(CaptureRequest.self))
            case "adjustments": .adjustment(try request.message(AdjustmentRequest.self))
            default: .release(try request.message(ReleaseRequest.self))
            }
        let transaction = try await known(id)
        try await requireOwn(id, caller)
        if try request.message(DryRun.self).dryRun == true {
            return .message(200, try await desk.trial(of: wish, of: transaction, caller.principal))
        }
        let (operation, isRepeated) = try await desk.make(wish, of: transaction, key)
        let fields: HTTPFields = isRepeated ? ["Idempotency-Replayed": "true"] : [:]
        let answer = try await settled(operation, waiting: seconds, request.connection)
        return .message(answer.state.isOpen ? 202 : 201, answer, fields: fields)
    }

    func answerAboutOperations(
        _ path: ArraySlice<String>, _ request: HTTPRequest, _ caller: Caller
    ) async throws(ErrorBody) -> HTTPResponse {
        guard let id = OperationID(path.first ?? "") else { throw ErrorBody(.operationUnknown) }
        switch (path.count, path.last) {
        case (1, _):
            try request.only(.get, .delete, parameters: request.method == .get ? ["wait"] : [])
            try caller.roles.require(.cashier)
            let (operation, _) = try await desk.operation(id)
            try await requireOwn(operation.transaction, caller)
            guard request.method == .delete else {
                let seconds = try request.waitParameter()
                return .message(200, try await settled(id, waiting: seconds, request.connection))
            }
            return .message(200, try await withdraw(id, request, caller))
        case (2, "resolution"):
            try request.only(.post, parameters: [])
            guard caller.roles.contains(.admin) else { throw ErrorBody(.authAdminRequired) }
            return .message(200, try await resolve(id, request, caller))
        default:
            throw ErrorBody(.requestUnknownPath)
        }
    }

    private func withdraw(
        _ id: OperationID, _ request: HTTPRequest, _ caller: Caller
    ) async throws(ErrorBody) -> WithdrawalAnswer {
        let (before, owner) = try await desk.operation(id)
        guard owner == caller.principal || caller.roles.contains(.admin) else { throw ErrorBody(.sessionNotOwner) }
        guard before.state.isOpen || before.state == .done else {
            return WithdrawalAnswer(outcome: .nothingToCancel, operation: before)
        }
        _ = await engine.withdraw(id)
        let (after, _) = try await desk.operation(id)
        let isWithdrawn = after.error?.code == ErrorCode.operationWithdrawn.rawValue
        return WithdrawalAnswer(outcome: isWithdrawn ? .withdrawn : .tooLate, operation: after)
    }

    private func resolve(
        _ id: OperationID, _ request: HTTPRequest, _ caller: Caller
    ) async throws(ErrorBody) -> PaymentOperation {
        let demand = try request.message(ResolutionRequest.self)
        let (before, _) = try await desk.operation(id)
        return try await administer(
            "resolve", id.text, caller, outcome: { "\(demand.outcome.rawValue), \($0.state.rawValue)" }
        ) {
            () async throws(ErrorBody) -> PaymentOperation in
            let evidence = "\(demand.outcome.rawValue) by \(caller.principal): \(demand.evidence)"
            let resolution = OperationResolution(isDone: demand.outcome == .done, evidence: evidence)
            var refusal = ErrorBody(.resolutionNotOpen, transaction: before.transaction)
            refusal.error.operation = id
            if await !engine.resolve(id, resolution) {
                // It has ended, and a person has looked at what the payment service said besides.
                let end: OperationState = demand.outcome == .done ? .done : .refused
                guard before.state == end, try await desk.settleAttention(to: id, evidence) else { throw refusal }
            }
            let (after, _) = try await desk.operation(id)
            guard !after.state.isOpen else { throw ErrorBody(.storageFailed, transaction: before.transaction) }
            return after
        }
    }

    /// The operation as it is once it has an end, the time is over, or the client has gone.
    private func settled(
        _ id: OperationID, waiting seconds: Int, _ connection: HTTPConnection
    ) async throws(ErrorBody) -> PaymentOperation {
        await wait(for: id, seconds, connection)
        return try await desk.operation(id).0
    }

    private func wait(for id: OperationID, _ seconds: Int, _ connection: HTTPConnection) async {
        guard seconds > 0, let settled = await engine.settling(id) else { return }
        await withTaskGroup { group in
            group.addTask { await settled.wait(atMost: .seconds(seconds)) }
            group.addTask { await connection.closed() }
            await group.next()
            group.cancelAll()
        }
    }

    // MARK: - Refunds that name a payment

    /// Gives back without a card, or says what would become of it.
    func refund(
        _ demand: AdmissionRequest, of original: TransactionID, _ seconds: Int, _ connection: HTTPConnection
    ) async throws(ErrorBody) -> HTTPResponse {
        if demand.request.dryRun == true {
            if demand.request.asksForCard { try await admission.check(demand) }
            return .message(200, try await desk.trial(demand, of: original))
        }
        let (id, isRepeated) = try await desk.refund(demand, of: original)
        if let operation = OperationID(id.text) { await wait(for: operation, seconds, connection) }
        return .message(
            201, try await known(id), fields: isRepeated ? ["Idempotency-Replayed": "true"] : [:])
    }

    /// A cashier gives back up to an amount at a time. What leaves its amount to the payment is all that is left of it; what is
    /// wrong with it besides is another question.
    func requireWithinLimit(_ request: TransactionRequest, _ caller: Caller) async throws(ErrorBody) {
        guard request.type == .refund, !caller.refunds.cashierMaximum.isEmpty else { return }
        var amount = request.amount
        if amount == .none, let original = request.of {
            let trial = try await desk.inJournal { (journal) throws(JournalError) in
                try journal.tryRefund(of: original, amount: nil, nil)
            }
            guard case .acceptable(let value, let account) = trial else { return }
            amount = Money(value: value, currency: account.currency)
        }
        guard let limit = caller.refundLimit(in: amount.currency), amount.value > limit else { return }
        throw ErrorBody(.authAdminRequired, field: "amount")
    }
}
