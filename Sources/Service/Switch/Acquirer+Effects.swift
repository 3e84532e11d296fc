// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ISO8583
import Linux
import LocalHTTP
import Logging
import PSPAPI
import PaymentValues
import PostgreSQL

/// Carries out what the link asks for.
extension Acquirer {
    /// What is sent after a record waits for that record. What is told of an exchange is committed with its first record, so that
    /// no other can be found alone.
    func perform(_ effects: [LinkEffect]) {
        var groups: [(exchange: Exchange, after: [LinkEffect])] = []
        for effect in effects {
            if case .record(let exchange) = effect {
                groups.append((exchange, []))
            } else if let told = effect.told {
                if let index = groups.firstIndex(where: { $0.exchange.id == told }) {
                    groups[index].after.append(effect)
                } else {
                    tell(effect)
                }
            } else if groups.isEmpty {
                tell(effect)
            } else {
                groups[groups.count - 1].after.append(effect)
            }
        }
        for group in groups { enqueue(group.exchange, group.after) }
    }

    private func enqueue(_ exchange: Exchange, _ after: [LinkEffect]) {
        let id = exchange.id
        let before = writing[id]
        let task = Task(executorPreference: SocketThread.shared) {
            await before?.last.value
            await self.carryOut(exchange, after)
            await self.leave(id)
        }
        writing[id] = (task, (before?.count ?? 0) + 1)
    }

    private func leave(_ id: ExchangeID) {
        writing[id]?.count -= 1
        guard (writing[id]?.count ?? 0) <= 0 else { return }
        writing[id] = nil
        dropped.remove(id)
        guard let exchange = link.exchange(id), !exchange.isOpen else { return }
        ended.append((id, MachineClock.all / 1_000_000))
        put(.shed(id))
    }

    // MARK: - Records

    private func carryOut(_ exchange: Exchange, _ after: [LinkEffect]) async {
        let id = exchange.id
        guard !dropped.contains(id), !isLost else { return }
        if let intent = intents[id] {
            guard await begin(intent, exchange) else { return }
        } else {
            guard await keep(exchange, after) else { return }
        }
        for effect in after {
            if case .send = effect, case .awaiting(let until, _) = exchange.stage, !isInTime(until) { continue }
            // The host may have signed off while the record was written.
            if case .send = effect, !link.isSignedOn { continue }
            switch effect {
            case .settled, .reversed, .advised, .reconciled: break
            case .send where exchange.stage.isAwaiting:
                measures.sent(id.description)
                tell(effect)
            case .record, .send, .cutOver, .takeKey, .useKey, .alarm, .disconnect: tell(effect)
            }
        }
    }

    /// Whether a payment whose answer is waited for until then may still be sent. Where its first commit took half of that time it is not:
    /// another replica may have taken it up meanwhile, and what is sent after its reversal is never taken back.
    private func isInTime(_ until: UInt64) -> Bool {
        MachineClock.all / 1_000_000 + link.rules.answerWithin / 2 < until
    }

    private func drop(_ id: ExchangeID, _ reply: Reply) {
        dropped.insert(id)
        asked[id] = nil
        put(.withdraw(id))
        resume(id, reply)
    }

    private func sealed(_ exchange: Exchange, isFinal: Bool) async -> Result<[UInt8]?, OpeningRefusal> {
        guard let content = StoredExchange.content(exchange, packager, isFinal: isFinal) else { return .success(nil) }
        do throws(OpeningRefusal) {
            return .success(try await keys.seal(content, for: exchange.id.description))
        } catch {
            if error == .unknownKey { measures.count(.unknownKey) }
            pace.log(
                logger, .error, "an exchange cannot be sealed: look at the token",
                ["id": "\(exchange.id)", "reason": "\(error)"])
            return .failure(error)
        }
    }

    /// The first commit.
    ///
    /// - Returns: whether it is in the books, so that it may be sent.
    private func begin(_ intent: Intent, _ exchange: Exchange) async -> Bool {
        let id = exchange.id
        guard case .success(let sealed) = await sealed(exchange, isFinal: false) else {
            drop(id, .failed)
            return false
        }
        let row = ExchangeRow(exchange: exchange, sealed: sealed, owner: seat.owner)
        let start = MachineClock.awake
        for attempt in 0..<4 {
            do throws(DatabaseError) {
                if let reply = try await begin(intent, row) {
                    drop(id, reply)
                    return false
                }
                measures.observe(.firstCommit, since: start)
                intents[id] = nil
                if case .payment(let payment) = intent, !intent.isAdvice {
                    let request = payment.request
                    asked[id] = AskedPayment(amount: request.amount, kind: request.type, token: payment.token)
                }
                if intent.isAdvice { waitForAdvice(id) }
                return true
            } catch {
                logger.error("a payment could not be written down", metadata: ["id": "\(id)", "error": "\(error)"])
                switch error {
                case .unknown, .again, .unreachable: await pause(attempt)
                case .duplicate, .refused, .busy:
                    drop(id, .failed)
                    return false
                }
            }
        }
        // Should it be there after all, the books' own round finds it and takes it back.
        drop(id, .failed)
        return false
    }

