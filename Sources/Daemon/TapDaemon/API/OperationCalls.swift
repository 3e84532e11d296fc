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
    var desk: OperationAdmission { OperationAdmission(engine: engine, runner: runner) }
    var admission: TransactionAdmission { TransactionAdmission(runner: runner, desk: desk, health: health) }

    func operations(of id: TransactionID, _ caller: Caller) async throws(ErrorBody) -> HTTPResponse {
        _ = try await known(id)
        try await requireOwn(id, caller)
        return .message(200, OperationList(operations: try await desk.operations(of: id)))
    }

    /// Captures, adjusts or releases, or says what would become of it.
    func operate<Demand: Decodable & Sendable>(
        _ call: Route.Call, _ wish: (Demand) -> OperationAdmission.Request
    ) async throws(ErrorBody) -> HTTPResponse {
        let (id, request, caller) = (try call.transaction, call.request, call.caller)
        let key = PrincipalKey(caller.principal, key: try request.idempotencyKey())
        let seconds = try request.preferredWait()
        let tried = try request.message(Tried<Demand>.self)
        let transaction = try await known(id)
        try await requireOwn(id, caller)
        if tried.dryRun {
            return .message(200, try await desk.trial(of: wish(tried.demand), of: transaction, caller.principal))
        }
        let (operation, isRepeated) = try await desk.make(wish(tried.demand), of: transaction, key)
        let fields: HTTPFields = isRepeated ? ["Idempotency-Replayed": "true"] : [:]
        let answer = try await settled(operation, waiting: seconds, request.connection)
        return .message(answer.state.isOpen ? 202 : 201, answer, fields: fields)
    }

    func operation(_ id: OperationID, _ call: Route.Call) async throws(ErrorBody) -> HTTPResponse {
        let (operation, _) = try await desk.operation(id)
        try await requireOwn(operation.transaction, call.caller)
        let seconds = try call.request.waitParameter()
        return .message(200, try await settled(id, waiting: seconds, call.request.connection))
    }

    func withdraw(_ id: OperationID, _ caller: Caller) async throws(ErrorBody) -> WithdrawalAnswer {
        let (before, owner) = try await desk.operation(id)
        try await requireOwn(before.transaction, caller)
        guard owner == caller.principal || caller.roles.contains(.admin) else { throw ErrorBody(.sessionNotOwner) }
        guard before.state.isOpen || before.state == .done else {
            return WithdrawalAnswer(outcome: .nothingToCancel, operation: before)
        }
        _ = await engine.withdraw(id)
        let (after, _) = try await desk.operation(id)
        let isWithdrawn = after.error?.code == ErrorCode.operationWithdrawn.rawValue
        return WithdrawalAnswer(outcome: isWithdrawn ? .withdrawn : .tooLate, operation: after)
    }

    func resolve(
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

extension Route {
    static let operations: [Route] = [
        Route(.get, "v1/transactions/{id}/operations", for: .cashier) { (api, call) throws(ErrorBody) in
            try await api.operations(of: try call.transaction, call.caller)
        },
        Route(.post, "v1/transactions/{id}/captures", for: .cashier) { (api, call) throws(ErrorBody) in
            try await api.operate(call) { .capture($0) }
        },
        Route(.post, "v1/transactions/{id}/adjustments", for: .cashier) { (api, call) throws(ErrorBody) in
            try await api.operate(call) { .adjustment($0) }
        },
        Route(.post, "v1/transactions/{id}/releases", for: .cashier) { (api, call) throws(ErrorBody) in
            try await api.operate(call) { .release($0) }
        },
        Route(.get, "v1/operations/{id}", ["wait"], for: .cashier) { (api, call) throws(ErrorBody) in
            try await api.operation(try call.operation, call)
        },
        Route(.delete, "v1/operations/{id}", for: .cashier) { (api, call) throws(ErrorBody) in
            .message(200, try await api.withdraw(try call.operation, call.caller))
        },
        Route(.post, "v1/operations/{id}/resolution", for: .administrator) { (api, call) throws(ErrorBody) in
            .message(200, try await api.resolve(try call.operation, call.request, call.caller))
        },
    ]
}
