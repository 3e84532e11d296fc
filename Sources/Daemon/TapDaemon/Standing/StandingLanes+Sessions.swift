// SPDX-License-Identifier: Apache-2.0
import Configuration
import Journal
import POSAPI
import PaymentValues
import Transactions

/// What machines wish of sessions.
extension StandingLanes {
    private nonisolated var operations: OperationAdmission { OperationAdmission(engine: engine, runner: runner) }
    /// How often a wish looks again at what another one left, and how long it waits for an answer.
    private static var looks: Int { 50 }
    private static var answerTime: Duration { .seconds(30) }

    func record(_ id: TransactionID) async throws(ErrorBody) -> SessionRecord {
        var filter = SessionFilter()
        filter.id = id
        guard let found = try await sessions(filter).first else { throw ErrorBody(.transactionUnknown) }
        return found
    }

    /// Sessions by the filter, as their transactions are now.
    func sessions(_ filter: SessionFilter) async throws(ErrorBody) -> [SessionRecord] {
        let mode = runner.mode
        let found = try await operations.inJournal { (journal) throws(JournalError) in try journal.sessions(filter) }
        return found.filter { $0.transaction.mode == mode }
    }

    func open(on lane: String) async throws(ErrorBody) -> [TransactionID] {
        var filter = SessionFilter()
        (filter.lane, filter.isOpen) = (lane, true)
        return try await sessions(filter).map(\.session.id)
    }

    /// Does what a machine wishes; the same wish again changes nothing.
    ///
    /// - Parameter caller: `nil` for the daemon itself.
    /// - Returns: the session after that.
    func carryOut(
        _ wish: SessionRequest, _ id: TransactionID, by caller: Principal? = nil
    ) async throws(ErrorBody) -> Session {
        var hasBegun = caller == nil
        defer { if hasBegun, caller != nil { returns.end(of: id) } }
        for _ in 0..<StandingLanes.looks {
            if !hasBegun {
                hasBegun = returns.begin(of: id)
                guard hasBegun else {
                    do { try await Task.sleep(for: .milliseconds(100)) } catch { break }
                    continue
                }
            }
            let record = try await record(id)
            let (now, rules) = (Moment.nowWithSleep, rules(of: record.transaction.lane))
            let held = record.transaction.account?.remaining ?? 0
            switch record.session.step(for: wish, record.stage, held: held, rules, at: now.wall) {
            case .confirm(let reference, let releaseAt):
                guard try await claim(id, reference, releaseAt, caller ?? owner, now) else { continue }
                expect(id, at: releaseAt, rules, from: now)
                return try await told(.sessionClaimed, id)
            case .send(let reference, let releaseAt):
                try await send(id, reference, releaseAt, caller ?? owner, now)
                expect(id, at: releaseAt, rules, from: now)
                await runner.books.settling(id)?.wait(atMost: StandingLanes.answerTime)
            case .forget:
                do throws(JournalError) { _ = try await ClientRequests(runner).cancel(id, by: .client) } catch {
                    throw ErrorBody(ErrorCode(error), transaction: id)
                }
            case .capture(let amount, let shortfall):
                let demand = CaptureRequest(amount: Money(value: amount, currency: record.transaction.amount.currency))
                guard try await make(.capture(demand), record.transaction) else { return try await session(id) }
                forget(id)
                return try await told(.sessionCommitted, id, shortfall)
            case .reverse:
                _ = try await ClientRequests(runner).reverse(record.transaction, .customerCancel)
                forget(id)
                return try await told(.sessionReleased, id)
            case .move(let releaseAt):
                try await operations.inJournal { (journal) throws(JournalError) in
                    try journal.keep(id, until: releaseAt, by: caller ?? owner, at: now.wall)
                }
                expect(id, at: releaseAt, rules, from: now)
                return try await session(id)
            case .adjust(let total):
                let money = Money(value: total, currency: record.transaction.amount.currency)
                _ = try await make(.adjustment(.total(money)), record.transaction)
                return try await session(id)
            case .done(let shortfall): return try await session(id, shortfall)
            case .wait: do { try await Task.sleep(for: .milliseconds(100)) } catch { break }
            case .refused(let code, let limit):
                var refusal = ErrorBody(code, transaction: id)
                refusal.error.limit = limit.map { Money(value: $0, currency: record.transaction.amount.currency) }
                throw refusal
            }
        }
        throw ErrorBody(.operationPending, transaction: id)
    }

    /// Reference and time are in the journal in the step in which nothing takes the approval back any more.
    ///
    /// - Returns: `false` where another claim came first: what is there now says whose it is.
    private func claim(
        _ id: TransactionID, _ reference: String, _ releaseAt: Timestamp, _ caller: Principal, _ now: Moment
    ) async throws(ErrorBody) -> Bool {
        let isInTime = await runner.books.live[id]?.isConfirmable
        let outcome = try await operations.inJournal { (journal) throws(JournalError) in
            try journal.claim(
                id, reference: reference, releaseAt: releaseAt, by: caller, at: now.wall, isInTime: isInTime)
        }
        switch outcome {
        case .confirmed: await runner.take(.confirmed, id)
        case .tooLate, .notApproved, .notWanted: throw ErrorBody(.sessionOver, transaction: id)
        case nil: return false
        }
        return true
    }

