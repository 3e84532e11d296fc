// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// `GET /debug/ledger`: every transaction in the order of its first request.
public struct LedgerReport: Codable, Equatable, Sendable {
    public var transactions: [LedgerEntry]
    /// Authorised transactions whose answer nobody got and that nobody reversed: must be empty once a daemon has settled.
    public var unseen: [TransactionID]
    /// The same of operations, which nobody reverses.
    public var unseenOperations: [OperationID]

    init(_ transactions: [LedgerEntry]) {
        self.transactions = transactions
        unseen = transactions.filter { $0.outstanding > 0 && !$0.answered }.map(\.id)
        unseenOperations = transactions.flatMap(\.operations).filter { $0.isCarriedOut && !$0.answered }.map(\.id)
    }
}
