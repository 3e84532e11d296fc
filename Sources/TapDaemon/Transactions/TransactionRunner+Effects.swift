// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Configuration
import Journal
import Linux
import LocalHTTP
import Logging
import Loyalty
import ReaderCore
import StoreAndForward
import TapSession
import Transactions
import Wire

/// What the machines want done.
extension TransactionRunner {
    func carryOut(_ effect: Effect, _ id: TransactionID) {
        guard let services, let running = live[id] else { return }
        switch effect {
        case .write(let write):
            run(services) { await self.perform(write, id, running, services) }
        case .local(let local): carryOut(local, id, running, services)
        case .outward(let outward, _): carryOut(outward, id, running, services)
        }
    }

    // MARK: - The journal

    private func perform(_ write: Write, _ id: TransactionID, _ running: Running, _ services: Services) async {
        do throws(JournalError) {
            if let failure = try await self.write(write, id, running, services) {
                take(.notWritten(write.number, failure), id)
            } else {
                take(.written(write.number), id)
            }
        } catch {
            logger.critical("journal not written", metadata: ["transaction": "\(id)", "error": "\(error)"])
            take(.notWritten(write.number, WriteFailure(error)), id)
        }
    }

    /// - Returns: why it was not written, where that is no fault of the journal.
    func write(
        _ write: Write, _ id: TransactionID, _ running: Running, _ services: Services
    ) async throws(JournalError) -> WriteFailure? {
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

    // MARK: - What stays in the process

    private func carryOut(_ local: Local, _ id: TransactionID, _ running: Running, _ services: Services) {
        switch local {
        case .prepare: run(services) { await self.prepare(id, running, services) }
        case .disarm:
            running.isUnwanted.fire()
            running.tap?.disarm()
        case .connectEarly: running.terms.early.open()
        case .connect: run(services) { await self.connect(id, running) }
        case .draft(let request):
            let adapter = running.terms.adapter
            live[id]?.draft = Task { adapter.message(request) }
        case .failedReads(let count): failedReads.set(count, of: running.transaction.order)
        case .log(let contradiction):
            logger.error(
                "input that the state does not know",
                metadata: [
                    "transaction": "\(id)", "state": "\(contradiction.state.rawValue)",
                    "input": "\(contradiction.what)",
                ])
        }
    }

    private func prepare(_ id: TransactionID, _ running: Running, _ services: Services) async {
        let seats = lanes.taken(by: id, of: running.machine.demand.lanes)
        let readiness = await services.preparer.awaitPreparation(seats.map(\.lane), for: id, running.isUnwanted)
        switch readiness {
        case .ready(let ready):
            for seat in seats where !ready.contains(seat.lane.name) { lanes.release(by: id, only: seat.lane.name) }
            take(.prepared(ready), id)
        case .failed(let code): take(.notPrepared(code), id)
        }
    }

    private func connect(_ id: TransactionID, _ running: Running) async {
        do throws(AdapterUnreachable) {
            // Waited for before the table is touched: an assignment through `?` would hold it open all the while, and
            // whoever came in between would write over it.
            let connection = try await running.terms.early.take()
            live[id]?.connection = connection
            take(.connected, id)
        } catch {
            take(.notConnected, id)
        }
    }

    // MARK: - What others see

    private func carryOut(_ outward: Outward, _ id: TransactionID, _ running: Running, _ services: Services) {
        switch outward {
        case .publish(let event): publish(event)
        case .arm(let names): arm(id, names, running, services)
        case .send(let request, let question, let isAgain, let time):
            send(request, question, isAgain: isAgain, within: time, id, running, services)
        case .query(let question, let time):
            run(services) {
                let reply = await running.terms.adapter.query(id, within: time)
                await self.take(.replied(reply, question: question), id)
            }
        case .reverse(let request, let question):
            run(services) {
                let acknowledgement = await running.terms.adapter.reverse(id, request)
                await self.take(.acknowledged(acknowledgement, question: question), id)
            }
        case .settleReader: running.tap?.handover.signal()
        case .show(let lamp):
            let lane = running.tap?.lanes.first { $0.name == running.transaction.lane }
            if let lane { run(services) { await lane.show(ReaderFeedback(lamp)) } }
        case .answer(let wish, let answer): self.answer(wish, answer)
        case .scrub: journal.scrubSoon()
        }
    }

    private func arm(_ id: TransactionID, _ names: [String], _ running: Running, _ services: Services) {
        let armed = lanes.taken(by: id, of: names).map(\.lane)
        guard !armed.isEmpty, let handover = WakeSignal.forHandover() else {
            return take(.ended(.internalFault, withoutApplication: false), id)
        }
        let tap = ArmedTap(lanes: armed, race: LaneRace(armed.map(\.name)), handover: handover)
        live[id]?.tap = tap
        let run = TapRun(id: id, tap: tap, running: running, runner: self)
        self.run(services) { await run.run() }
    }

    private func send(
        _ request: AuthorizationRequest, _ question: Int, isAgain: Bool, within time: Duration, _ id: TransactionID,
        _ running: Running, _ services: Services
    ) {
        let adapter = running.terms.adapter
        guard !isAgain, let connection = running.connection else {
            return run(services) {
                let reply = await adapter.authorizeAgain(request, within: time)
                await self.take(.replied(reply, question: question), id)
            }
        }
        live[id]?.connection = nil
        live[id]?.draft = nil
        run(services) {
            let draft = await running.draft?.value
            let reply: Reply
            if let message = draft ?? adapter.message(request) {
                let pending = adapter.begin(message, over: connection, within: time)
                await self.sent(id)
                reply = await adapter.reply(to: pending)
            } else {
                reply = .refused
            }
            await self.take(.replied(reply, question: question), id)
        }
    }

    private func sent(_ id: TransactionID) {
        let now = monotonicNow()
        live[id]?.sentAt = now
        if let sealedAt = live[id]?.sealedAt { measures.took(.sent, seconds: now.seconds(since: sealedAt)) }
    }

    /// What the loyalty part of a tap found. No event carries a pass.
    func keep(_ outcome: LoyaltyOutcome, of id: TransactionID) -> LoyaltyResult? {
        guard let running = live[id], let request = running.terms.loyalty else { return nil }
        let kept = KeptPasses(outcome: outcome, request: request, language: running.machine.demand.language)
        passes.keep(kept, of: id)
        return kept.statuses
    }

    func noteSealed(_ id: TransactionID, at time: TapInstant) { live[id]?.sealedAt = time }
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

extension ReaderFeedback {
    init(_ lamp: Lamp) {
        switch lamp {
        case .read: self = .read
        case .approved: self = .approved
        case .declined: self = .declined
        case .error: self = .error
        }
    }
}

extension WakeSignal {
    /// - Returns: `nil` where the process has no descriptor left.
    fileprivate static func forHandover() -> WakeSignal? {
        do { return try WakeSignal() } catch { return nil }
    }
}
