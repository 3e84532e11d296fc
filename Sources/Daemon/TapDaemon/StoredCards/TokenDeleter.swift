// SPDX-License-Identifier: Apache-2.0
import Configuration
import Journal
import LocalHTTP
import Logging
import POSAPI
import PSPAPI
import PaymentValues
import Transactions

/// Has payment services forget the tokens of stored cards that were deleted: each under the stored card's id as its key,
/// until it is acknowledged, also over restarts.
actor TokenDeleter {
    private struct Pending {
        var deletion: TokenDeletion
        /// On the monotonic clock.
        var due: Int64
        var isAsking = false
    }

    private let journal: JournalThread
    private let outlet: EventOutlet
    private let profiles: ProfileStore
    private let work: WorkQueue
    private let logger: Logger
    private var pending: [StoredCardID: Pending] = [:]
    private let alarm = AlarmClock()

    init(journal: JournalThread, outlet: EventOutlet, profiles: ProfileStore, work: WorkQueue, logger: Logger) {
        (self.journal, self.outlet, self.profiles) = (journal, outlet, profiles)
        (self.work, self.logger) = (work, logger)
    }

    /// Goes on with what was not acknowledged, and with what was just written down.
    func look() async {
        do throws(JournalError) {
            let open = try await journal.use { (journal) throws(JournalError) in try journal.openDeletions() }
            let now = Moment.now.monotonic
            // How long ago an attempt of an earlier run was, no clock can be trusted with: it is due now.
            for deletion in open where pending[deletion.request.id] == nil {
                pending[deletion.request.id] = Pending(deletion: deletion, due: now)
            }
        } catch {
            logger.error("deletions not read", metadata: ["error": "\(error)"])
        }
        timePassed()
    }

    /// The payment service can be reached.
    func hasten() {
        for id in pending.keys where pending[id]?.isAsking == false { pending[id]?.due = Moment.now.monotonic }
        timePassed()
    }

    private func timePassed() {
        let now = Moment.now.monotonic
        for (id, entry) in pending where !entry.isAsking && entry.due <= now {
            pending[id]?.isAsking = true
            work.add { await self.ask(entry.deletion) }
        }
        alarm.set(at: pending.values.filter { !$0.isAsking }.map(\.due).min()) { [weak self] in
            guard let self else { return }
            Task { await self.timePassed() }
        }
    }

    private func ask(_ deletion: TokenDeletion) async {
        let id = deletion.request.id
        let link = profiles.paymentServices.link(to: deletion.service)
        let isDone = await link?.forget(deletion.request) ?? false
        do throws(JournalError) {
            if isDone {
                try await journal.use { (journal) throws(JournalError) in try journal.endDeletion(of: id, at: .now) }
                pending[id] = nil
                journal.scrubSoon()
                logger.info("stored card deleted", metadata: ["credential": "\(id)"])
                let stored = try await journal.use { (journal) throws(JournalError) in try journal.storedCard(id) }
                var event = Event(.cardDeleted)
                // Of its transaction, which is nobody's but of whoever has asked for that.
                (event.credential, event.transaction) = (id, stored?.transaction)
                outlet.publish(event)
                return timePassed()
            }
            try await plan(deletion)
        } catch {
            logger.error(
                "deletion not written", metadata: ["credential": "\(id)", "error": "\(error)"])
            retry(deletion)
        }
    }

    private func plan(_ deletion: TokenDeletion) async throws(JournalError) {
        let id = deletion.request.id
        var next = deletion
        next.attempts += 1
        next.due = Timestamp.now.moved(by: pause(after: next.attempts))
        let planned = next
        try await journal.use { (journal) throws(JournalError) in
            try journal.planDeletion(of: id, attempts: planned.attempts, due: planned.due)
        }
        logger.warning(
            "deletion not acknowledged", metadata: ["credential": "\(id)", "attempts": "\(planned.attempts)"])
        retry(next)
    }

    /// Whole seconds and the thousandths of the rest, on the monotonic clock.
    private func due(after pause: Duration) -> Int64 {
        let (seconds, attoseconds) = pause.components
        let wait = min(max(0, seconds), 86_400) * 1_000 + attoseconds / 1_000_000_000_000_000
        let (due, isTooFar) = Moment.now.monotonic.addingReportingOverflow(wait)
        return isTooFar ? .max : due
    }

    private func pause(after attempts: Int) -> Duration {
        outlet.settings.snapshot.adapter.times.attempts.pause(after: attempts)
    }

    private func retry(_ deletion: TokenDeletion) {
        guard pending[deletion.request.id] != nil else { return }
        pending[deletion.request.id] = Pending(
            deletion: deletion, due: due(after: pause(after: deletion.attempts)))
        timePassed()
    }
}

extension AdapterLink {
    /// A charge as it is sent; `nil` where it cannot be written.
    private func message(_ request: ChargeRequest) -> HTTPClientRequest? {
        do { return post("/v1/charges", request.id.text, try WireJSON.encode(request)) } catch { return nil }
    }

    /// Sends a charge on a connection that stands.
    func charge(
        _ request: ChargeRequest, over connection: HTTPClientConnection, within time: Duration
    ) async -> Reply {
        guard let message = message(request) else { return .refused }
        return await reply(to: begin(message, over: connection, within: time))
    }

    /// The same over a new connection: sent again with the same key, it is carried out once.
    func chargeAgain(_ request: ChargeRequest, within time: Duration) async -> Reply {
        do throws(HTTPClientError) {
            let reply = await charge(request, over: try await client.connect(), within: time)
            return reply == .neverSeen ? .unusable : reply
        } catch {
            return .unusable
        }
    }

    /// Has the payment service forget a token.
    ///
    /// - Returns: whether it has: 202 says that it will, and is asked again.
    func forget(_ request: TokenDeletionRequest) async -> Bool {
        do throws(HTTPClientError) {
            let body: [UInt8]
            do { body = try WireJSON.encode(request) } catch { return false }
            let answer = try await client.send(
                post("/v1/token-deletions", request.id.rawValue, body), answerWithin: times.query)
            switch answer.status {
            // Only a body that says so, about this one: a proxy answers 200, too.
            case 200: return (try? WireJSON.decode(TokenDeletionAnswer.self, from: answer.body))?.id == request.id
            // A name that nobody has is as good as forgotten; a path that nobody has is not.
            case 404:
                let body = try? WireJSON.decode(ErrorBody.self, from: answer.body)
                return body?.error.code == ErrorCode.storedCardUnknown.rawValue
            default: return false
            }
        } catch {
            return false
        }
    }
}
