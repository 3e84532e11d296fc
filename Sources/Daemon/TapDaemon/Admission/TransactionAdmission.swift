// SPDX-License-Identifier: Apache-2.0
import Configuration
import Journal
import Logging
import POSAPI
import PaymentValues
import Transactions

/// Which requests become transactions: one recipe for every kind of them. A refused request leaves nothing behind.
struct TransactionAdmission: Sendable {
    let runner: TransactionRunner
    let desk: OperationAdmission
    let health: AdapterHealthCheck

    /// Accepts a request, takes its lanes and writes the transaction down.
    func admit(_ demand: AdmissionRequest) async -> Admission {
        do throws(ErrorBody) {
            if let known = try await earlier(demand) { return known }
            try await requireInTime(demand)
            let draft = try await draft(of: demand)
            switch try await runner.change({ draft.enter(&$0) }).get() {
            case .tried(let answer):
                try await requireWithinDay(draft)
                return .acceptable(answer)
            case .entered(let running):
                let (new, kind, transaction) = (draft.written(running), draft.kind, running.transaction)
                return await runner.writeDown(new, transaction) { (journal) throws(JournalError) in
                    try kind.record(new, transaction, in: journal)
                }
            }
        } catch {
            return .refused(error)
        }
    }

    /// Checks a dry run as `admit` does, whatever came before under its key.
    ///
    /// - Throws: what would be refused.
    func check(_ demand: AdmissionRequest) async throws(ErrorBody) {
        if let refusal = lateness(of: demand.request) { throw refusal }
        let draft = try await draft(of: demand)
        _ = try await runner.change { draft.enter(&$0) }.get()
    }

    /// The journal decides this when it writes a payment down; for what only tries, it is asked.
    private func requireWithinDay(_ draft: TransactionDraft) async throws(ErrorBody) {
        let (amount, mode) = (draft.request.amount, runner.mode)
        guard let limit = draft.dayLimit, amount.value > 0 else { return }
        let left = try await desk.inJournal { (journal) throws(JournalError) in
            try journal.leftOfDay(limit, amount.currency, mode, at: .now)
        }
        guard left >= amount.value else { throw ErrorBody(overDayLimit: Money(value: left, currency: amount.currency)) }
    }

    /// What became of a request that came before, or of its key; `nil` for a request whose key nobody has used.
    private func earlier(_ demand: AdmissionRequest) async throws(ErrorBody) -> Admission? {
        do throws(JournalError) {
            let earlier = try await runner.journal.earlier(
                owner: demand.key.owner, idempotencyKey: demand.key.key, requestHash: demand.requestHash)
            switch earlier {
            case .repeated(let id):
                guard let transaction = try await runner.transaction(id) else { return .refused(.storageFailed) }
                return .repeated(transaction)
            case .keyReused(let id): return .refused(.idempotencyKeyReused, by: id)
            case .erased: return .refused(.transactionErased)
            case .barred(let reason):
                let isAboutTime = reason == .late && demand.request.notAfter != nil
                return .refused(ErrorCode(reason), field: isAboutTime ? "notAfter" : nil)
            case .overDayLimit(let left): return .refused(ErrorBody(overDayLimit: left))
            case .created, nil: return nil
            }
        } catch {
            throw ErrorBody(ErrorCode(error))
        }
    }

    // MARK: - Requests that come too late

    /// What a request has against itself that says when it can begin at the latest.
    ///
    /// A clock that is not believed says nothing about it: live, nothing begins by it; test mode goes on, as it does otherwise
    /// (docs/internals/decisions/0019).
    static func lateness(
        _ end: Timestamp?, at now: Timestamp, _ mode: Mode, _ doubt: @autoclosure () -> ClockTrust.Doubt?
    ) -> ErrorBody? {
        guard let end else { return nil }
        if mode == .live, doubt() != nil { return ErrorBody(.clockUnbelievable, field: "notAfter") }
        return now < end ? nil : ErrorBody(.requestTooLate, field: "notAfter")
    }

    private func lateness(of request: TransactionRequest) -> ErrorBody? {
        Self.lateness(request.notAfter, at: .now, runner.mode, runner.clock.doubt)
    }

