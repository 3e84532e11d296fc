import CardBytes
import Configuration
import EMV
import Journal
import LocalHTTP
import Logging
import ReaderCore
import StoreAndForward
import TapSession
import Wire

/// One transaction from its first state to its last: arms its lanes, reads the card, asks the adapter.
struct PaymentRun: Sendable {
    let id: TransactionID
    let store: TransactionStore
    /// On which it takes place; the first of several until a card decides.
    var lane: Lane
    let adapter: AdapterLink
    /// On which the authorisation goes out.
    let connection: EarlyConnection
    let reversals: Reversals
    let preparer: LanePreparer
    let closing: TwoStepClose
    let stored: PaymentQueue
    let logger: Logger

    func run() async {
        guard let live = await store.live[id] else { return }
        do throws(JournalError) {
            let lanes: [Lane]
            switch try await preparer.awaitPreparation(live) {
            case .ready(let ready): lanes = ready
            case .failed(let code): return try await end(code)
            }
            try await store.arm(id, lanes)
            if let handover = WakeSignal.forHandover() {
                try await tap(live, lanes, handover)
            } else {
                try await end(.internalFault)
            }
        } catch {
            logger.error("transaction stopped", metadata: ["transaction": "\(id)", "error": "\(error)"])
            await store.abandon(id, ErrorCode(error))
        }
    }

    private func tap(
        _ live: LiveTransaction, _ lanes: [Lane], _ handover: WakeSignal
    ) async throws(JournalError) {
        let order = TapOrder(
            id: id, type: live.transaction.type, amount: live.transaction.amount, terminal: live.terminal,
            sequence: live.sequence, deadline: live.deadline, loyalty: live.loyalty,
            preferredApplications: live.preferredApplications, delivered: handover)
        let armed = ArmedLanes(id, lanes, store)
        await store.enter(armed.race, id)
        async let threads: Void = armed.occupy(deadline: live.deadline) { await $0.tap(order, $1) }
        var narration = TapNarration(
            id: id, amount: live.transaction.amount, lane: lanes.first?.name ?? lane.name,
            retries: live.terminal.maxTapRetries, store: store)
        narration.language = live.language
        narration.cardAnswers = connection.open
        var failure: JournalError?
        do throws(JournalError) {
            let end = try await narration.untilEnd(armed.race.progress)
            var run = self
            run.lane = lanes.first { $0.name == narration.lane } ?? lane
            try await run.conclude(end, live, armed.race, handover, narration)
        } catch {
            failure = error
        }
        // Whatever still waits for a card does so in vain.
        armed.race.cancel()
        handover.signal()
        for await _ in armed.race.progress {}
        await threads
        if let failure { throw failure }
    }

    private func conclude(
        _ ending: TapNarration.End, _ live: LiveTransaction, _ race: LaneRace, _ handover: WakeSignal,
        _ narration: TapNarration
    ) async throws(JournalError) {
        switch ending {
        case .result(let result):
            // The other lanes are free before anything is charged.
            await race.othersAreFree.wait(atMost: .seconds(1))
            try await conclude(result, live) {
                handover.signal()
                await narration.rest(race.progress)
            }
        case .passes:
            try await endWithPass()
        case .failed(.readTimedOut) where await store.hasPass(id):
            try await endWithPass()
        case .failed(let code):
            try await end(code)
        }
    }

