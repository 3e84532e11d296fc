// SPDX-License-Identifier: Apache-2.0
import Configuration
import Journal
import Linux
import LocalHTTP
import Logging
import PINDeviceAPI
import POSAPI
import PSPAPI
import PaymentValues
import ReaderCore
import StoreAndForward
import Transactions

/// Carries out what one transaction's machine wants, and says as an input what came of it.
struct EffectRun: Sendable {
    let running: LiveTransaction
    let runner: TransactionRunner

    private var services: TransactionRunner.Services { runner.services }
    private var id: TransactionID { running.transaction.id }
    /// The way to the service that it belongs to, as the configuration has it now or had it when it began; and whether a
    /// restart would find it.
    private var way: (link: AdapterLink?, isConfigured: Bool) {
        let terms = running.terms
        guard let link = runner.paymentServices.link(to: terms.route.service) else { return (terms.adapter, false) }
        return (link, true)
    }

    // MARK: - The journal

    func write(_ write: Write) async -> Input {
        do throws(JournalError) {
            let failure = try await record(write)
            if running.isUnwritten { await note(isUnwritten: false) }
            return failure.map { .notWritten(write.number, $0) } ?? .written(write.number)
        } catch {
            // Once: it is tried every second, and the log may be on the disk that is full.
            if !running.isUnwritten {
                runner.logger.critical(
                    "journal not written", metadata: ["transaction": "\(id)", "error": "\(error)"])
                await note(isUnwritten: true)
            }
            return .notWritten(write.number, WriteFailure(error))
        }
    }

    private func note(isUnwritten: Bool) async {
        let id = id
        if !isUnwritten { runner.logger.notice("journal written", metadata: ["transaction": "\(id)"]) }
        await runner.change { $0.live[id]?.isUnwritten = isUnwritten }
    }

    /// - Returns: why it was not written, where that is no fault of the journal.
    func record(_ write: Write) async throws(JournalError) -> WriteFailure? {
        let (journal, logger) = (runner.journal, runner.logger)
        switch write.form {
        case .append: try await journal.append(write.changes, to: id, durable: write.isDurable)
        case .plan(let plan):
            logger.warning(
                "reversal not acknowledged", metadata: ["transaction": "\(id)", "attempts": "\(plan.attempts)"])
            try await journal.plan(plan, for: id, durable: write.isDurable)
        case .store(let request, let sale):
            guard let stored = write.changes.last else { return .illegal }
            let refusal = try await services.queue.keep(
                request, sale, after: Array(write.changes.dropLast()), stored, by: running.terms.offline)
            if let refusal { return .notStorable(refusal) }
        case .forward:
            guard var change = write.changes.first else { return .illegal }
            change.service = running.terms.route.service
            if try await !journal.beginForward(id, change) { return .superseded }
        case .charge:
            guard let change = write.changes.first else { return .illegal }
            let id = id
            let refusal = try await journal.use { (journal) throws(JournalError) in
                try journal.beginCharge(id, change)
            }
            if let refusal { return .notAllowed(refusal) }
        case .reversal(let unconfirmedOnly):
            guard let change = write.changes.first else { return .illegal }
            guard try await begin(change, unconfirmedOnly: unconfirmedOnly) else { return .superseded }
            if unconfirmedOnly { logger.warning("approval not confirmed", metadata: ["transaction": "\(id)"]) }
        case .pin(let attempt, let time):
            let id = id
            let isNoted = try await journal.use { (journal) throws(JournalError) in
                try journal.note(attempt, whileSent: id, at: time)
            }
            if !isNoted { return .superseded }
        case .open(let reason, let plan):
            logger.warning("open item", metadata: ["transaction": "\(id)", "reason": "\(reason.rawValue)"])
            let (id, changes) = (id, write.changes)
            try await journal.use { (journal) throws(JournalError) in
                try journal.keepOpen(reason, changes, plan, for: id)
            }
        case .settle(let settlement):
            guard let change = write.changes.first else { return .illegal }
            let id = id
            let refusal = try await journal.use { (journal) throws(JournalError) in
                try journal.settle(id, change, settlement)
            }
            if let refusal { return .notSettled(refusal) }
            logger.notice(
                "open item settled",
                metadata: ["transaction": "\(id)", "as": "\(settlement.outcome.rawValue)", "uid": "\(settlement.uid)"])
        case .contradict(let time):
            logger.critical("open item settled otherwise than its service answers", metadata: ["transaction": "\(id)"])
            let id = id
            try await journal.use { (journal) throws(JournalError) in try journal.contradict(id, at: time) }
        }
        return nil
    }

    /// - Returns: `false` where that is not possible (any more), as the journal has it in this moment.
    private func begin(_ change: StateChange, unconfirmedOnly: Bool) async throws(JournalError) -> Bool {
        guard !unconfirmedOnly else {
            return try await runner.journal.beginReversal(id, change, unconfirmedOnly: true) != nil
        }
        let id = id
        let beginning = try await runner.journal.use { (journal) throws(JournalError) in
            try journal.beginWishedReversal(id, change)
        }
        if case .begun = beginning { return true }
        return false
    }

    // MARK: - Lanes and adapter

