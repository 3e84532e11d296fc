// SPDX-License-Identifier: Apache-2.0
import Configuration
import Journal
import Linux
import LocalHTTP
import Logging
import ReaderCore
import StoreAndForward
import Transactions
import Wire

/// Carries out what one transaction's machine wants, and says as an input what came of it.
struct EffectRun: Sendable {
    let running: Running
    let services: TransactionRunner.Services
    let runner: TransactionRunner

    private var id: TransactionID { running.transaction.id }
    private var adapter: AdapterLink { running.terms.adapter }

    // MARK: - The journal

    func write(_ write: Write) async -> Input {
        do throws(JournalError) {
            return try await record(write).map { .notWritten(write.number, $0) } ?? .written(write.number)
        } catch {
            runner.logger.critical(
                "journal not written", metadata: ["transaction": "\(id)", "error": "\(error)"])
            return .notWritten(write.number, WriteFailure(error))
        }
    }

    /// - Returns: why it was not written, where that is no fault of the journal.
    func record(_ write: Write) async throws(JournalError) -> WriteFailure? {
        let (journal, logger) = (runner.journal, runner.logger)
        switch write.form {
        case .append: try await journal.append(write.changes, to: id)
        case .plan(let plan):
            logger.warning(
                "reversal not acknowledged", metadata: ["transaction": "\(id)", "attempts": "\(plan.attempts)"])
            try await journal.plan(plan, for: id)
        case .store(let request, let sale):
            guard let stored = write.changes.last else { return .illegal }
            let refusal = try await services.stored.keep(
                request, sale, after: Array(write.changes.dropLast()), stored, by: running.terms.offline)
            if let refusal { return .notStorable(refusal) }
        case .forward:
            guard let change = write.changes.first else { return .illegal }
            if try await !journal.beginForward(id, change) { return .superseded }
        case .reversal(let unconfirmedOnly):
            guard let change = write.changes.first else { return .illegal }
            guard try await journal.beginReversal(id, change, unconfirmedOnly: unconfirmedOnly) != nil else {
                return .superseded
            }
            if unconfirmedOnly { logger.warning("approval not confirmed", metadata: ["transaction": "\(id)"]) }
        }
        return nil
    }

    // MARK: - Lanes and adapter

    func prepare() async -> Input {
        let id = id
        let lanes = await runner.books.lanes.table.taken(by: id, of: running.machine.demand.lanes).map(\.lane)
        switch await services.preparer.awaitPreparation(lanes, for: id, running.isUnwanted) {
        case .ready(let ready):
            await runner.change { books in
                for lane in lanes where !ready.contains(lane.name) {
                    books.lanes.table.release(by: id, only: lane.name)
                }
            }
            return .prepared(ready)
        case .failed(let code): return .notPrepared(code)
        }
    }

    func connect() async -> Input {
        do throws(AdapterUnreachable) {
            let (id, connection) = (id, try await running.terms.early.take())
            await runner.change { $0.live[id]?.connection = connection }
            return .connected
        } catch {
            return .notConnected
        }
    }

    /// - Parameter isAgain: over a new connection, under the same key.
    func send(_ request: AuthorizationRequest, isAgain: Bool, within time: Duration) async -> Reply {
        guard !isAgain, let connection = running.connection else {
            return await adapter.authorizeAgain(request, within: time)
        }
        let draft = await running.draft?.value
        guard let message = draft ?? adapter.message(request) else { return .refused }
        let pending = adapter.begin(message, over: connection, within: time)
        let (id, now) = (id, monotonicNow())
        if let seconds = await runner.change({ $0.sent(id, at: now) }) { runner.measures.took(.sent, seconds: seconds) }
        return await adapter.reply(to: pending)
    }

    func query(within time: Duration) async -> Reply { await adapter.query(id, within: time) }

    func reverse(_ request: ReversalRequest) async -> Acknowledgement { await adapter.reverse(id, request) }
}

extension WriteFailure {
    init(_ error: JournalError) {
        switch error {
        case .full: self = .full
        case .illegalChange: self = .illegal
        case .cannotOpen, .inUse, .newerSchema, .damaged, .unknownTransaction, .failed: self = .failed
        }
    }
}
