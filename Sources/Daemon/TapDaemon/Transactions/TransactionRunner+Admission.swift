// SPDX-License-Identifier: Apache-2.0
import Configuration
import Journal
import Logging
import POSAPI
import PaymentValues
import Transactions

/// Which requests become transactions.
extension TransactionRunner {
    /// Accepts a request, reserves the lane and writes the transaction down. Refused, it leaves nothing behind.
    func admit(_ demand: TransactionDemand) async -> Admission {
        var demand = demand
        var paid: TransactionID?
        do throws(JournalError) {
            if let known = try await EarlierRequest(runner: self).admission(of: demand) { return known }
            // What a request that tries a sale once more leaves out is that sale's.
            if let id = demand.request.retryOf {
                let (record, other) = try await journal.use { (journal) throws(JournalError) in
                    (try journal.record(id), try journal.retry(of: id))
                }
                guard let record, record.transaction.mode == settings.snapshot.mode else {
                    return .refused(.transactionUnknown)
                }
                guard demand.key.owner.till == nil || record.owner == demand.key.owner else {
                    return .refused(.sessionNotOwner, by: id)
                }
                guard other == nil, let request = demand.request.completed(by: record.transaction) else {
                    return .refused(.retryNotPossible, by: other ?? id)
                }
                demand = TransactionDemand(
                    request: request, key: demand.key, requestHash: demand.requestHash, lanes: demand.lanes,
                    bytes: demand.bytes)
            }
            paid = try await payment(of: demand.request)
        } catch {
            return .refused(ErrorCode(error))
        }
        if let wish = demand.request.link { return await LinkDesk(runner: self).admit(demand, wish, paid: paid) }
        guard let services else { return .refused(.daemonUnavailable) }
        // One configuration for all of it, from here to the transaction's end.
        let newcomer = Newcomer(demand, settings.snapshot, profiles)
        if let refusal = newcomer.refusal(by: services.health.supports) { return .refused(refusal) }
        switch books.lanes.table.admit(demand.request, newcomer.facts(books, paid: paid)) {
        case .failure(let refusal): return .refused(refusal)
        case .success(let names):
            guard let lane = names.first else { return .refused(.internalFault) }
            if demand.request.dryRun == true { return .acceptable(newcomer.dryRun(lane)) }
            guard books.pace.take(demand.key.owner, bytes: demand.bytes, at: .now) else {
                return .refused(.requestTooOften)
            }
            let running = newcomer.running(
                on: names, lane, services.stored.settings(),
                failedReads: books.failedReads.count(of: demand.request.order), health: services.health)
            books.enter(running, demand.key)
            var new = NewTransaction(demand, running.transaction, running.terms.addressee.service)
            new.agreement = running.machine.demand.storing
            return await writeDown(new, running.transaction) { [new] (journal) throws(JournalError) in
                Written(try journal.create(new))
            }
        }
    }

    /// What the journal says has paid the order of a request.
    func payment(of request: TransactionRequest) async throws(JournalError) -> TransactionID? {
        guard request.type.isPayment, request.allowRepeat != true, let order = request.order else {
            return nil
        }
        let mode = settings.snapshot.mode
        return try await journal.records(order: order).first {
            $0.transaction.mode == mode && $0.transaction.isPaidInFull
        }?.transaction.id
    }

    /// Writes down what was entered. What the journal refuses leaves nothing behind.
    func writeDown(
        _ new: NewTransaction, _ transaction: Transaction,
        _ create: @escaping @Sendable (Journal) throws(JournalError) -> Written
    ) async -> Admission {
        let refusal: ErrorBody
        do throws(JournalError) {
            switch try await journal.begin(create) {
            case .under(let number):
                books.live[new.id]?.sequence = UInt32(truncatingIfNeeded: number % 100_000_000)
                books.live[new.id]?.machine.number = number
                return .created(books.live[new.id]?.transaction ?? transaction)
            // Impossible while the key is claimed; another process wrote it.
            case .known(let id):
                refusal = ErrorBody(id == nil ? .transactionErased : .idempotencyInProgress, transaction: id)
            case .refused(let found): refusal = found
            }
        } catch {
            logger.error("transaction not written", metadata: ["error": "\(error)"])
            refusal = ErrorBody(ErrorCode(error))
        }
        books.drop(new.id)
        return .refused(refusal)
    }

    /// Runs a transaction that was admitted, and returns when a stop does not have to wait for it any more.
    func run(_ id: TransactionID) async {
        guard let isDone = books.live[id]?.isDone else { return }
        take(.begin, id)
        await isDone.wait()
    }
}

/// What the journal made of a transaction that was entered.
enum Written: Sendable {
    case under(number: Int64)
    /// Its key is spent, for this one; `nil` where that was erased.
    case known(TransactionID?)
    case refused(ErrorBody)

    init(_ creation: Creation) {
        switch creation {
        case .created(let number): self = .under(number: number)
        case .repeated(let id), .keyReused(let id): self = .known(id)
        case .erased: self = .known(nil)
        }
    }
}

/// What became of a request that came before, or of its key.
struct EarlierRequest: Sendable {
    let runner: TransactionRunner

    /// - Returns: `nil` for a request whose key nobody has used.
    func admission(of demand: TransactionDemand) async throws(JournalError) -> Admission? {
        let earlier = try await runner.journal.earlier(
            owner: demand.key.owner, idempotencyKey: demand.key.key, requestHash: demand.requestHash)
        switch earlier {
        case .repeated(let id):
            guard let transaction = try await runner.transaction(id) else { return .refused(.storageFailed) }
            return .repeated(transaction)
        case .keyReused(let id): return .refused(.idempotencyKeyReused, by: id)
        case .erased: return .refused(.transactionErased)
        case .created, nil: return nil
        }
    }
}
