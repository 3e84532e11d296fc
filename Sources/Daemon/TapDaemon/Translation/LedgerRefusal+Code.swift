// SPDX-License-Identifier: Apache-2.0
import Ledger
import POSAPI
import PaymentValues

extension ErrorBody {
    /// Why the books refuse it.
    init(_ refusal: LedgerRefusal, _ transaction: Transaction) {
        self.init(refusal.code, transaction: transaction.id)
        switch refusal {
        case .captureTooMuch(let limit), .releaseTooMuch(let limit), .refundTooMuch(let limit):
            error.limit = Money(value: limit, currency: transaction.amount.currency)
        case .operationPending(let id): error.operation = id
        case .amountMissing, .amountOutOfRange, .notApproved, .tipAboveAmount, .confirmationPending,
            .confirmationTooLate, .capturedByItself, .captureNothingLeft, .captureExpired, .adjustmentAfterCapture,
            .adjustmentTooMany, .refundNotCaptured, .alreadyReversed, .reversalRefunded, .reversalCapturedInPart,
            .reversalNothingLeft:
            break
        }
    }
}

extension LedgerRefusal {
    fileprivate var code: ErrorCode {
        switch self {
        case .amountMissing: .amountTotalNotPositive
        case .amountOutOfRange: .amountTooLarge
        case .notApproved: .transactionNotApproved
        case .tipAboveAmount: .captureTooMuch
        case .operationPending: .operationPending
        case .confirmationPending: .confirmationPending
        case .confirmationTooLate: .confirmationTooLate
        case .capturedByItself: .captureAutomatic
        case .captureTooMuch: .captureTooMuch
        case .captureNothingLeft, .reversalNothingLeft: .captureNothingLeft
        case .captureExpired: .captureExpired
        case .adjustmentAfterCapture: .adjustmentAfterCapture
        case .adjustmentTooMany: .adjustmentTooMany
        case .releaseTooMuch: .releaseTooMuch
        case .refundTooMuch: .refundTooMuch
        case .refundNotCaptured: .refundNotCaptured
        case .alreadyReversed: .refundAlreadyReversed
        case .reversalRefunded: .reversalRefunded
        case .reversalCapturedInPart: .reversalCapturedInPart
        }
    }
}
