// SPDX-License-Identifier: Apache-2.0
import Journal
import LocalHTTP
import POSAPI
import PaymentValues
import Transactions

/// The calls under `/v1/open-items`. Cashiers see what is open; an administrator settles it.
extension PointOfSaleAPI {
    func answerAboutOpenItems(
        _ path: ArraySlice<String>, _ request: HTTPRequest, _ caller: Caller
    ) async throws(ErrorBody) -> HTTPResponse {
        switch (path.count, path.last) {
        case (0, _):
            try request.only(.get, parameters: [])
            try caller.roles.require(.cashier)
            let list = try await telling { () throws(QueueRefusal) in
                try await payments.inJournal { (journal) throws(JournalError) in
                    OpenItemList(
                        count: try journal.openItemExtent(of: caller.scope).count,
                        items: try journal.openItems(of: caller.scope))
                }
            }
            return .message(200, list)
        case (2, "settlement"):
            try request.only(.post, parameters: [])
            guard caller.roles.contains(.admin) else { throw ErrorBody(.authAdminRequired) }
            guard let id = TransactionID(path.first ?? "") else { throw ErrorBody(.transactionUnknown) }
            return .message(200, try await settle(id, request, caller))
        default:
            throw ErrorBody(.requestUnknownPath)
        }
    }

    private func settle(
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
                ? try await ClientRequests(store).settle(transaction, settlement)
                : try await desk.settle(transaction, settlement)
        }
    }
}
