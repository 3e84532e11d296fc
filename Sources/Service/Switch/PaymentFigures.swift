// SPDX-License-Identifier: Apache-2.0
import PSPAPI
import PaymentValues

/// How the books see an operation that they do not allow.
struct PostingRefusal: Error, Equatable, Sendable {
    let code: String
    let reason: AdapterOperationAnswer.Reason

    /// Transaction not permitted, expired, over the limit, already settled: the codes of field 39 that come nearest.
    static let unsupported = PostingRefusal(code: "57", reason: .notSupported)
    static let expired = PostingRefusal(code: "54", reason: .expired)
    static let tooMuch = PostingRefusal(code: "61", reason: .tooMuch)
    static let settled = PostingRefusal(code: "94", reason: .alreadySettled)
    static let otherCard = PostingRefusal(code: "57", reason: .otherCard)
}

/// One booking: sums by account that add up to nothing. Zero stands for no entry.
struct Posting: Equatable, Sendable {
    var card: Int64 = 0
    var hold: Int64 = 0
    var shop: Int64 = 0

    var entries: [(account: String, amount: Int64)] {
        [("card", card), ("hold", hold), ("shop", shop)].filter { $0.1 != 0 }
    }

    var reversed: Posting { Posting(card: -card, hold: -hold, shop: -shop) }
}

/// A payment's figures, in minor units, and what may follow them. Amounts are between 0 and `Limits.amount`, so that no sum of them
/// overflows.
struct PaymentFigures: Equatable, Sendable {
    var kind: AuthorizationRequest.Kind
    var authorised: Int64 = 0
    var captured: Int64 = 0
    var released: Int64 = 0
    var refunded: Int64 = 0

    var held: Int64 { kind == .preauth ? authorised - captured - released : 0 }

    /// Of an approval over this amount.
    static func approved(_ kind: AuthorizationRequest.Kind, _ value: Int64) -> (PaymentFigures, Posting) {
        var figures = PaymentFigures(kind: kind, authorised: value)
        switch kind {
        case .sale, .verify:
            figures.captured = value
            return (figures, Posting(card: -value, shop: value))
        case .preauth: return (figures, Posting(card: -value, hold: value))
        case .refund:
            figures.refunded = value
            return (figures, Posting(card: value, shop: -value))
        }
    }

    /// - Returns: the booking, and what a final capture gives up.
    mutating func capture(
        _ value: Int64, tip: Int64, isFinal: Bool, isOver: Bool
    ) throws(PostingRefusal) -> (Posting, rest: Int64) {
        try checkHold(isOver)
        guard value > 0, (0...value).contains(tip) else { throw .unsupported }
        guard value <= held else { throw .tooMuch }
        captured += value
        let rest = isFinal ? held : 0
        released += rest
        return (Posting(card: rest, hold: -value - rest, shop: value), rest)
    }

    mutating func release(_ value: Int64, isOver: Bool) throws(PostingRefusal) -> Posting {
        try checkHold(isOver)
        guard value > 0 else { throw .unsupported }
        guard value <= held else { throw .tooMuch }
        released += value
        return Posting(card: value, hold: -value)
    }

    /// - Parameter open: captures that the host may still decline: what is refunded of them could not be taken from anything then.
    mutating func refund(_ value: Int64, open: Int64 = 0) throws(PostingRefusal) -> Posting {
        guard kind != .refund, captured > 0 else { throw .settled }
        guard value > 0 else { throw .unsupported }
        guard value <= captured - open - refunded else { throw .tooMuch }
        refunded += value
        return Posting(card: value, shop: -value)
    }

    private func checkHold(_ isOver: Bool) throws(PostingRefusal) {
        guard kind == .preauth else { throw .unsupported }
        guard held > 0 else { throw .settled }
        guard !isOver else { throw .expired }
    }

    /// Takes back what was booked when an operation began, for the acquirer has refused it.
    mutating func undo(_ kind: OperationKind, _ value: Int64, rest: Int64) -> Posting {
        switch kind {
        case .capture:
            captured -= value
            released -= rest
            return Posting(card: -rest, hold: value + rest, shop: -value)
        case .release:
            released -= value
            return Posting(card: -value, hold: value)
        case .refund:
            refunded -= value
            return Posting(card: -value, shop: value)
        }
    }

    func account(_ currency: Currency) -> ServiceAccount {
        ServiceAccount(
            currency: currency, authorised: authorised, captured: captured, released: released, refunded: refunded)
    }
}

/// What can follow an approval.
enum OperationKind: String, Sendable {
    case capture, release, refund
}
