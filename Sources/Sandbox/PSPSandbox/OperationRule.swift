// SPDX-License-Identifier: Apache-2.0
import PSPAPI
import PaymentValues

/// What the sandbox does with an operation, by the last two digits of its amount in minor units.
enum OperationRule: Equatable, Sendable {
    case approve
    case decline(Refusal)
    /// Half of a refund, rounded down.
    case approveHalf
    /// The first request is lost on its way, and the repetition is declined.
    case loseThenDecline
    /// The first request is answered with HTTP 500, and the repetition is carried out.
    case failThenApprove
    /// Carried out, with an answer that does not arrive as it should.
    case fault(AmountRule.Fault)
    /// Pending for ever.
    case neverDecided
    /// Pending until `late`, then carried out.
    case decidedLate
    case lie(Lie)

    /// Carried out, with an answer that is well-formed and wrong.
    enum Lie: Int, Equatable, Sendable, CaseIterable {
        /// The answer has another id.
        case otherID = 85
        /// The answer says that more was done.
        case otherAmount = 86
        /// The answer says that a part was done, of an operation that has no parts.
        case part = 87
        /// The account in the answer has another sum.
        case otherAccount = 88
        /// The answer says approved, and every question after it is answered with declined.
        case contradiction = 89
    }

    init(minorUnits: Int64) {
        let digits = Int((minorUnits % 100).magnitude)
        if let lie = Lie(rawValue: digits) {
            self = .lie(lie)
            return
        }
        self =
            switch digits {
            case 5, 51: .decline(Refusal(code: digits == 5 ? "05" : "51", reason: .issuer))
            case 10: .approveHalf
            case 54: .decline(.expired)
            case 92: .loseThenDecline
            case 93: .failThenApprove
            case 94: .fault(.answersTwice)
            case 95: .fault(.closesMidBody)
            case 96: .fault(.garbage)
            case 97: .fault(.slow)
            case 98: .neverDecided
            case 99: .decidedLate
            default: .approve
            }
    }
}

extension AdapterOperationAnswer {
    /// As somebody who lies would give it.
    func altered(by lie: OperationRule.Lie, asked: Money) -> AdapterOperationAnswer {
        var answer = self
        switch lie {
        case .otherID: answer.id = OperationID()
        case .otherAmount: answer.amountDone = Money(value: asked.value + 1, currency: asked.currency)
        case .part:
            answer.outcome = .partial
            answer.amountDone = Money(value: asked.value / 2, currency: asked.currency)
        case .otherAccount: answer.account?.captured += 1
        case .contradiction: break
        }
        return answer
    }
}
