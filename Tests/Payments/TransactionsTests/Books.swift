// SPDX-License-Identifier: Apache-2.0
import PINDeviceAPI
import POSAPI
import PSPAPI
import PaymentValues
import StoreAndForward

@testable import Transactions

/// What a journal holds of one transaction: written from docs/integrating/protocol.md and the table of legal changes, without a look at
/// the machine.
struct Books {
    private(set) var transaction: Transaction
    private(set) var plan: ReversalPlan?
    /// A signed record of it waits to be forwarded.
    private(set) var isQueued = false
    /// A person has to look after it.
    private(set) var open: OpenReason?
    /// The rules of storing allow it.
    var mayStore = true
    /// Every request and every entry of a PIN that was written down.
    private(set) var authorizations: [AuthorizationRequest] = []
    private(set) var pins: [PINAttempt] = []
    /// What a charge rests on still stands.
    var mayCharge = true

    init(_ transaction: Transaction) { self.transaction = transaction }

    /// - Returns: why it is not taken, in which case nothing has changed.
    mutating func take(_ write: Write) -> WriteFailure? {
        switch write.form {
        case .append: break
        case .charge: guard mayCharge else { return .notAllowed(.agreementEnded) }
        case .store: guard mayStore else { return .notStorable(.pspUnreachable) }
        case .forward: guard transaction.state == .stored, isQueued else { return .superseded }
        case .reversal(let unconfirmedOnly):
            guard transaction.state == .approved else { return .superseded }
            if unconfirmedOnly, isConfirmed { return .superseded }
        case .pin(let attempt, _):
            guard transaction.state == .sent else { return .superseded }
            pins.append(attempt)
            return nil
        case .plan(let next):
            guard transaction.state == .reversing else { return .illegal }
            plan = next
            return nil
        case .open(_, let next):
            guard next == nil || transaction.state == .reversing else { return .illegal }
        case .settle: guard open != nil else { return .notSettled(transaction.settlementRefusal) }
        case .contradict(let time):
            transaction.settlement?.contradictedAt = time
            return nil
        }
        guard isLegal(write) else { return .illegal }
        for change in write.changes { note(change) }
        if case .store = write.form { isQueued = true }
        if case .open(let reason, let next) = write.form { (open, plan) = (reason, next ?? plan) }
        if [.approved, .declined, .delivered].contains(transaction.state) { isQueued = false }
        return nil
    }

    func isLegal(_ write: Write) -> Bool {
        var state = transaction.state
        for change in write.changes {
            guard state.successors.contains(change.state) else { return false }
            state = change.state
        }
        return true
    }

    private mutating func note(_ change: StateChange) {
        if change.state != transaction.state { open = nil }
        if let authorization = change.authorization { authorizations.append(authorization) }
        if let pin = change.pin { pins.append(pin) }
        if let settlement = change.settlement { transaction.settlement = settlement }
        transaction.history.append(Transaction.Step(state: change.state, at: change.at))
        transaction.state = change.state
        transaction.updatedAt = change.at
        if let lane = change.lane { transaction.lane = lane }
        if let card = change.card { transaction.card = card }
        if let result = change.result { transaction.result = result }
        if change.error != nil || change.state.endsDoubt { transaction.error = change.error }
        if let canceller = change.cancelledBy { transaction.cancelledBy = canceller }
        if change.confirmBy != nil || change.state.endsDoubt {
            transaction.confirmation = change.confirmBy.map { Confirmation(due: $0) }
        }
        if let reversal = change.reversal { plan = reversal }
    }

    /// An issuer has declined without a doubt, and the customer is asked for the PIN that it wants.
    var isPINAwaited: Bool { transaction.state == .sent && pins.last?.state == .asked }

    var isConfirmed: Bool { transaction.confirmation?.confirmedAt != nil }

    /// The till says that the goods are out.
    mutating func confirm(at time: Timestamp) -> Bool {
        guard transaction.state == .approved, let due = transaction.confirmation?.due, time <= due else { return false }
        transaction.confirmation?.confirmedAt = time
        return true
    }

