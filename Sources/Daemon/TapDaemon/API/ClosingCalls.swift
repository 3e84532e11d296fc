// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import POSAPI
import PaymentValues

/// What a POS does with a transaction after its end.
extension PointOfSaleAPI {
    func confirm(_ id: TransactionID, _ request: HTTPRequest, _ caller: Caller) async throws(ErrorBody) -> HTTPResponse
    {
        let transaction = try await owned(id, caller)
        let after = try await carryOut("confirm", on: transaction, caller, outcome: \.state.rawValue) {
            () throws(ErrorBody) in try await ClientRequests(runner).confirm(transaction)
        }
        return .message(200, after)
    }

    func reverse(_ id: TransactionID, _ request: HTTPRequest, _ caller: Caller) async throws(ErrorBody) -> HTTPResponse
    {
        let demand = try request.message(ReversalRequest.self)
        let transaction = try await owned(id, caller)
        do throws(ErrorBody) { try caller.requireReversible(transaction, at: .now) } catch {
            await noteLateReversal(of: id, caller)
            throw error
        }
        let after = try await carryOut("reverse", on: transaction, caller, outcome: \.state.rawValue) {
            () throws(ErrorBody) in try await ClientRequests(runner).reverse(transaction, demand.reason)
        }
        return .message(after.state == .reversed ? 200 : 202, after)
    }

    func decline(_ id: TransactionID, _ request: HTTPRequest, _ caller: Caller) async throws(ErrorBody) -> HTTPResponse
    {
        let transaction = try await owned(id, caller)
        let after = try await carryOut("decline", on: transaction, caller, outcome: \.state.rawValue) {
            () throws(ErrorBody) in
            try await telling(about: id) { () throws(QueueRefusal) in try await queue.decline(transaction) }
            return try await ClientRequests(runner).fresh(transaction)
        }
        return .message(200, after)
    }

    /// The transaction, for whoever asked for it or an administrator.
    func owned(_ id: TransactionID, _ caller: Caller) async throws(ErrorBody) -> Transaction {
        let transaction = try await known(id)
        guard try await isOwner(caller.principal, of: id) || caller.roles.contains(.admin) else {
            throw ErrorBody(.sessionNotOwner, transaction: id)
        }
        return transaction
    }
}
