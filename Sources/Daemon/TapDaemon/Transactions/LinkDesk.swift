// SPDX-License-Identifier: Apache-2.0
import Configuration
import Journal
import POSAPI
import PSPAPI
import PaymentValues
import Profile
import Transactions

/// Links that customers pay by, and hand-overs to other terminals: transactions like sales, without a card and without a lane.
struct LinkDesk: Sendable {
    let runner: TransactionRunner

    /// Accepts one and writes it down. Refused, it leaves nothing behind.
    ///
    /// - Parameters:
    ///   - demand: complete: what it leaves to an earlier sale is filled in.
    ///   - paid: what has paid its order.
    func admit(_ demand: TransactionDemand, _ wish: LinkWish, paid: TransactionID?) async -> Admission {
        guard let services = await runner.services else { return .refused(.daemonUnavailable) }
        let newcomer = Newcomer(demand, runner.settings.snapshot, runner.profiles)
        let refusal = await runner.change { newcomer.refusalWithoutCard(newcomer.facts($0, paid: paid)) }
        if let refusal { return .refused(refusal) }
        if let supports = services.health.supports {
            if let name = wish.to {
                guard services.health.terminals.contains(name) else { return .refused(.handoverNotAvailable) }
            } else if !supports.contains(AdapterFeature.link.rawValue) {
                return .refused(.linkNotSupported)
            }
        }
        let addressee = runner.paymentServices.addressee(runner.paymentServices.current)
        let running = newcomer.linking(wish, addressee, services.stored.settings())
        if demand.request.dryRun == true { return .acceptable(newcomer.dryRun(running.transaction.lane)) }
        let taken = await runner.change { newcomer.enter(running, paid: paid, in: &$0) }
        if let taken { return .refused(taken) }
        let new = NewTransaction(demand, running.transaction, running.terms.addressee.service)
        return await runner.writeDown(new, running.transaction) { (journal) throws(JournalError) in
            Written(try journal.create(new))
        }
    }
}

extension Newcomer {
    func linking(_ wish: LinkWish, _ addressee: Addressee, _ offline: OfflineSettings) -> Running {
        let now = Moment.now
        var transaction = Transaction(
            id: TransactionID(), type: request.type, mode: configuration.mode, lane: Transaction.noLane,
            amount: request.amount,
            order: request.order, createdAt: now.wall)
        transaction.till = demand.key.owner.till
        transaction.retryOf = request.retryOf
        transaction.details = TransactionDetails(
            request, merchant: profiles.current.map { Merchant($0.merchant) } ?? configuration.shop,
            terminal: configuration.terminal.id)
        var laidDown = Demand(kind: .sale, owner: demand.key.owner)
        // The customer pays whether or not the till is still there.
        laidDown.isDetached = true
        laidDown.language = request.language
        laidDown.times = configuration.adapter.times.ofMachine
        laidDown.link = LinkRequest(
            id: transaction.id, mode: transaction.mode, amount: request.amount, terminal: configuration.terminal.id,
            expiresAt: now.wall.advanced(bySeconds: Int64(wish.expires)), order: request.order,
            language: request.language, retryOf: request.retryOf, to: wish.to)
        var running = Running(
            TransactionMachine(transaction, laidDown, at: now),
            RunTerms(terminal: profiles.currentTerminal(), addressee: addressee, offline: offline))
        running.begunAt = now.monotonic
        return running
    }
}