    /// The till declines a stored payment, which nobody forwards then.
    mutating func declineStored(at time: Timestamp) -> Bool {
        guard transaction.state == .stored else { return false }
        note(StateChange(.declined, at: time))
        isQueued = false
        return true
    }

    /// A transaction that came to `states` in an earlier run.
    static func recorded(
        _ transaction: Transaction, _ states: [TransactionState], isQueued: Bool = false, confirmBy: Timestamp? = nil
    ) -> Books {
        var books = Books(transaction)
        for state in states {
            var change = StateChange(state, at: transaction.createdAt)
            if state == .approved { change.confirmBy = confirmBy }
            if state == .reversing { change.reversal = ReversalPlan(reason: .timeout, due: transaction.createdAt) }
            books.note(change)
        }
        books.isQueued = isQueued
        return books
    }
}

/// What everything here is about: one payment, or one read of passes.
enum Sample {
    static let start = Moment(monotonic: 1_000_000, wall: Timestamp(milliseconds: 1_770_000_000_000))
    static let lanes = ["east", "west"]
    /// Two wishes to cancel and so on are told apart by their numbers.
    static let id = TransactionID("01a20157-d467-7ab4-b58e-da1ff08a1669") ?? TransactionID()
    static let pin = OnlinePIN(
        attempt: PINAttemptID("01a20157-d467-7ab4-b58e-da1ff08a1701") ?? PINAttemptID(), format: 4, keySet: "keys",
        algorithm: "AES-128", ksn: "123456789012345600000001", block: "A912150391AB65A67E52883D81CE2D15",
        device: OnlinePIN.Device(serial: "1"))
    static let otherPIN = PINAttemptID("01a20157-d467-7ab4-b58e-da1ff08a1702") ?? PINAttemptID()
    static var lastPIN: OnlinePIN {
        var last = pin
        last.attempt = otherPIN
        return last
    }
    /// The issuer wants the PIN, and takes it with the same read.
    static var wantsPIN: AuthorizationAnswer {
        var answer = AuthorizationAnswer(outcome: .declined, responseCode: "70")
        (answer.action, answer.singleTap) = (.pinRequired, true)
        return answer
    }
    static func demand(_ attempt: PINAttemptID) -> PINRequest {
        PINRequest(PINAttempt(id: attempt, device: "pad", format: 4, keySet: "keys"), account: "sealed")
    }

    static let card = MaskedCard(scheme: "Visa", last4: "0010", masked: "************0010")

    static func transaction(_ type: TransactionType, amount: Int64 = 1_250) -> Transaction {
        let euro = Currency("EUR") ?? .none
        return Transaction(
            id: id, type: type, mode: .test, lane: "east",
            amount: type == .loyalty ? .none : Money(value: amount, currency: euro), order: "A-17",
            createdAt: start.wall)
    }

    static func request(_ transaction: Transaction) -> AuthorizationRequest? {
        guard let card else { return nil }
        return AuthorizationRequest(
            id: transaction.id, mode: .test, type: transaction.type == .refund ? .refund : .sale,
            amount: transaction.amount, entryMode: .contactlessEMV, cvm: .noCVM, emv: "9F02", card: card,
            envelope: "sealed", terminal: .init(id: "00000001", merchant: "TEST", capabilities: []))
    }

    static func read(_ transaction: Transaction, at time: Timestamp) -> Read? {
        guard let request = request(transaction) else { return nil }
        return Read(
            request: request,
            sale: OfflineSale(
                kind: request.type, amount: request.amount, card: request.card, isApprovedByCard: true,
                validity: .valid,
                needsConfirmation: false),
            chip: nil, at: time)
    }

    static func answer(_ outcome: AuthorizationAnswer.Outcome) -> AuthorizationAnswer {
        var answer = AuthorizationAnswer(outcome: outcome, responseCode: outcome == .declined ? "51" : "00")
        answer.pspReference = "S-1"
        return answer
    }

    static func passes(_ action: LoyaltyResult.CustomerAction = .nothing) -> LoyaltyResult {
        LoyaltyResult(customerAction: action, programmes: [])
    }
}
