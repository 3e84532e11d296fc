// SPDX-License-Identifier: Apache-2.0
import Configuration
import Journal
import POSAPI
import PSPAPI
import PaymentValues
import Profile
import Transactions

/// Charges of stored cards: transactions like sales, without a card and without a lane.
struct ChargeDesk: Sendable {
    let runner: TransactionRunner

    /// Accepts a charge and writes it down. Refused, it leaves nothing behind.
    func admit(_ demand: TransactionDemand, _ wish: ChargeWish) async -> Admission {
        let (mode, amount) = (runner.mode, demand.request.amount)
        let basis: Result<ChargeBasis, ChargeRefusal>
        let paid: TransactionID?
        do throws(JournalError) {
            if let known = try await EarlierRequest(runner: runner).admission(of: demand) { return known }
            basis = try await runner.journal.use { (journal) throws(JournalError) in
                try journal.chargeBasis(wish, amount, mode: mode, at: .now)
            }
            paid = try await runner.payment(of: demand.request)
        } catch {
            return .refused(ErrorCode(error))
        }
        guard let services = await runner.services else { return .refused(.daemonUnavailable) }
        // Somebody who is there without the card: the payment service has to allow that to this merchant.
        guard wish.initiator == .merchant || runner.profiles.current?.customerCharges == true else {
            return .refused(.chargeNotSupported, field: "initiator")
        }
        let newcomer = Newcomer(demand, runner.settings.snapshot, runner.profiles)
        let refusal = await runner.change { newcomer.refusalWithoutCard(newcomer.facts($0, paid: paid)) }
        if let refusal { return .refused(refusal) }
        switch basis {
        case .failure(let refusal): return .refused(ErrorBody(refusal))
        case .success(let basis):
            if let supports = services.health.supports, !supports.contains(AdapterFeature.charge.rawValue) {
                return .refused(.chargeNotSupported)
            }
            let addressee = runner.paymentServices.addressee(basis.service ?? runner.paymentServices.current)
            let keyLife = addressee.service.flatMap { services.health.keyLife(at: $0.socket) }
            let running = newcomer.charging(
                basis, wish, addressee, services.stored.settings(), keyLife: keyLife ?? .zero)
            guard let running else { return .refused(.storedCardDeleted, field: "credential") }
            if demand.request.dryRun == true { return .acceptable(newcomer.dryRun(running.transaction.lane)) }
            let taken = await runner.change { newcomer.enter(running, paid: paid, in: &$0) }
            if let taken { return .refused(taken) }
            let new = NewTransaction(demand, running.transaction, running.terms.addressee.service)
            return await runner.writeDown(new, running.transaction) { (journal) throws(JournalError) in
                switch try journal.createCharge(new) {
                case .created(let number): .under(number: number)
                case .refused(let refusal): .refused(ErrorBody(refusal))
                case .known(let known): Written(known)
                }
            }
        }
    }
}

extension Transaction {
    /// What the answer to a read says beyond the read: the card that was stored, and what the journal has of a card
    /// that was looked up. Nothing is asked of the service.
    mutating func addStoredCards(from journal: JournalThread) async throws(JournalError) {
        guard type == .verification || details?.store == true, state == .approved else { return }
        let asked = self
        switch asked.details?.store == true ? .saveCard : asked.details?.reason {
        case .saveCard:
            credential = try await journal.use { (journal) throws(JournalError) in
                try journal.storedCard(with: asked.id)?.withoutToken
            }
        case .lookUp:
            earlier = try await journal.use { (journal) throws(JournalError) in
                try journal.earlier(than: asked).map(EarlierTransaction.init)
            }
        case .openTab, .other, nil: break
        }
    }
}

extension Newcomer {
    /// What speaks against a payment that needs neither card nor lane.
    func refusalWithoutCard(_ facts: AdmissionFacts) -> ErrorBody? {
        if facts.isStopping { return ErrorBody(.daemonUnavailable) }
        if let refusal = facts.paymentRefusal { return refusal }
        if let other = facts.unresolved { return ErrorBody(.orderUnresolved, transaction: other) }
        if request.allowRepeat != true, let paid = facts.paid { return ErrorBody(.orderPaid, transaction: paid) }
        return nil
    }

    /// Enters a payment that needs neither card nor lane, in the same step in which its order is found free.
    ///
    /// - Returns: what speaks against it; nothing was entered then.
    func enter(_ running: Running, paid: TransactionID?, in books: inout Books) -> ErrorBody? {
        if let refusal = refusalWithoutCard(facts(books, paid: paid)) { return refusal }
        guard books.pace.take(demand.key.owner, bytes: demand.bytes, at: .now) else {
            return ErrorBody(.requestTooOften)
        }
        books.enter(running, demand.key)
        return nil
    }

    /// - Parameter keyLife: how long the payment service keeps keys.
    /// - Returns: `nil` where the card has no token any more.
    func charging(
        _ basis: ChargeBasis, _ wish: ChargeWish, _ addressee: Addressee, _ offline: OfflineSettings,
        keyLife: Duration
    ) -> Running? {
        guard let token = basis.stored.card.token else { return nil }
        let now = Moment.now
        let terms = RunTerms(terminal: profiles.currentTerminal(), addressee: addressee, offline: offline)
        var transaction = Transaction(
            id: TransactionID(), type: .charge, mode: configuration.mode, lane: Transaction.noLane,
            amount: request.amount,
            order: request.order, createdAt: now.wall)
        transaction.details = TransactionDetails(
            request, merchant: profiles.current.map { Merchant($0.merchant) } ?? configuration.shop,
            terminal: configuration.terminal.id)
        var laidDown = Demand(kind: .sale, owner: demand.key.owner)
        // Nobody stands there with a card: the client's going away changes nothing.
        laidDown.isDetached = true
        laidDown.language = request.language
        laidDown.times = configuration.adapter.times.ofMachine
        laidDown.times.keyLife = keyLife
        laidDown.charge = StoredCharge(
            ChargeRequest(
                id: transaction.id, mode: transaction.mode, amount: request.amount,
                terminal: configuration.terminal.id, token: token, under: basis.agreement, wish,
                networkReference: basis.networkReference, order: request.order),
            of: basis.stored.card)
        var running = Running(TransactionMachine(transaction, laidDown, at: now), terms)
        running.begunAt = now.monotonic
        return running
    }
}
