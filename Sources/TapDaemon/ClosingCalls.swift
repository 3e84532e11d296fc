import LocalHTTP
import Wire

/// What a POS does with a transaction after its end.
extension PointOfSaleAPI {
    func confirm(_ id: TransactionID, _ request: HTTPRequest, isAdmin: Bool) async throws(ErrorBody) -> HTTPResponse {
        let transaction = try await owned(id, request, isAdmin: isAdmin)
        return .message(200, try await closing.confirm(transaction))
    }

    func reverse(_ id: TransactionID, _ request: HTTPRequest, isAdmin: Bool) async throws(ErrorBody) -> HTTPResponse {
        let demand = try request.message(ReversalDemand.self)
        let transaction = try await owned(id, request, isAdmin: isAdmin)
        let after = try await closing.reverse(transaction, demand.reason)
        return .message(after.state == .reversed ? 200 : 202, after)
    }

    func decline(_ id: TransactionID, _ request: HTTPRequest, isAdmin: Bool) async throws(ErrorBody) -> HTTPResponse {
        let transaction = try await owned(id, request, isAdmin: isAdmin)
        return .message(200, try await payments.decline(transaction))
    }

    /// The transaction, for the user who asked for it or an administrator.
    func owned(_ id: TransactionID, _ request: HTTPRequest, isAdmin: Bool) async throws(ErrorBody) -> Transaction {
        let transaction = try await known(id)
        guard try await isOwner(request.peer.userID, of: id) || isAdmin else {
            throw ErrorBody(.sessionNotOwner, transaction: id)
        }
        return transaction
    }
}
