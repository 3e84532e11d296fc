// SPDX-License-Identifier: Apache-2.0
import PSPAPI
import PaymentValues

/// All that the sandbox knows of one id: what was decided, what followed, and whether it was reversed before it came. One
/// row of the store.
struct BookedPayment: Codable, Sendable {
    let id: TransactionID
    /// Of the first request; `nil` until an authorisation has come.
    var entry: LedgerEntry?
    var answer: AuthorizationAnswer?
    /// Pending until then, for whoever asks.
    var visibleFrom: Timestamp?
    /// Reversed before it came.
    var isUnwanted = false
    /// Booked from a batch: one that is forwarded as well gets the answer that stands.
    var isInBatch = false
    /// The sandbox's name for the card.
    var cardToken: String?
    /// The terminal that asked, and each movement of money; `nil` for what a store of an earlier version holds.
    var terminal: String?
    var movements: [Movement]?
    /// A check that has stored the card under that name.
    var isStored: Bool?
    /// A link that customers pay by.
    var link: BookedLink?
    /// In the order in which they came.
    var continuations: [BookedContinuation]?

    init(id: TransactionID) { self.id = id }
}

/// How the service sees an operation that it does not carry out.
struct Refusal: Error, Equatable {
    let code: String
    let reason: AdapterOperationAnswer.Reason

    /// Transaction not permitted, expired, over the limit, already settled: the codes of data element 39 that come nearest.
    static let unsupported = Refusal(code: "57", reason: .notSupported)
    static let expired = Refusal(code: "54", reason: .expired)
    static let tooMuch = Refusal(code: "61", reason: .tooMuch)
    static let settled = Refusal(code: "94", reason: .alreadySettled)
    static let otherCard = Refusal(code: "57", reason: .otherCard)
}

/// The arithmetic of a service that bounds everything by what is there, whatever the client believes. Amounts are between 0 and
/// `Limits.amount`, so that no sum of them overflows.
extension LedgerEntry {
    /// Books an approval, and says in the answer what follows from it.
    ///
    /// - Parameter end: of a hold that begins now.
    mutating func approve(_ answer: inout AuthorizationAnswer, holdingUntil end: Timestamp) {
        let approved = answer.amountApproved ?? amount
        state = .approved
        authorised = approved.value
        switch type {
        case .sale, .verify:
            captured = approved.value
            money = approved.value
        case .refund:
            money = -approved.value
        case .preauth:
            held = approved.value
            captureBefore = end
            answer.captureBefore = captureBefore
            if amount.value % 100 == 20 {
                maximumCapture = 2 * approved.value
                answer.maximumCapture = Money(value: 2 * approved.value, currency: approved.currency)
            }
        }
        if amount.value % 100 == 30 { answer.refundCard = .present }
        if type == .preauth { answer.account = account }
    }

    mutating func complete(_ value: Int64, tip: Int64, final: Bool, at now: Timestamp) throws(Refusal) {
        try checkHold(at: now)
        guard (0...value).contains(tip), value > 0 else { throw .unsupported }
        guard value <= max(held, (maximumCapture ?? 0) - captured) else { throw .tooMuch }
        let taken = min(value, held)
        held -= taken
        captured += value
        tips += tip
        money += value
        guard final else { return }
        released += held
        held = 0
    }

    mutating func adjust(to total: Int64, at now: Timestamp) throws(Refusal) {
        try checkHold(at: now)
        guard captured == 0 else { throw .settled }
        guard total > 0 else { throw .unsupported }
        authorised += total - held
        held = total
    }

    mutating func extend(to time: Timestamp, at now: Timestamp) throws(Refusal) {
        try checkHold(at: now)
        guard captured == 0 else { throw .settled }
        captureBefore = max(time, captureBefore ?? time)
    }

    mutating func release(_ value: Int64, at now: Timestamp) throws(Refusal) {
        try checkHold(at: now)
        guard value > 0 else { throw .unsupported }
        guard value <= held else { throw .tooMuch }
        held -= value
        released += value
    }

    mutating func refund(_ value: Int64) throws(Refusal) {
        guard state == .approved, captured > 0 else { throw .settled }
        guard value > 0 else { throw .unsupported }
        guard value <= min(captured - refunded, money) else { throw .tooMuch }
        refunded += value
        money -= value
    }

    /// Takes back what is left of it, or a part.
    mutating func reverse(_ value: Int64?) -> ReversalAnswer.Way {
        let taken = min(outstanding, value ?? outstanding)
        let ofHold = min(held, taken)
        held -= ofHold
        money += (type == .refund ? 1 : -1) * (taken - ofHold)
        reversed += taken
        if outstanding == 0, state == .approved { state = .reversed }
        return captured > 0 && type == .preauth ? .refunded : .voided
    }

    private func checkHold(at now: Timestamp) throws(Refusal) {
        guard type == .preauth, state == .approved else { throw .unsupported }
        guard held > 0 else { throw .settled }
        guard captureBefore.map({ now < $0 }) ?? true else { throw .expired }
    }
}
