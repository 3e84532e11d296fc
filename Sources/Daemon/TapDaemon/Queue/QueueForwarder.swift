// SPDX-License-Identifier: Apache-2.0
import Configuration
import Envelope
import Journal
import LocalHTTP
import Logging
import POSAPI
import PSPAPI
import PaymentValues
import StoreAndForward
import Transactions

/// Sends what is stored, oldest first, once the adapter is back. Sent again under the same key it is carried out once,
/// and nothing is ever reversed for want of an answer: the customer has the goods.
struct QueueForwarder: Sendable {
    let queue: PaymentQueue
    let runner: TransactionRunner
    let logger: Logger
    private var times: AdapterTimes { runner.settings.snapshot.adapter.times }

    /// What the runner says of one payment.
    enum Outcome: Equatable, Sendable {
        /// Answered, or not to be forwarded any more.
        case ended
        case unanswered(ErrorCode)
        /// The daemon ends: nobody knows, and the next start asks.
        case stopping
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
            await queue.waitForWork(atMost: isWaiting ? times.forwarding : .seconds(30))
        }
    }

    /// What is known of the payment services in one round.
    private struct Round {
        var unreachable: Set<AskedService> = []
        var keyLives: [AskedService: Duration] = [:]
    }

    /// Forwards everything that is due.
    ///
    /// - Returns: whether something still waits.
    private func round() async -> Bool {
        let now = Timestamp.now
        guard let entries = await queue.entries() else { return true }
        let services = runner.paymentServices
        var round = Round()
        for entry in entries where entry.batch == nil && isDue(entry, now) {
            guard !Task.isCancelled else { return true }
            do throws(JournalError) {
                let service = services.service(of: entry)
                guard let service, let link = services.link(to: service) else {
                    // It waits for whom it belongs to, and a person gets to know.
                    if entry.open == nil { try await keepOpen(.otherService, entry) }
                    continue
                }
                guard !round.unreachable.contains(service) else { continue }
                if try await forward(entry, to: service, link, &round) == .unreachable {
                    round.unreachable.insert(service)
                }
            } catch {
                logger.error(
                    "stored payment not forwarded",
                    metadata: ["transaction": "\(entry.transaction.id)", "error": "\(error)"])
                // One damaged payment is one payment. Of anything else the next one would suffer, too.
                guard error == .damaged || error == .damagedPayment else { return true }
            }
        }
        // What cannot be read now may be read in the next round.
        return await queue.entries()?.isEmpty != true || queue.isTroubled
    }

    /// A time that is further away than the longest pause was laid down by a clock that has been put back since (rule R2).
    private func isDue(_ entry: QueueEntry, _ now: Timestamp) -> Bool {
        entry.due <= now || entry.due > now.moved(by: times.attempts.longest)
    }

    private func forward(
        _ entry: QueueEntry, to service: AskedService, _ link: AdapterLink, _ round: inout Round
    ) async throws(JournalError) -> Progress {
        let id = entry.transaction.id
        // Answered, declined or let go since the queue was read.
        let found = try await queue.journal.use { (journal) throws(JournalError) in try journal.queueRecord(id) }
        guard let record = found else { return .nothing }
        let request: AuthorizationRequest
        do throws(RecordFault) { request = try self.request(in: record, of: entry) } catch {
            await report(error, entry)
            if entry.open == nil { try await keepOpen(.recordAltered, entry) }
            await fail(entry, .queueRecordAltered)
            return .nothing
        }
        // The adapter that is asked first hears the rest, too.
        var connection: HTTPClientConnection?
        var keyLife = Duration.zero
        // Behind a proxy a connection always stands, and each vain attempt would be two lines in the journal.
        guard let life = await self.keyLife(of: service, link, &round) else { return .unreachable }
        if entry.transaction.state == .stored {
            do throws(AdapterUnreachable) { connection = try await link.connect() } catch { return .unreachable }
        } else {
            // What was sent before may have to be sent again, for as long as the service keeps its key.
            keyLife = life
        }
        switch await runner.forward(
            entry, request, to: ServiceRoute(service, link), over: connection, keyLife: keyLife)
        {
        case .ended: break
        case .unanswered(let code):
            await fail(entry, code)
            return .nothing
        case .stopping: return .nothing
        }
        if service.serviceName == queue.settings().serviceName { await queue.noteContact() }
        return .answered
    }

    private func keyLife(of service: AskedService, _ link: AdapterLink, _ round: inout Round) async -> Duration? {
        if let known = round.keyLives[service] { return known }
        let life = await link.health()?.keyLifetime
        round.keyLives[service] = life
        return life
    }

    /// The payment's machine may have said more since the queue was read: its word stays.
    private func keepOpen(_ reason: OpenReason, _ entry: QueueEntry) async throws(JournalError) {
        let id = entry.transaction.id
        let isNew = try await queue.journal.use { (journal) throws(JournalError) in
            try journal.keepOpen(reason, whileQueued: id)
        }
        guard isNew else { return }
        logger.warning("open item", metadata: ["transaction": "\(id)", "reason": "\(reason.rawValue)"])
    }

    /// The request as it was signed, where the signature holds and it is this payment's.
    private func request(in record: String, of entry: QueueEntry) throws(RecordFault) -> AuthorizationRequest {
        let request: AuthorizationRequest
        do throws(SignedRecordError) {
            request = try SignedRecord(jws: record, key: queue.key.verificationKey).content.authorization
        } catch {
            throw error == .altered ? .signature : .unreadable
        }
        guard request.id == entry.transaction.id else { throw .otherTransaction }
        guard request.amount == entry.transaction.amount else { throw .otherAmount }
        return request
    }

    /// Says which rule a record breaks, in the log each time and in the audit chain once.
    private func report(_ fault: RecordFault, _ entry: QueueEntry) async {
        let id = entry.transaction.id
        logger.critical(
            "stored record does not hold, never sent",
            metadata: ["transaction": "\(id)", "reason": "\(fault.rawValue)"])
        guard queue.isNews(fault, of: id) else { return }
        await queue.trail.note(
            AuditEntry(.queue, subject: id.text, detail: "stored record does not hold: \(fault.rawValue)"))
    }

    /// Waits longer with each attempt, and says so.
    private func fail(_ entry: QueueEntry, _ code: ErrorCode) async {
        let pause = times.attempts.pause(after: entry.attempts + 1)
        let due = Timestamp(milliseconds: Timestamp.now.milliseconds + Int64(pause / .milliseconds(1)))
        let id = entry.transaction.id
        logger.warning(
            "stored payment not forwarded",
            metadata: ["transaction": "\(id)", "error": "\(code.rawValue)", "attempts": "\(entry.attempts + 1)"])
        do throws(JournalError) {
            try await queue.journal.postpone(id, attempts: entry.attempts + 1, due: due)
            let isLost = entry.transaction.state != .stored && entry.attempts + 1 >= TransactionMachine.attemptsUnseen
            if isLost, entry.open == nil { try await keepOpen(.unanswered, entry) }
        } catch {
            logger.error("queue not written", metadata: ["transaction": "\(id)", "error": "\(error)"])
        }
        publish(.queueFailed, entry, error: ErrorDetail(code, transaction: id))
    }

    private func publish(
        _ name: EventName, _ entry: QueueEntry, error: ErrorDetail?
    ) {
        var event = Event(name, about: entry.transaction)
        event.amount = entry.transaction.amount
        event.error = error
        runner.publish(event)
    }

    /// Says once that the oldest payment waits for too long.
    private func alert(_ wasOverdue: Bool) async -> Bool {
        let outline = await queue.outline()
        // Not known: said where it was read.
        guard let extent = outline.extent, let isOverdue = outline.isOverdue else { return wasOverdue }
        if isOverdue, !wasOverdue {
            logger.critical(
                "stored payments wait for too long",
                metadata: ["count": "\(extent.count)", "oldest": "\(extent.oldest.map { "\($0)" } ?? "")"])
        }
        return isOverdue
    }
}

extension PaymentServices {
    /// Whom a stored payment goes to, or went to before; `nil` where nobody has said where that is.
    fileprivate func service(of entry: QueueEntry) -> AskedService? {
        guard entry.transaction.state != .stored, let service = entry.service else {
            return service(ofStored: entry.serviceName)
        }
        return service
    }
}
