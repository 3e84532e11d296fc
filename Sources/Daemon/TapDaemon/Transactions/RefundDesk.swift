// SPDX-License-Identifier: Apache-2.0
import Configuration
import Journal
import POSAPI
import PaymentValues
import Transactions

/// Refunds of a payment for which a card is read: taps like others, whose read goes on as an operation.
struct RefundDesk: Sendable {
    let desk: OperationDesk

    private var runner: TransactionRunner { desk.runner }

    /// Accepts a refund, reserves the lane and writes it down. Refused, it leaves nothing behind.
    func admit(_ demand: TransactionDemand, of original: TransactionID) async -> Admission {
        do throws(JournalError) {
            if let known = try await EarlierRequest(runner: runner).admission(of: demand) { return known }
        } catch {
            return .refused(ErrorCode(error))
        }
        do throws(ErrorBody) {
            // The customer is shown an amount, and the read is bound to it: it is laid down before the tap.
            let (payment, amount) = try await desk.original(of: demand, original)
            var request = demand.request
            request.amount = amount
            let demand = TransactionDemand(
                request: request, key: demand.key, requestHash: demand.requestHash, lanes: demand.lanes,
                bytes: demand.bytes)
            let running = try await enter(demand, payment, isTrial: false)
            let new = NewTransaction(demand, running.transaction, payment.service)
            return await runner.writeDown(new, running.transaction) { (journal) throws(JournalError) in
                switch try journal.createRefund(new, of: original, amount: new.amount.value) {
                case .created(let number, _): .under(number: number)
                case .refused(let found): .refused(ErrorBody(found, running.transaction))
                case .originalUnknown: .refused(ErrorBody(.refundOriginalUnknown))
                case .otherCurrency:
                    .refused(ErrorBody(.amountCurrencyMismatch, field: "amount", transaction: original))
                case .known(let known): Written(known)
                }
            }
        } catch {
            return .refused(error)
        }
    }

    /// What would be refused, where nothing is begun.
    func check(_ demand: TransactionDemand, of original: TransactionID) async throws(ErrorBody) {
        _ = try await enter(demand, try await desk.original(of: demand, original).0, isTrial: true)
    }

    /// Takes the lanes in the step in which they are found free.
    private func enter(
        _ demand: TransactionDemand, _ payment: JournalRecord, isTrial: Bool
    ) async throws(ErrorBody) -> Running {
        guard let services = await runner.services else { throw ErrorBody(.daemonUnavailable) }
        // The read is sealed to the key of the service in force: no other one can open it.
        guard payment.service == nil || payment.service == runner.paymentServices.current else {
            throw ErrorBody(.refundNotSupported, transaction: payment.transaction.id)
        }
        let newcomer = Newcomer(demand, runner.settings.snapshot, runner.profiles)
        let offline = services.stored.settings()
        let entered = await runner.change { books -> Result<Running, ErrorBody> in
            let facts = newcomer.facts(books, paid: nil)
            return books.lanes.table.admit(demand.request, facts).flatMap { names -> Result<Running, ErrorBody> in
                guard let lane = names.first else { return .failure(ErrorBody(.internalFault)) }
                var running = newcomer.running(
                    on: names, lane, offline, failedReads: books.failedReads.count(of: demand.request.order),
                    health: services.health)
                running.terms.original = payment
                guard !isTrial else { return .success(running) }
                guard books.pace.take(demand.key.owner, bytes: demand.bytes, at: .now) else {
                    return .failure(ErrorBody(.requestTooOften))
                }
                books.enter(running, demand.key)
                return .success(running)
            }
        }
        return try entered.get()
    }
}
