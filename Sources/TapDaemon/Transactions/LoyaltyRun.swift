import Journal
import Logging
import Loyalty
import ReaderCore
import TapSession
import Wire

/// One read of passes from its first state to its last. Has no way to the adapter, and no payment to make.
struct LoyaltyRun: Sendable {
    let id: TransactionID
    let store: TransactionStore
    /// On which it takes place; the first of several until a card decides.
    var lane: Lane
    let preparer: LanePreparer
    let logger: Logger

    func run() async {
        guard let live = await store.live[id] else { return }
        guard let request = live.loyalty else { return await store.abandon(id, .internalFault) }
        do throws(JournalError) {
            switch try await preparer.awaitPreparation(live) {
            case .ready(let lanes):
                try await store.arm(id, lanes)
                try await read(request, live, lanes)
            case .failed(.readCancelled): try await endCancelled()
            case .failed(let failure): try await fail(failure)
            }
        } catch {
            logger.error("transaction stopped", metadata: ["transaction": "\(id)", "error": "\(error)"])
            await store.abandon(id, ErrorCode(error))
        }
    }

    private func read(
        _ request: LoyaltyRequest, _ live: LiveTransaction, _ lanes: [Lane]
    ) async throws(JournalError) {
        let order = LoyaltyOrder(request: request, deadline: live.deadline)
        let armed = ArmedLanes(id, lanes, store)
        await store.enter(armed.race, id)
        async let threads: Void = armed.occupy(deadline: live.deadline) { await $0.readPasses(order, $1) }
        var narration = TapNarration(id: id, amount: .none, lane: lanes.first?.name ?? lane.name, store: store)
        narration.language = live.language
        var failure: JournalError?
        do throws(JournalError) {
            let end = try await narration.untilEnd(armed.race.progress)
            var run = self
            run.lane = lanes.first { $0.name == narration.lane } ?? lane
            try await run.conclude(end)
        } catch {
            failure = error
        }
        // Whatever still waits for a phone does so in vain.
        armed.race.cancel()
        for await _ in armed.race.progress {}
        await threads
        if let failure { throw failure }
    }

    private func conclude(_ ending: TapNarration.End) async throws(JournalError) {
        switch ending {
        case .passes:
            try await store.change(id, [StateChange(.completed)])
            publish(.readCompleted)
        case .result: try await fail(.internalFault)
        case .failed(.readCancelled): try await endCancelled()
        case .failed(let code): try await fail(code)
        }
    }

    private func endCancelled() async throws(JournalError) {
        var change = StateChange(.cancelled)
        change.cancelledBy = await store.canceller(of: id) ?? .shutdown
        try await store.change(id, [change])
        var event = Event(.readCancelled, lane: lane.name)
        event.transaction = id
        event.by = change.cancelledBy
        store.publish(event)
    }

    private func fail(_ code: ErrorCode) async throws(JournalError) {
        var change = StateChange(.failed)
        change.error = ErrorDetail(loyalty: code, transaction: id)
        try await store.change(id, [change])
        publish(.readNotCompleted, change.error)
    }

    private func publish(_ name: EventName, _ error: ErrorDetail? = nil) {
        var event = Event(name, lane: lane.name)
        event.transaction = id
        event.error = error
        store.publish(event)
    }
}

extension ErrorDetail {
    /// The error in words of the loyalty flow: nothing in it speaks of a payment.
    init(loyalty code: ErrorCode, transaction: TransactionID?) {
        let own: [ErrorCode: ErrorCode] = [.readTimedOut: .loyaltyTimedOut, .readCardUnreadable: .loyaltyUnreadable]
        self.init(own[code] ?? code, transaction: transaction)
        next = nil
    }
}