    private func begin(_ intent: Intent, _ row: ExchangeRow) async throws(DatabaseError) -> Reply? {
        switch intent {
        case .payment(let intent):
            switch try await store.begin(intent, row) {
            case .begun: return nil
            case .known(let payment): return .knownPayment(payment)
            case .replayed: return .replayed
            }
        case .operation(let intent):
            switch try await store.begin(intent, row) {
            case .begun: return nil
            case .known(let operation): return .knownOperation(operation)
            case .refused(let answer): return .answer(answer)
            case .moved: return .moved
            case .unknownPayment: return .unknownPayment
            }
        case .day(let day): return try await store.begin(day, row) ? nil : .inUse
        }
    }

    private func waitForAdvice(_ id: ExchangeID) {
        guard link.isSignedOn else { return answerPending(id) }
        Task {
            // A cancelled sleep means that the program ends: nobody waits any more.
            try? await Task.sleep(for: .seconds(8))
            answerPending(id)
        }
    }

    /// A later commit; tried until it is made, for the link goes on from it.
    ///
    /// - Returns: whether this replica still speaks of the exchange.
    private func keep(_ exchange: Exchange, _ after: [LinkEffect]) async -> Bool {
        let id = exchange.id
        let news = after.compactMap(\.news)
        let asked = asked.removeValue(forKey: id)
        measures.answered(id.description)
        let start = MachineClock.awake
        var attempt = 0
        while !isLost {
            var row = ExchangeRow(exchange: exchange, sealed: nil, owner: seat.owner)
            row.isSealedAlready = exchange.stage.hasFirstMessagesOnly
            if !row.isSealedAlready {
                let isFinal = exchange.stage.isFinal && !exchange.mayStillBeApproved
                guard case .success(let sealed) = await sealed(exchange, isFinal: isFinal) else {
                    await pause(attempt)
                    attempt += 1
                    continue
                }
                row.sealed = sealed
            }
            do throws(DatabaseError) {
                switch try await keep(row, news, asked) {
                case .kept(let answer): if let answer { resume(id, .answer(answer)) }
                case .reverse(let reason, let answer):
                    resume(id, .answer(answer))
                    put(.reverse(id, reason))
                case .lost:
                    logger.error("another replica has taken over", metadata: ["id": "\(id)"])
                    drop(id, .failed)
                    return false
                }
                measures.observe(.secondCommit, since: start)
                for case .decided(let decision) in news {
                    measures.count(decision)
                    guard let fault = decision.issuerFault else { continue }
                    measures.count(.issuerData)
                    logger.error(
                        "field 55 of an answer does not reach the card: hold the packager against the host's manual",
                        metadata: ["id": "\(id)", "reason": "\(fault)"])
                }
                return true
            } catch {
                logger.error("a record could not be written", metadata: ["id": "\(id)", "error": "\(error)"])
                if attempt == 3 { resume(id, .failed) }
                await pause(attempt)
                attempt += 1
            }
        }
        return false
    }

    private func keep(
        _ row: ExchangeRow, _ news: [ExchangeNews], _ asked: AskedPayment?
    ) async throws(DatabaseError) -> Kept {
        if let asked, news.count == 1, case .decided(let decision) = news[0], case .answered = row.exchange.stage,
            row.isSealedAlready, let answer = try await store.approve(row, decision, asked, now: .now, heard: heard)
        {
            return .kept(answer)
        }
        return try await store.keep(row, news, now: .now)
    }

    /// Longer each time, up to two seconds. A cancelled sleep ends early, which does no harm.
    private func pause(_ attempt: Int) async { try? await Task.sleep(for: .milliseconds(100 << min(attempt, 4))) }

    // MARK: - Telling

