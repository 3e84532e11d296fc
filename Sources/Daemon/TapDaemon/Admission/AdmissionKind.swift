// SPDX-License-Identifier: Apache-2.0
import Configuration
import Journal
import POSAPI
import PSPAPI
import PaymentValues
import Profile
import Transactions

/// What a request asks for, with what it rests on. All that admission does otherwise for one kind than for another stands here.
enum AdmissionKind: Sendable {
    /// A card, a phone or a member card is read, for a payment, a verification or passes.
    case read
    /// A card has come to a lane that stands alone.
    case tap(StandingTap)
    /// A card is read for the refund of a payment: a tap like others, whose read goes on as an operation.
    case refund(of: JournalRecord)
    /// A stored card is charged, without a card and without a lane.
    case charge(ChargeOptions, Result<ChargeBasis, ChargeRefusal>)
    /// The customer pays by a link or at another terminal, without a card and without a lane.
    case elsewhere(LinkOptions)

    /// The lanes that it may have, without doing anything; none where no card is read.
    ///
    /// - Parameter tables: what the daemon's tables say of it.
    /// - Throws: what refuses it.
    func lanes(
        _ draft: TransactionDraft, tables: () throws(ErrorBody) -> [String]
    ) throws(ErrorBody) -> [String] {
        let supports = draft.health.supports
        switch self {
        case .read, .tap:
            if let refusal = draft.refusal(by: supports) { throw refusal }
            return try tables()
        case .refund(let payment):
            // The read is sealed to the key of the service in force: no other one can open it.
            guard payment.service == nil || payment.service == draft.services.current else {
                throw ErrorBody(.refundNotSupported, transaction: payment.transaction.id)
            }
            return try tables()
        case .charge(let wish, let basis):
            // Somebody who is there without the card: the payment service has to allow that to this merchant.
            guard wish.initiator == .merchant || draft.profiles.current?.customerCharges == true else {
                throw ErrorBody(.chargeNotSupported, field: "initiator")
            }
            let lanes = try tables()
            switch basis {
            case .failure(let refusal): throw ErrorBody(refusal)
            case .success(let basis):
                guard supports?.contains(AdapterFeature.charge.rawValue) ?? true else {
                    throw ErrorBody(.chargeNotSupported)
                }
                guard basis.stored.card.token != nil else { throw ErrorBody(.storedCardDeleted, field: "credential") }
            }
            return lanes
        case .elsewhere(let wish):
            let lanes = try tables()
            guard let supports else { return lanes }
            if let name = wish.to {
                guard draft.health.terminals.contains(name) else { throw ErrorBody(.handoverNotAvailable) }
            } else if !supports.contains(AdapterFeature.link.rawValue) {
                throw ErrorBody(.linkNotSupported)
            }
            return lanes
        }
    }

    /// The service that it belongs to; `nil` for the one in force.
    var service: AskedService? {
        guard case .charge(_, .success(let basis)) = self else { return nil }
        return basis.service
    }

    /// Lays down what its machine needs beside what every transaction has.
    func layDown(
        _ demand: inout TransactionParameters, _ terms: inout TransactionContext, of transaction: Transaction,
        _ draft: TransactionDraft
    ) {
        let (request, terminal) = (draft.request, draft.configuration.terminal.id)
        switch self {
        case .read: return
        case .tap(let tap):
            terms.tap = tap.number
            if tap.mode == .ask {
                demand.kept = KeptTap(tap: tap.number, time: .seconds(tap.claim))
                // A read waits for its machine, and no customer for a PIN.
                terms.pinPlaces = nil
            }
        case .refund(let payment):
            demand.isHandedOver = true
            terms.original = payment
        case .charge(let wish, let basis):
            guard case .success(let basis) = basis, let token = basis.stored.card.token else { return }
            demand.charge = StoredCharge(
                ChargeRequest(
                    id: transaction.id, mode: transaction.mode, amount: request.amount, terminal: terminal,
                    token: token, under: basis.agreement, wish, networkReference: basis.networkReference,
                    order: request.order),
                of: basis.stored.card)
        case .elsewhere(let wish):
            demand.link = LinkRequest(
                id: transaction.id, mode: transaction.mode, amount: request.amount, terminal: terminal,
                expiresAt: transaction.createdAt.advanced(bySeconds: Int64(wish.expires)), order: request.order,
                language: request.language, retryOf: request.retryOf, to: wish.to)
        }
    }

    /// Writes a transaction of this kind down.
    func record(
        _ new: NewTransaction, _ transaction: Transaction, in journal: Journal
    ) throws(JournalError) -> Written {
        switch self {
        case .read, .elsewhere: return Written(try journal.create(new))
        case .tap(let tap):
            return Written(try journal.createTap(new, tap.number, tap.session(new.id, at: transaction.createdAt)))
        case .refund(let payment):
            var new = new
            new.service = payment.service
            switch try journal.createRefund(new, of: payment.transaction.id, amount: new.amount.value) {
            case .created(let number, _): return .under(number: number)
            case .refused(let refusal): return .refused(ErrorBody(refusal, transaction))
            case .originalUnknown: return .refused(ErrorBody(.refundOriginalUnknown))
            case .otherCurrency:
                return .refused(
                    ErrorBody(.amountCurrencyMismatch, field: "amount", transaction: payment.transaction.id))
            case .known(let known): return Written(known)
            }
        case .charge:
            switch try journal.createCharge(new) {
            case .created(let number): return .under(number: number)
            case .refused(let refusal): return .refused(ErrorBody(refusal))
            case .known(let known): return Written(known)
            }
        }
    }
}