    func prepare() async -> Input {
        let id = id
        let lanes = await runner.books.lanes.table.taken(by: id, of: running.machine.demand.lanes).map(\.lane)
        switch await LanePreparer(runner: runner).awaitPreparation(lanes, for: id, running.isUnwanted) {
        case .ready(let ready):
            await runner.change { books in
                for lane in lanes where !ready.contains(lane.name) {
                    books.lanes.table.release(by: id, only: lane.name)
                }
            }
            // Before the card is asked for: what it is told of the terminal has to be true.
            if let places = running.terms.pinPlaces {
                let usable = await places.ready(of: ready, at: .now, runner.logger)
                await runner.change { $0.live[id]?.pinPlaces = usable }
            }
            return .prepared(ready)
        case .failed(let code): return .notPrepared(code)
        }
    }

    func connect() async -> Input {
        do throws(AdapterUnreachable) {
            guard let early = running.terms.early else { return .notConnected }
            let (id, connection) = (id, try await early.take())
            await runner.change { $0.live[id]?.connection = connection }
            return .connected
        } catch {
            // Whoever asks how the adapter is must not hear what was true half a minute ago.
            services.health.hasten()
            return .notConnected
        }
    }

    /// - Parameter isAgain: over a new connection, under the same key.
    func send(_ request: AuthorizationRequest, isAgain: Bool, within time: Duration) async -> Reply {
        guard let adapter = running.terms.adapter else { return .unusable }
        guard !isAgain, let connection = running.connection else {
            return noted(await adapter.authorizeAgain(request, within: time))
        }
        let draft = await running.draft?.value
        guard let message = draft ?? adapter.message(request) else { return .refused }
        let pending = adapter.begin(message, over: connection, within: time)
        let (id, now) = (id, monotonicNow())
        if let seconds = await runner.change({ $0.sent(id, at: now) }) { runner.measures.took(.sent, seconds: seconds) }
        return noted(await adapter.reply(to: pending))
    }

    /// The same for a stored card.
    func charge(_ request: ChargeRequest, isAgain: Bool, within time: Duration) async -> Reply {
        guard let adapter = running.terms.adapter else { return .unusable }
        guard !isAgain, let connection = running.connection else {
            return noted(await adapter.chargeAgain(request, within: time))
        }
        return noted(await adapter.charge(request, over: connection, within: time))
    }

    /// The operation has the read before the reader says that the card was read.
    func passRefundRead(_ request: AuthorizationRequest) async {
        guard let original = running.terms.original else { return handedToNobody() }
        let record = JournalRecord(
            transaction: running.transaction, owner: running.machine.demand.owner, requestHash: "",
            authorization: request, service: original.service)
        // A little less: it is not sent in the last moment.
        let life = (running.machine.demand.times.readLife * 5 / 6).components.seconds * 1_000
        let until = Moment.now.monotonic &+ life
        guard let ongoing = OngoingOperation(refund: record, of: original, readUntil: until) else {
            return handedToNobody()
        }
        await services.engine.begin(ongoing)
    }

    /// Nothing has left. The refund stays sealed in the journal, until the next start ends it.
    private func handedToNobody() {
        runner.logger.error(
            "refund not sent: its payment is not known here; restart nfc-tapd to end it",
            metadata: ["transaction": "\(id)"])
    }

    /// The same read with the PIN that its issuer has asked for.
    func proceed(_ request: ContinuationRequest, isAgain: Bool, within time: Duration) async -> Reply {
        guard let adapter = running.terms.adapter else { return .unusable }
        return noted(await adapter.proceed(id, request, isAgain: isAgain, within: time))
    }

    func query(_ continuation: PINAttemptID?, within time: Duration) async -> Reply {
        noted(await way.link?.query(id, continuation, within: time) ?? .unusable)
    }

    /// The same for a link or a hand-over.
    func link(_ asked: LinkQuestion, within time: Duration) async -> LinkReply {
        switch asked {
        case .open(let request):
            await running.terms.adapter?.open(request, over: running.connection, within: time) ?? .unusable
        case .look: await way.link?.link(id, running.transaction.type, closing: false, within: time) ?? .unusable
        case .close: await way.link?.link(id, running.transaction.type, closing: true, within: time) ?? .unusable
        }
    }

    /// What was approved has reached the payment service that the transaction began with. What came to nothing may have
    /// reached nobody.
    private func noted(_ reply: Reply) -> Reply {
        if reply == .unusable { services.health.hasten() }
        guard case .answered(let answer) = reply, [.approved, .partial].contains(answer.outcome) else { return reply }
        let (stored, serviceName) = (services.queue, running.terms.offline.serviceName)
        services.work.add { await stored.noteContact(with: serviceName) }
        return reply
    }

    func reverse(_ request: PSPAPI.ReversalRequest) async -> Acknowledgement {
        let (link, isConfigured) = way
        guard let link else { return .notAsked }
        let acknowledgement = await link.reverse(id, request)
        if acknowledgement == .none { services.health.hasten() }
        return acknowledgement == .none && !isConfigured ? .notAsked : acknowledgement
    }
}

extension WriteFailure {
    init(_ error: JournalError) {
        switch error {
        case .full: self = .full
        case .illegalChange, .illegalMove: self = .illegal
        case .cannotOpen, .inUse, .newerSchema, .damaged, .damagedPayment, .unknownTransaction, .unknownOperation,
            .failed:
            self = .failed
        }
    }
}
