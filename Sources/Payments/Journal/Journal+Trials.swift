// SPDX-License-Identifier: Apache-2.0
public import Ledger
public import POSAPI
public import PaymentValues

/// What the books would say to a wish. Nothing is written.
public enum Trial: Equatable, Sendable {
    /// What would be asked for, and the account once that is done.
    case acceptable(value: Int64, PaymentAccount)
    case refused(LedgerRefusal)
    case unknownPayment
    case otherCurrency(Currency)
}

extension Journal {
    /// - Parameter isInTime: as with `createOperation`.
    public func tryOperation(_ new: NewOperation, isInTime: Bool? = nil) throws(JournalError) -> Trial {
        guard var books = try books(of: new.payment) else { return .unknownPayment }
        do throws(LedgerRefusal) {
            if case .capture = new.wish, books.isAwaitingConfirmation {
                guard try isConfirmable(new.payment, at: new.at, isInTime) else { throw .confirmationTooLate }
            }
            let operation = try books.request(new.wish, new.id, at: new.at)
            _ = books.moved(operation.id, to: .sent)
            _ = books.answered(operation.id, .done())
            return .acceptable(value: operation.action.figure, books.account)
        } catch {
            return .refused(error)
        }
    }

    /// - Parameter amount: `nil` for all that is refundable.
    public func tryRefund(of original: TransactionID, amount: Int64?, _ currency: Currency?) throws(JournalError)
        -> Trial
    {
        guard var books = try books(of: original) else { return .unknownPayment }
        if let currency, currency != books.currency { return .otherCurrency(books.currency) }
        let id = TransactionID()
        do throws(LedgerRefusal) {
            let refund = try books.requestRefund(id, amount: amount)
            _ = books.refundAnswered(id, .done(refund.amount))
            return .acceptable(value: refund.amount, books.account)
        } catch {
            return .refused(error)
        }
    }
}

extension Operation.Action {
    /// 0 for more time.
    fileprivate var figure: Int64 {
        switch self {
        case .capture(let amount, _, _), .release(let amount): amount
        case .adjust(let total): total
        case .extend: 0
        }
    }
}
