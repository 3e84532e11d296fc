// SPDX-License-Identifier: Apache-2.0
import Journal
import PaymentValues

/// What the journal made of a transaction that was entered.
enum Written: Sendable {
    case under(number: Int64)
    /// The key is spent, for this transaction; `nil` where that was erased.
    case known(TransactionID?)
    case refused(ErrorBody)

    init(_ creation: Creation) {
        switch creation {
        case .created(let number): self = .under(number: number)
        case .repeated(let id), .keyReused(let id): self = .known(id)
        case .erased: self = .known(nil)
        case .overDayLimit(let left): self = .refused(ErrorBody(overDayLimit: left))
        case .barred(let reason): self = .refused(ErrorBody(ErrorCode(reason)))
        }
    }
}