    /// Refuses what comes too late, for good: a clock that is put back later does not let its key begin.
    private func requireInTime(_ demand: AdmissionRequest) async throws(ErrorBody) {
        guard let refusal = lateness(of: demand.request) else { return }
        guard refusal.error.code == ErrorCode.requestTooLate.rawValue, demand.request.dryRun != true else {
            throw refusal
        }
        guard await runner.change({ $0.pace.take(demand.key.owner, bytes: demand.bytes, at: .now) }) else {
            throw ErrorBody(.requestTooOften)
        }
        do throws(JournalError) { _ = try await demand.key.bar(as: .late, in: runner.journal) } catch {
            throw ErrorBody(ErrorCode(error))
        }
        throw refusal
    }

    // MARK: - What the journal adds to a request

    private func draft(of demand: AdmissionRequest) async throws(ErrorBody) -> TransactionDraft {
        var demand = demand
        let kind: AdmissionKind
        if let id = demand.request.retryOf { demand.request = try await completed(demand, by: id) }
        if let wish = demand.request.charge {
            let (mode, amount) = (runner.mode, demand.request.amount)
            kind = .charge(
                wish,
                try await desk.inJournal { (journal) throws(JournalError) in
                    try journal.chargeBasis(wish, amount, mode: mode, at: .now)
                })
        } else if let original = demand.request.of {
            // The customer is shown an amount, and the read is bound to it: it is laid down before the tap.
            let (payment, amount) = try await desk.original(of: demand, original)
            demand.request.amount = amount
            kind = .refund(of: payment)
        } else if let wish = demand.request.link {
            kind = .elsewhere(wish)
        } else if let tap = demand.standing {
            kind = .tap(tap)
        } else {
            kind = .read
        }
        // One configuration for all of it, from here to the transaction's end.
        let configuration = runner.settings.snapshot
        if demand.origin != nil { try configuration.remote.admit(demand.request.amount) }
        return TransactionDraft(
            demand, kind, paid: try await payment(of: demand.request), configuration, runner.profiles, health,
            runner.displays)
    }

    /// A request that tries a sale once more: what it leaves out is that sale's.
    private func completed(
        _ demand: AdmissionRequest, by id: TransactionID
    ) async throws(ErrorBody) -> TransactionRequest {
        let (record, other) = try await desk.inJournal { (journal) throws(JournalError) in
            (try journal.record(id), try journal.retry(of: id))
        }
        guard let record, record.transaction.mode == runner.mode else { throw ErrorBody(.transactionUnknown) }
        guard demand.key.owner.till == nil || record.owner == demand.key.owner else {
            throw ErrorBody(.sessionNotOwner, transaction: id)
        }
        guard other == nil, let request = demand.request.completed(by: record.transaction) else {
            throw ErrorBody(.retryNotPossible, transaction: other ?? id)
        }
        return request
    }

    /// What the journal says has paid the order of a request.
    private func payment(of request: TransactionRequest) async throws(ErrorBody) -> TransactionID? {
        guard request.type.isPayment, request.allowRepeat != true, let order = request.order else { return nil }
        let mode = runner.mode
        do throws(JournalError) {
            return try await runner.journal.records(order: order).first {
                $0.transaction.mode == mode && $0.transaction.isPaidInFull
            }?.transaction.id
        } catch {
            throw ErrorBody(ErrorCode(error))
        }
    }
}

extension TransactionRunner {
    /// Writes down what was entered. What the journal refuses leaves nothing behind.
    fileprivate func writeDown(
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
}

extension RemoteSettings? {
    /// - Throws: what a backend may not ask for; all of it where there is no `[remote]` any more.
    fileprivate func admit(_ amount: Money) throws(ErrorBody) {
        guard let self else { throw ErrorBody(.authRoleMissing) }
        guard let (code, limit) = self.refusal(of: amount) else { return }
        var refusal = ErrorBody(code, field: code == .remoteCurrencyNotAllowed ? "amount.currency" : "amount")
        refusal.error.limit = limit
        throw refusal
    }
}
