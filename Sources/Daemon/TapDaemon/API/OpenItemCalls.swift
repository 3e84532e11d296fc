// SPDX-License-Identifier: Apache-2.0
import Journal
import LocalHTTP
import POSAPI
import PaymentValues
import Transactions

/// The calls under `/v1/open-items`. Cashiers see what is open; an administrator settles it.
extension PointOfSaleAPI {
    func openItems(_ caller: Caller) async throws(ErrorBody) -> OpenItemList {
        try await telling { () throws(QueueRefusal) in
            try await queue.inJournal { (journal) throws(JournalError) in
                OpenItemList(
                    count: try journal.openItemExtent(of: caller.scope).count,
                    items: try journal.openItems(of: caller.scope))
            }
        }
    }

    func settle(
        _ id: TransactionID, _ request: HTTPRequest, _ caller: Caller
    ) async throws(ErrorBody) -> Transaction {
        let demand = try request.message(SettlementRequest.self)
        let transaction = try await known(id)
        try demand.check(transaction)
        let settlement = Settlement(
            demand.outcome, amount: demand.amount, at: .now, uid: caller.principal.uid, note: demand.note)
        return try await administer(
            "settle", id.text, caller, outcome: { "\(demand.outcome.rawValue), \($0.state.rawValue)" }
        ) {
            () throws(ErrorBody) in
            // Of a refund that names a payment no machine of taps knows anything.
            transaction.of == nil
                ? try await ClientRequests(runner).settle(transaction, settlement)
                : try await desk.settle(transaction, settlement)
        }
    }
}

extension Route {
    static let openItems: [Route] = [
        Route(.get, "v1/open-items", for: .cashier) { (api, call) throws(ErrorBody) in
            .message(200, try await api.openItems(call.caller))
        },
        Route(.post, "v1/open-items/{id}/settlement", for: .administrator) { (api, call) throws(ErrorBody) in
            .message(200, try await api.settle(try call.transaction, call.request, call.caller))
        },
    ]
}
