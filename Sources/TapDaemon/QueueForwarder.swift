import Envelope
import Journal
import LocalHTTP
import Logging
import StoreAndForward
import Wire

/// Sends what is stored, oldest first, once the adapter is back. Sent again under the same key it is carried out once,
/// and nothing is ever reversed for want of an answer: the customer has the goods.
struct QueueForwarder: Sendable {
    let queue: PaymentQueue
    let adapter: AdapterLink
    let logger: Logger
    private var store: TransactionStore { queue.store }

    init(queue: PaymentQueue, adapter: AdapterLink, logger: Logger) {
        self.queue = queue
        self.adapter = adapter
        self.logger = logger
    }

    /// What came of one payment.
    private enum Progress {
        case answered
        case nothing
        /// No adapter accepts connections: nobody else's turn either.
        case unreachable
    }

    /// Forwards until its task is cancelled.
    func run() async {
        var wasOverdue = false
        while !Task.isCancelled {
            let isWaiting = await round()
            wasOverdue = await alert(wasOverdue)
            await queue.waitForWork(atMost: isWaiting ? adapter.times.forwarding : .seconds(30))
        }
    }

    /// Forwards everything that is due.
    ///
    /// - Returns: whether something still waits.
    private func round() async -> Bool {
        let settings = queue.settings()
        do throws(JournalError) {
            let now = Timestamp.now
            let entries = try await queue.journal.queue().filter { $0.batch == nil && $0.issuer == settings.issuer }
            for entry in entries where entry.due <= now {
                guard !Task.isCancelled else { return true }
                if try await forward(entry) == .unreachable { return true }
            }
            return try await !queue.journal.queue().isEmpty
        } catch {
            logger.error("queue not read", metadata: ["error": "\(error)"])
            return true
        }
    }

    private func forward(_ entry: QueueEntry) async throws(JournalError) -> Progress {
        let id = entry.transaction.id
        guard let request = try await request(of: entry) else {
            await fail(entry, .queueRecordAltered)
            return .nothing
        }
        var reply: AdapterLink.Reply
        if entry.transaction.state == .stored {
            let connection: HTTPClientConnection
            do throws(AdapterUnreachable) { connection = try await adapter.connect() } catch { return .unreachable }
            guard try await store.beginForward(entry) else { return .nothing }
            reply = await adapter.authorize(request, over: connection, within: adapter.times.answer)
        } else {
            // An earlier attempt went out, and what became of it is not known.
            await store.adopt(entry)
            reply = await adapter.query(id, within: adapter.times.query)
        }
        if reply == .neverSeen { reply = await adapter.authorizeAgain(request, within: adapter.times.answer) }
        switch reply {
        case .answered(let answer):
            await finish(entry, answer)
            return .answered
        case .refused:
            // The adapter has not carried it out: it goes back, so that nothing is lost.
            await store.changeForCertain(id, [StateChange(.stored)])
            await fail(entry, .pspRefused)
        case .running, .unusable, .neverSeen:
            if await store.state(of: id) == .sent { await store.changeForCertain(id, [StateChange(.unknown)]) }
            await fail(entry, .pspNoAnswer)
        }
        return .nothing
    }

    /// The request as it was signed, where the signature holds and it is this payment's.
    private func request(of entry: QueueEntry) async throws(JournalError) -> AuthorizationRequest? {
        guard let jws = try await queue.journal.queueRecord(entry.transaction.id) else { return nil }
        guard let record = try? SignedRecord(jws: jws, key: queue.key.verificationKey) else { return nil }
        let request = record.content.authorization
        guard request.id == entry.transaction.id, request.amount == entry.transaction.amount else { return nil }
        return request
    }

    private func finish(_ entry: QueueEntry, _ answer: AuthorizationAnswer) async {
        let result = PaymentResult(answer, mode: entry.transaction.mode)
        var change = StateChange(result.outcome == .declined ? .declined : .approved)
        change.result = result
        await store.changeForCertain(entry.transaction.id, [change])
        publish(.queueForwarded, entry, result: result)
        await store.scrub()
        await queue.noteContact()
    }

    /// Waits longer with each attempt, and says so.
    private func fail(_ entry: QueueEntry, _ code: ErrorCode) async {
        let pauses = adapter.times.reversal
        let pause = pauses.indices.contains(entry.attempts) ? pauses[entry.attempts] : pauses.last ?? .seconds(600)
        let due = Timestamp(milliseconds: Timestamp.now.milliseconds + Int64(pause / .milliseconds(1)))
        let id = entry.transaction.id
        logger.warning(
            "stored payment not forwarded",
            metadata: ["transaction": "\(id)", "error": "\(code.rawValue)", "attempts": "\(entry.attempts + 1)"])
        do throws(JournalError) {
            try await queue.journal.postpone(id, attempts: entry.attempts + 1, due: due)
        } catch {
            logger.error("queue not written", metadata: ["transaction": "\(id)", "error": "\(error)"])
        }
        publish(.queueFailed, entry, error: ErrorDetail(code, transaction: id))
    }

    private func publish(
        _ name: EventName, _ entry: QueueEntry, result: PaymentResult? = nil, error: ErrorDetail? = nil
    ) {
        var event = Event(name, lane: entry.transaction.lane)
        event.transaction = entry.transaction.id
        event.amount = entry.transaction.amount
        event.result = result
        event.error = error
        store.publish(event)
    }

    /// Says once that the oldest payment waits for too long.
    private func alert(_ wasOverdue: Bool) async -> Bool {
        guard let status = try? await queue.status() else { return wasOverdue }
        if status.overdue, !wasOverdue {
            logger.critical(
                "stored payments wait for too long",
                metadata: ["count": "\(status.count)", "oldest": "\(status.oldest.map { "\($0)" } ?? "")"])
        }
        return status.overdue
    }
}