    /// What the card said, and what follows from it. `settle` lets the reader go on: lamp, tone, "remove card".
    private func conclude(
        _ result: PaymentTapResult, _ live: LiveTransaction, settle: () async -> Void
    ) async throws(JournalError) {
        for (phase, seconds) in result.phases.seconds { store.measures.took(phase, seconds: seconds) }
        switch result.status {
        case .onlineRequest, .approved:
            guard let request = AuthorizationRequest(result, live, live.terminal) else {
                return try await end(.readCardUnreadable)
            }
            let sale = OfflineSale(request, result, live)
            try await authorize(request, sale, ChipData(result), sealed: result.phases.sealed, settle: settle)
        case .declined:
            var change = StateChange(.declined)
            change.result = PaymentResult(mode: live.transaction.mode, outcome: .declined, reason: .cardDeclined)
            change.result?.next = [.otherCard, .otherMethod, .paymentLink]
            change.card = result.read.flatMap { MaskedCard($0.account) }
            change.chip = ChipData(result)
            try await store.change(id, [change])
            await settle()
            publish(.readCompleted)
            publish(.paymentDeclined, change)
        case .tryAnotherInterface:
            try await end(.readOtherInterface)
        case .endApplication where result.kernel == nil && live.loyalty != nil:
            // A phone with only a pass.
            if await store.hasPass(id) { try await endWithPass() } else { try await end(ErrorCode(result.error)) }
        case .endApplication, .selectNext, .tryAgain:
            try await end(ErrorCode(result.error))
        }
    }

    private func authorize(
        _ request: AuthorizationRequest, _ sale: OfflineSale, _ chip: ChipData, sealed sealedAt: TapInstant,
        settle: () async -> Void
    ) async throws(JournalError) {
        await store.forgetFailedReads(id)
        var sealed = StateChange(.sealed)
        sealed.authorization = request
        sealed.card = request.card
        sealed.chip = chip
        let connection: HTTPClientConnection
        do throws(AdapterUnreachable) {
            connection = try await self.connection.take()
        } catch {
            return try await keep(request, sale, sealed, settle)
        }
        guard StoredSale.mayBeSent(readAt: sealed.at, now: .now, life: adapter.times.readLife) else {
            return try await end(.readExpired, after: [sealed])
        }
        // Written out while the journal is busy with the same.
        async let message = adapter.message(request)
        try await store.change(id, [sealed, StateChange(.sent)])
        let pending = await message.map { adapter.begin($0, over: connection, within: adapter.times.answer) }
        let deadline = ContinuousClock.now.advanced(by: adapter.times.answer)
        let sentAt = monotonicNow()
        store.measures.took(.sent, seconds: sentAt.seconds(since: sealedAt))
        let answered = Occasion()
        async let reply = AdapterLink.signalling(answered) { [adapter] () async -> AdapterLink.Reply in
            if let pending { await adapter.reply(to: pending) } else { .refused }
        }
        // The adapter has the result before anybody sees or hears that the card was read.
        await answered.wait(atMost: adapter.times.handover)
        await settle()
        publish(.readCompleted, card: request.card)
        publish(.paymentAuthorizing, card: request.card)
        let verdict = await adapter.resolve(request, after: await reply, until: deadline, readAt: sealed.at) {
            await doubt()
        }
        store.measures.took(.answered, seconds: monotonicNow().seconds(since: sentAt))
        await apply(verdict, mode: request.mode)
    }

    /// Nothing has left: the payment is stored where the rules allow it, else the sealed read is forgotten in the same
    /// write that ends the transaction.
    private func keep(
        _ request: AuthorizationRequest, _ sale: OfflineSale, _ sealed: StateChange, _ settle: () async -> Void
    ) async throws(JournalError) {
        var change = StateChange(.stored)
        change.result = PaymentResult(mode: request.mode, outcome: .stored)
        // Nothing but a sale is ever stored.
        guard request.type == .sale, stored.settings().rules != nil else {
            return try await end(.pspUnreachable, after: [sealed])
        }
        if let refusal = try await stored.keep(request, sale, after: [sealed], change) {
            return try await end(refusal, after: [sealed])
        }
        await settle()
        publish(.readCompleted, card: request.card)
        publish(.paymentStored, change, card: request.card)
        // Nobody has approved it: the reader says no more than that the card was read.
        await lane.show(.read)
    }

    /// Between sending and an answer, something went wrong: nobody may charge this order again until it is resolved.
    private func doubt() async {
        var change = StateChange(.unknown)
        change.result = PaymentResult(mode: store.mode, outcome: .unknown)
        await store.changeForCertain(id, [change])
        publish(.paymentUnknown, change)
    }