    /// Reference and time are in the journal before what was read leaves. A run that ends in between sends nothing.
    private func send(
        _ id: TransactionID, _ reference: String, _ releaseAt: Timestamp, _ caller: Principal, _ now: Moment
    ) async throws(ErrorBody) {
        let isClaimed = try await operations.inJournal { (journal) throws(JournalError) in
            try journal.claimRead(id, reference: reference, releaseAt: releaseAt, by: caller, at: now.wall)
        }
        // Another claim or the end came first: what is there now says which.
        if isClaimed { _ = await runner.wish(id) { .claimed(as: reference, $0) } }
    }

    /// Asks for an operation under a key that a repetition of the wish finds again, and another wish after its refusal does not.
    ///
    /// - Returns: whether it is done; `false` where nobody knows yet.
    private func make(_ wish: OperationAdmission.Request, _ transaction: Transaction) async throws(ErrorBody) -> Bool {
        let before = try await operations.operations(of: transaction.id).count { !$0.state.isOpen }
        let key = PrincipalKey(owner, key: "session-\(transaction.id)-\(before)")
        let id: OperationID
        do throws(ErrorBody) {
            (id, _) = try await operations.make(wish, of: transaction, key)
        } catch {
            // Another wish is under way, and nobody knows its outcome yet.
            guard error.error.code == ErrorCode.idempotencyKeyReused.rawValue else { throw error }
            throw ErrorBody(.operationPending, transaction: transaction.id)
        }
        await engine.settling(id)?.wait(atMost: StandingLanes.answerTime)
        let (operation, _) = try await operations.operation(id)
        if operation.state == .done { return true }
        if operation.state.isOpen { return false }
        throw operation.error.map { ErrorBody(error: $0) } ?? ErrorBody(.pspRefused, transaction: transaction.id)
    }

    private func told(
        _ name: EventName, _ id: TransactionID, _ shortfall: Int64 = 0
    ) async throws(ErrorBody) -> Session {
        let record = try await record(id)
        runner.publish(event(name, record))
        return told(record, shortfall)
    }

    nonisolated func event(_ name: EventName, _ record: SessionRecord) -> Event {
        let session = told(record)
        var event = Event(name, about: record.transaction)
        (event.tap, event.reference) = (session.tap, session.reference)
        event.amount = session.captured ?? session.amount
        return event
    }

    func session(_ id: TransactionID, _ shortfall: Int64 = 0) async throws(ErrorBody) -> Session {
        told(try await record(id), shortfall)
    }

    /// The session as its machine sees it.
    nonisolated func told(_ record: SessionRecord, _ shortfall: Int64 = 0) -> Session {
        var session = Session(record, shortfall)
        // What was read and kept has no confirmation: it counts from the read on.
        if session.state == .offered, session.mode == .ask, let claim = settings(of: session.lane)?.claim {
            session.claimBy = record.transaction.updatedAt.advanced(bySeconds: Int64(claim))
        }
        return session
    }

    // MARK: - Lanes

    func standing(_ lane: String) async throws(ErrorBody) -> StandingLane {
        guard let settings = settings(of: lane) else { throw ErrorBody(.standingNotConfigured) }
        guard let note = await note(of: lane) else { throw ErrorBody(.storageFailed) }
        var standing = StandingLane(
            lane: lane, mode: settings.mode, armed: note.isArmed, tap: note.tap, open: try await open(on: lane))
        if settings.mode != .read {
            let currency = settings.amount.currency
            standing.amount = Money(
                value: min(note.value ?? settings.amount.value, settings.maximum), currency: currency)
            standing.maximum = Money(value: settings.maximum, currency: currency)
        }
        return standing
    }
}

extension Session {
    init(_ record: SessionRecord, _ shortfall: Int64 = 0) {
        let (session, transaction) = (record.session, record.transaction)
        let currency = transaction.amount.currency
        let stage = record.stage
        let amount = transaction.account.map { Money(value: $0.authorised, currency: currency) }
        self.init(
            id: session.id, lane: transaction.lane, tap: session.tap, mode: session.mode, state: stage.state,
            amount: amount ?? transaction.amount)
        if case .committed(let taken) = stage { captured = Money(value: taken, currency: currency) }
        if shortfall > 0 { self.shortfall = Money(value: shortfall, currency: currency) }
        reference = session.reference
        if stage == .offered { claimBy = transaction.confirmation?.due }
        if stage == .open { releaseAt = session.releaseAt }
        card = transaction.card
    }
}

extension SessionStage {
    fileprivate var state: Session.State {
        switch self {
        case .tapping, .claiming: .tapping
        case .offered: .offered
        case .open: .open
        case .settling: .settling
        case .committed: .committed
        case .released: .released
        }
    }
}
