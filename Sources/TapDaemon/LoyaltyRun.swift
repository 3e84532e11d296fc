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
    let lane: Lane
    let preparer: LanePreparer
    let logger: Logger

    func run() async {
        guard let live = await store.live[id] else { return }
        guard let request = live.loyalty else { return await store.abandon(id, .internalFault) }
        do throws(JournalError) {
            switch try await preparer.awaitPreparation(of: lane.name, live) {
            case nil:
                try await store.change(id, [StateChange(.armed)])
                try await read(request, live)
            case .readCancelled: try await endCancelled()
            case .some(let failure): try await fail(failure)
            }
        } catch {
            logger.error("transaction stopped", metadata: ["transaction": "\(id)", "error": "\(error)"])
            await store.abandon(id, ErrorCode(error))
        }
    }

    private func read(_ request: LoyaltyRequest, _ live: LiveTransaction) async throws(JournalError) {
        let order = LoyaltyOrder(request: request, deadline: live.deadline, cancellation: live.cancellation)
        let (progress, continuation) = AsyncStream<TapProgress>.makeStream()
        async let thread: Void = lane.readPasses(order, continuation)
        var narration = TapNarration(id: id, amount: .none, lane: lane.name, store: store)
        var failure: JournalError?
        do throws(JournalError) {
            switch try await narration.untilEnd(progress) {
            case .passes:
                try await store.change(id, [StateChange(.completed)])
                publish(.readCompleted)
            case .result: try await fail(.internalFault)
            case .failed(.readCancelled): try await endCancelled()
            case .failed(let code):
                if code == .readerDetached { await store.notReady(lane.name, code) }
                try await fail(code)
            }
        } catch {
            failure = error
            live.cancel()
        }
        for await _ in progress {}
        await thread
        if let failure { throw failure }
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