    private func apply(_ verdict: Verdict, mode: Mode) async {
        switch verdict {
        case .answered(let answer):
            let result = PaymentResult(answer, mode: mode)
            let card = await store.live[id]?.transaction.card?.named(answer.cardToken)
            if result.outcome == .declined {
                await finish(.declined, .paymentDeclined, result, .declined, card: card)
            } else if await store.decide(id) {
                await takeBack(.cancelledAfterSending, .customerCancel, nil, mode)
            } else {
                await finish(.approved, .paymentApproved, result, .approved, card: card)
            }
        case .refused:
            var result = PaymentResult(mode: mode, outcome: .declined)
            result.next = ErrorCode.pspRefused.entry.next
            await finish(.declined, .paymentDeclined, result, .error, error: .pspRefused)
        case .unresolved:
            await takeBack(.hostTimeout, .timeout, .pspNoAnswer, mode)
        }
        store.journal.scrubSoon()
    }

    private func finish(
        _ state: TransactionState, _ name: EventName, _ result: PaymentResult, _ feedback: ReaderFeedback,
        error: ErrorCode? = nil, card: MaskedCard? = nil
    ) async {
        var change = StateChange(state)
        change.result = result
        change.card = card
        change.error = error.map { ErrorDetail($0, transaction: id) }
        if state == .approved { change.confirmBy = await store.confirmationDue(id, after: change.at) }
        await store.changeForCertain(id, [change])
        if let due = change.confirmBy { closing.watch(id, due: due) }
        publish(name, change)
        await lane.show(feedback)
    }

    private func takeBack(
        _ reason: DeclineReason, _ cause: ReversalRequest.Reason, _ error: ErrorCode?, _ mode: Mode
    ) async {
        let change = Reversals.start(id, reason, cause, error, mode)
        await store.changeForCertain(id, [change])
        publish(.paymentDeclined, change)
        reversals.take(id)
        await lane.show(.error)
    }

    /// The pass is all there was to read: nothing is charged.
    private func endWithPass() async throws(JournalError) {
        try await store.change(id, [StateChange(.completed)])
        publish(.readCompleted)
    }

    /// Ends without anything having been sent.
    private func end(_ given: ErrorCode, after changes: [StateChange] = []) async throws(JournalError) {
        var code = given
        let retries = store.profiles.currentTerminal().maxTapRetries
        if code == .readCardUnreadable, await store.countFailedRead(id) >= retries {
            code = .readRetriesExhausted
        }
        if code == .readCancelled {
            var change = StateChange(.cancelled)
            change.cancelledBy = await store.canceller(of: id) ?? .shutdown
            try await store.change(id, changes + [change])
            var event = Event(.readCancelled, lane: lane.name)
            event.transaction = id
            event.by = change.cancelledBy
            store.publish(event)
        } else {
            var change = StateChange(.failed)
            change.error = ErrorDetail(code, transaction: id)
            try await store.change(id, changes + [change])
            publish(.readNotCompleted, change)
        }
    }

    private func publish(_ name: EventName, _ change: StateChange? = nil, card: MaskedCard? = nil) {
        var event = Event(name, lane: lane.name)
        event.transaction = id
        event.result = change?.result
        event.error = change?.error
        event.card = card ?? change?.card
        store.publish(event)
    }
}

extension WakeSignal {
    /// - Returns: `nil` where the process has no descriptor left.
    fileprivate static func forHandover() -> WakeSignal? {
        do { return try WakeSignal() } catch { return nil }
    }
}

extension OfflineSale {
    fileprivate init(_ request: AuthorizationRequest, _ result: PaymentTapResult, _ live: LiveTransaction) {
        let validity: Validity =
            switch result.read?.validity {
            case .valid: .valid
            case .expired: .expired
            case .notYetEffective: .notYetEffective
            case .unknown, nil: .unknown
            }
        self.init(
            kind: request.type, amount: request.amount, card: request.card, isApprovedByCard: request.offline,
            validity: validity, needsConfirmation: live.confirmWithin != nil)
    }
}