    private func tell(_ effect: LinkEffect) {
        switch effect {
        case .send(let message): send(message)
        case .settled(let id, let outcome):
            // Without a record: nothing was sent.
            if intents[id] != nil { resume(id, .notSent(HostDecision(outcome))) }
        case .alarm(.refused(let id, let refusal)):
            guard intents[id] != nil else { return }
            resume(id, refusal == .idInUse ? .inUse : .notSent(HostDecision(.notSent(refusal))))
        case .alarm(.approvedAfterAll(let id)):
            measures.count(.lateApproval)
            logger.critical("approved after its reversal, which is sent again", metadata: ["id": "\(id)"])
            write(id) { (store, id) throws(DatabaseError) in try await store.reverseAgain(id) }
        case .alarm(.contradictsItself(let id)):
            measures.count(.contradiction)
            logger.critical(
                "the acquirer has to be asked: its answers contradict each other", metadata: ["id": "\(id)"])
            write(id) { (store, id) throws(DatabaseError) in try await store.leaveOpen(id) }
        case .cutOver(let date): cutOver(date.flatMap(HostDecision.monthAndDay))
        case .takeKey(let message):
            codes?.take(message) { await self.put($0) }
        case .useKey(let message): codes?.use(message, lastFor: link.rules.answerWithin)
        case .alarm(let alarm):
            if let fault = alarm.fault { measures.count(fault) }
            // As many as the host likes to send.
            if let kind = alarm.kind {
                return pace.log(logger, .warning, "acquirer", kind: kind, ["alarm": "\(alarm)"])
            }
            guard !alarm.needsPerson else {
                return logger.critical(
                    "the acquirer has to be asked: a person has to look at it", metadata: ["alarm": "\(alarm)"])
            }
            logger.warning("acquirer", metadata: ["alarm": "\(alarm)"])
        case .disconnect(let end):
            logger.warning("connection to the acquirer ends", metadata: ["reason": "\(end)"])
            line?(nil)
        case .record, .reversed, .advised, .reconciled: break
        }
    }

    private func cutOver(_ date: String?) {
        logger.notice("the acquirer's next day begins", metadata: ["settlement": "\(date ?? "")"])
        Task {
            do throws(DatabaseError) { try await store.noteCutOver(date) } catch {
                logger.error("the acquirer's next day was not written down", metadata: ["error": "\(error)"])
            }
        }
    }

    /// After what is still being written of it.
    func write(
        _ id: ExchangeID, _ change: @escaping @Sendable (SwitchStore, String) async throws(DatabaseError) -> Void
    ) {
        let before = writing[id]?.last
        Task {
            await before?.value
            var attempt = 0
            while !isLost {
                do throws(DatabaseError) { return try await change(store, id.description) } catch {
                    await pause(attempt)
                    attempt += 1
                }
            }
        }
    }

}

extension LinkEffect {
    /// The exchange that this says something of.
    fileprivate var told: ExchangeID? {
        switch self {
        case .settled(let id, _), .reversed(let id), .advised(let id, _), .reconciled(let id, _): id
        case .record, .send, .cutOver, .takeKey, .useKey, .alarm, .disconnect: nil
        }
    }

    /// What the books have to learn together with a record.
    fileprivate var news: ExchangeNews? {
        switch self {
        case .settled(_, let outcome): .decided(HostDecision(outcome))
        case .advised(_, let isAccepted):
            .decided(HostDecision(isAccepted ? .approved : .declined, isAccepted ? "00" : "05"))
        case .reversed: .reversed
        case .reconciled(_, let balance): .balanced(balance)
        case .record, .send, .cutOver, .takeKey, .useKey, .alarm, .disconnect: nil
        }
    }
}

extension LinkAlarm {
    /// What it counts as.
    fileprivate var fault: SwitchMeasures.Fault? {
        switch self {
        case .lateApproval, .approvedAfterAll: .lateApproval
        case .answersDiffer, .contradictsItself, .contradiction, .stanUsedTwice, .reversalContradictsApproval,
            .outOfBalance:
            .contradiction
        case .unknownCode: .unknownCode
        case .adviceDeclined, .reversalRefused, .dayNotTaken: .refusedByHost
        case .stray: .stray
        case .answerDiffers: .answerDiffers
        case .unreadable: .frame
        case .notAuthentic, .keyRefused: .notAuthentic
        case .openItem, .cannotReverse, .refused, .notServed, .signedOff: nil
        }
    }

    /// Of what comes as often as the host sends it, one line in ten seconds is told.
    fileprivate var kind: String? {
        switch self {
        case .stray: "stray"
        case .answerDiffers(_, let field): "differs \(field)"
        case .unreadable: "unreadable"
        case .notServed: "not served"
        case .notAuthentic: "not authentic"
        default: nil
        }
    }

    /// Money stands otherwise at the host than here, and no message mends it.
    fileprivate var needsPerson: Bool {
        switch self {
        case .reversalContradictsApproval, .openItem, .adviceDeclined: true
        default: false
        }
    }
}

extension Exchange.Stage {
    fileprivate var isAwaiting: Bool {
        if case .awaiting = self { true } else { false }
    }

    /// What the first commit has sealed is still all that has to be kept.
    fileprivate var hasFirstMessagesOnly: Bool {
        switch self {
        case .awaiting, .answered: !isFinal
        case .reversing, .reversed, .voided, .advising, .advised, .reconciling, .reconciled: false
        }
    }

    /// Nothing can follow: the card's number is not needed any more.
    fileprivate var isFinal: Bool {
        switch self {
        case .reversed, .voided, .reconciled, .answered(.declined), .answered(.later): true
        case .awaiting, .answered, .reversing, .advising, .advised, .reconciling: false
        }
    }
}
