// SPDX-License-Identifier: Apache-2.0
import Codes
import ECR
import Logging
import POSAPI
import PaymentValues
import Receipt
import Synchronization
import TapClient

/// The payments of one till with the daemon: what the till's machine asks for is asked until there is an answer.
final class TillPayments: Sendable {
    private struct State {
        var ids: [AttemptKey: TransactionID] = [:]
        var keys: [TransactionID: AttemptKey] = [:]
        /// Given up before the daemon had said which transaction it is.
        var unwanted: Set<AttemptKey> = []
        /// Of the daemon, as far as it has been seen.
        var mode: Mode?
    }

    private let client: TapClient
    private let till: TillsFile.Till
    private let logger: Logger
    private let feed: @Sendable (TillInput) -> Void
    private let state = Mutex(State())

    /// Seconds for which a daemon that is full is asked again.
    private static let patience: Duration = .seconds(5)
    private static let shortPause: Duration = .milliseconds(200)
    private static let longPause: Duration = .seconds(2)
    /// Milliseconds by which a transaction is older than what was asked for, on one clock.
    private static let stale: Int64 = 60_000
    /// Until somebody may have given it the rights that it lacks.
    private static let rightsPause: Duration = .seconds(30)

    init(_ client: TapClient, _ till: TillsFile.Till, _ logger: Logger, feed: @escaping @Sendable (TillInput) -> Void) {
        self.client = client
        self.till = till
        self.logger = logger
        self.feed = feed
    }

    // MARK: - Payments

    func start(_ demand: StartRequest) async {
        let order = demand.order
        guard let currency = Currency(order.currency.letters) else {
            return feed(.settled(demand.key, .notPaid(TillRefusal(.currency))))
        }
        if let refusal = await refusalOfMode() { return feed(.settled(demand.key, .notPaid(refusal))) }
        var request = Self.request(for: order, in: currency)
        request.lane = till.lane
        request.deadline = demand.deadline
        request.confirmWithin = demand.confirmWithin
        request.language = till.language.rawValue
        request.order = Self.name(of: order, at: till.name)
        let (began, asked) = (ContinuousClock.now, Timestamp.now)
        // An answer was lost: only one to the same key says whether the payment has begun.
        var isInDoubt = false
        while !Task.isCancelled {
            do throws(TapClientError) {
                let tap = try await client.start(request, idempotencyKey: demand.key.text)
                // Nobody has asked under this key before: an older transaction is another sale, for which its customer has paid.
                guard isInDoubt || asked.milliseconds &- tap.started.createdAt.milliseconds < Self.stale else {
                    logger.critical(
                        """
                        ledger older than the daemon's journal, payments are refused: stop nfc-tap-ecr, remove this \
                        till's ledger, and start it again
                        """, metadata: ["till": "\(till.name)", "key": "\(demand.key)"])
                    return feed(.settled(demand.key, .notPaid(TillRefusal(.failed))))
                }
                await follow(tap, demand.key)
                return
            } catch {
                switch meaning(of: error) {
                case .refused(let refusal): return feed(.settled(demand.key, .notPaid(refusal)))
                case .notReached(let refusal, let isFinal) where !isInDoubt:
                    guard !isFinal, ContinuousClock.now - began < Self.patience else {
                        return feed(.settled(demand.key, .notPaid(refusal)))
                    }
                case .notReached: break
                case .inDoubt: isInDoubt = true
                }
            }
            await pause(Self.shortPause)
        }
    }

    /// A ledger that has just been made belongs to a lane that has not sold.
    func lookForFormerLedger() async {
        let answer = await untilAnswered { () throws(TapClientError) in try await self.client.last(of: self.till.lane) }
        guard case .success(let last)? = answer else { return }
        // Only a bridge gives such a name: another ledger of this lane has been.
        logger.log(
            level: last.order?.hasPrefix("ecr-") == true ? .critical : .warning,
            "new ledger for a lane that has sold before: unless this till is new, compare its list with nfc-tap list",
            metadata: ["till": "\(till.name)", "lane": "\(till.lane)", "last": "\(last.id)"])
    }

    /// What became of a payment of an earlier run.
    func lookUp(_ key: AttemptKey) async {
        guard let id = await transactionID(key) else {
            return feed(.settled(key, .notPaid(TillRefusal(.failed))))
        }
        // Given up while the daemon was asked which transaction it is.
        if state.withLock({ $0.unwanted.remove(key) != nil }) { await cancel(key) }
        await settle(id, key)
    }

    func cancel(_ key: AttemptKey) async {
        let known = state.withLock { state in
            if state.ids[key] == nil { state.unwanted.insert(key) }
            return state.ids[key]
        }
        guard let id = known else { return }
        let answer = await untilAnswered { () throws(TapClientError) in try await self.client.cancel(id) }
        if case .success(let answer)? = answer, answer.outcome == .tooLate { feed(.tooLate(key)) }
    }

    /// The till knows of the approval.
    func confirm(_ key: AttemptKey) async {
        guard let id = await transactionID(key) else { return feed(.notConfirmed(key)) }
        switch await untilAnswered({ () throws(TapClientError) in try await self.client.confirm(id) }) {
        case .success?: feed(.confirmed(key))
        case .failure(let error)?:
            logger.critical("approval that a till has was not kept", metadata: about(key, error))
            feed(.notConfirmed(key))
        case nil: break
        }
        forget(key)
    }

    func takeBack(_ key: AttemptKey, _ reason: TakeBackReason) async {
        guard let id = await transactionID(key) else { return feed(.takenBack(key)) }
        let word: ReversalRequest.Reason = reason == .refusedByTill ? .customerCancel : .malfunction
        let answer = await untilAnswered { () throws(TapClientError) in try await self.client.reverse(id, reason: word)
        }
        // Whatever is not approved any more has nothing to be taken back.
        if case .failure(let error)? = answer, error.code != .init(.transactionNotApproved) {
            logger.critical("approval not taken back: look the payment up", metadata: about(key, error))
        }
        if answer != nil { feed(.takenBack(key)) }
        forget(key)
    }

    /// The till wants a paid sale back.
    func reverse(_ key: AttemptKey) async {
        guard let id = await transactionID(key) else { return feed(.reversed(key, .refused)) }
        let before = await untilAnswered { () throws(TapClientError) in try await self.client.transaction(id) }
        if case .success(let transaction)? = before, [.reversing, .reversed].contains(transaction.state) {
            return feed(.reversed(key, .already))
        }
        switch await untilAnswered({ () throws(TapClientError) in try await self.client.reverse(id) }) {
        case .success?:
            await feedReceipts(of: id, key)
            feed(.reversed(key, .done))
        case .failure(let error)?:
            logger.warning("sale not reversed", metadata: about(key, error))
            feed(.reversed(key, .refused))
        case nil: break
        }
    }

    /// What the till makes of a reservation. Asked for again under the same key it is the same booking.
    func book(_ booking: Booking, of key: AttemptKey) async {
        guard let id = await transactionID(key), let currency = Currency(till.currency.letters) else {
            return feed(.booked(key, .refused))
        }
        var answer = await untilAnswered { () throws(TapClientError) in
            guard booking.amount > 0 else { return try await self.client.release(id, key: booking.key.text) }
            let demand = CaptureRequest(amount: Money(value: booking.amount, currency: currency))
            return try await self.client.capture(id, demand, key: booking.key.text)
        }
        while case .success(let operation)? = answer, operation.state.isOpen {
            await pause(Self.shortPause)
            answer = await untilAnswered { () throws(TapClientError) in
                try await self.client.operation(operation.id, wait: 25)
            }
        }
        switch answer {
        case .success(let operation)?:
            if operation.state == .done { await feedReceipts(of: id, key) }
            feed(.booked(key, operation.state == .done ? .done : .refused, at: TillTime(operation.updatedAt)))
        case .failure(let error)?:
            logger.warning("reservation not booked", metadata: about(key, error))
            feed(.booked(key, .refused))
        case nil: break
        }
    }

    // MARK: - Progress

    /// Passes on what a till has to know of an event.
    func happened(_ event: Event) {
        guard let id = event.transaction, let progress = TillProgress(event, in: till.language),
            let key = state.withLock({ $0.keys[id] })
        else { return }
        feed(.progress(key, progress))
    }

    private func follow(_ tap: TapTransaction, _ key: AttemptKey) async {
        let isUnwanted = state.withLock { state in
            state.ids[key] = tap.id
            state.keys[tap.id] = key
            state.mode = tap.started.mode
            return state.unwanted.remove(key) != nil
        }
        if let refusal = modeRefusal(tap.started.mode) {
            _ = await untilAnswered { () throws(TapClientError) in try await self.client.cancel(tap.id) }
            // Not confirmed, it comes back by itself even if the cancel was too late.
            return feed(.settled(key, .notPaid(refusal)))
        }
        if isUnwanted { await cancel(key) }
        do throws(TapClientError) {
            await tell(try await tap.settled(), key)
        } catch {
            await settle(tap.id, key)
        }
    }

    /// Asks until there is an end.
    private func settle(_ id: TransactionID, _ key: AttemptKey) async {
        while !Task.isCancelled {
            let answer = await untilAnswered { () throws(TapClientError) in
                try await self.client.transaction(id, wait: 25)
            }
            switch answer {
            case .success(let transaction)? where transaction.state.isSettled: return await tell(transaction, key)
            case .success?: await pause(Self.shortPause)
            case .failure(let error)?:
                logger.critical("outcome not to be had: look the payment up", metadata: about(key, error))
                return feed(.settled(key, .notPaid(TillRefusal(.failed))))
            case nil: return
            }
        }
    }

    private func tell(_ transaction: Transaction, _ key: AttemptKey) async {
        var receipts: [TillReceipt] = []
        if till.kind == .zvt, transaction.state == .approved { receipts = await self.receipts(of: transaction.id) }
        guard var outcome = TillOutcome(transaction, in: till.language, receipts: receipts) else { return }
        if case .approved(var approval) = outcome {
            // It may be heard of late, after a restart or a lost line; the daemon counts from the approval.
            let then = transaction.history.last { $0.state == .approved }?.at ?? transaction.updatedAt
            let (age, overflow) = Timestamp.now.milliseconds.subtractingReportingOverflow(then.milliseconds)
            approval.age = overflow ? .max : age
            outcome = .approved(approval)
        }
        feed(.settled(key, outcome))
        // What was approved has to be confirmed or taken back yet.
        if case .notPaid = outcome { forget(key) }
    }

    /// The receipts of a payment after something has followed it.
    private func feedReceipts(of id: TransactionID, _ key: AttemptKey) async {
        guard till.kind == .zvt else { return }
        feed(.receipts(key, await receipts(of: id)))
    }

    /// Both copies; none where they are not to be had, for the payment stands without them.
    private func receipts(of id: TransactionID) async -> [TillReceipt] {
        var receipts: [TillReceipt] = []
        for (copy, kind) in [(TillReceipt.Copy.merchant, Receipt.Copy.merchant), (.customer, .customer)] {
            let text: String
            do throws(TapClientError) {
                text = try await client.receiptText(
                    of: id, copy: kind, language: till.language, width: till.receiptWidth)
            } catch {
                logger.warning("no receipt for the till", metadata: ["till": "\(till.name)", "error": "\(error)"])
                return []
            }
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            receipts.append(TillReceipt(copy: copy, lines: lines.last == "" ? Array(lines.dropLast()) : lines))
        }
        return receipts
    }

    // MARK: - Refusals

    private func refusalOfMode() async -> TillRefusal? {
        // What was seen last may have changed with a restart, but a sale tells it again.
        if let mode = state.withLock({ $0.mode }), modeRefusal(mode) == nil { return nil }
        // A daemon that cannot say its mode says it with the payment, or that it is not there.
        guard let status = try? await client.status() else { return nil }
        state.withLock { $0.mode = status.mode }
        guard let refusal = modeRefusal(status.mode) else { return nil }
        logger.error(
            till.isTest
                ? "a till for tests asks a live daemon: remove test = true, or ask another daemon"
                : "no money moves in test mode: write test = true for a till that may sell all the same",
            metadata: ["till": "\(till.name)"])
        return refusal
    }

    private func modeRefusal(_ mode: Mode) -> TillRefusal? {
        (mode == .test) == till.isTest ? nil : TillRefusal(.notPermitted)
    }

    /// What an answer to the start of a payment says of it.
    private enum Meaning {
        /// It was not begun, and will not be.
        case refused(TillRefusal)
        /// This attempt has begun nothing; another one may be worth it.
        case notReached(TillRefusal, isFinal: Bool)
        case inDoubt
    }

    private func meaning(of error: TapClientError) -> Meaning {
        switch error.code {
        case .noAnswer, .unexpectedAnswer, .cancelled, .init(.idempotencyInProgress),
            .init(.transactionDamaged):
            return .inDoubt
        case .daemonNotRunning, .accessDenied, .notSent:
            logger.error("daemon not reached", metadata: ["till": "\(till.name)", "error": "\(error)"])
            return .notReached(TillRefusal(.serviceAway), isFinal: true)
        // Said before anybody has looked at the key.
        case .init(.requestTooManyConnections), .init(.requestTooManyConnectionsOfUser), .init(.requestTooOften),
            .init(.daemonUnavailable):
            return .notReached(TillRefusal(.busy), isFinal: false)
        case .init(.orderPaid):
            logger.critical(
                "sale paid before, and not in this till's ledger: it is not charged again; look it up and book it by hand",
                metadata: ["till": "\(till.name)", "transaction": "\(error.detail?.transaction?.text ?? "-")"])
            return .refused(TillRefusal(error.detail, in: till.language))
        default:
            logger.notice("payment refused", metadata: ["till": "\(till.name)", "error": "\(error.code.rawValue)"])
            return .refused(TillRefusal(error.detail, in: till.language))
        }
    }

    // MARK: - Asking

    /// Which transaction it is; `nil` where the daemon has never heard of it.
    private func transactionID(_ key: AttemptKey) async -> TransactionID? {
        if let id = state.withLock({ $0.ids[key] }) { return id }
        while true {
            let found = await untilAnswered { () throws(TapClientError) in
                try await self.client.transaction(idempotencyKey: key.text)
            }
            switch found {
            case .success(let transaction)?:
                state.withLock { state in
                    state.ids[key] = transaction.id
                    state.keys[transaction.id] = key
                }
                return transaction.id
            case .failure(let error)? where error.code == .init(.idempotencyKeyUnknown): return nil
            // Erased after its years: nothing of it is open.
            case .failure(let error)? where error.code == .init(.transactionErased): return nil
            // What became of its money nobody knows here: the till is told neither paid nor refused.
            case .failure(let error)? where error.code == .init(.transactionDamaged):
                logger.critical(
                    "payment damaged in the daemon's journal: ask the payment service about it",
                    metadata: about(key, error))
                await pause(Self.rightsPause)
            case .failure(let error)?:
                logger.critical(
                    "payment not looked up: give nfc-tap-ecr the rights of a cashier", metadata: about(key, error))
                await pause(Self.rightsPause)
            case nil: return nil
            }
        }
    }

    /// The daemon's answer, however long it takes; `nil` when the program ends.
    private func untilAnswered<Answer: Sendable>(
        _ ask: () async throws(TapClientError) -> Answer
    ) async -> Result<Answer, TapClientError>? {
        var time = Self.shortPause
        while !Task.isCancelled {
            do throws(TapClientError) { return .success(try await ask()) } catch {
                // Only the daemon's own word is an answer.
                guard error.isRetryable || error.detail == nil else { return Task.isCancelled ? nil : .failure(error) }
            }
            await pause(time)
            time = min(time * 2, Self.longPause)
        }
        return nil
    }

    private func pause(_ time: Duration) async { try? await Task.sleep(for: time) }

    /// Nothing more will be asked of it soon; its id can be had again by its key.
    private func forget(_ key: AttemptKey) {
        state.withLock { state in
            guard let id = state.ids.removeValue(forKey: key) else { return }
            state.keys[id] = nil
        }
    }

    private func about(_ key: AttemptKey, _ error: TapClientError) -> Logger.Metadata {
        ["till": "\(till.name)", "key": "\(key)", "error": "\(error.code.rawValue)"]
    }
}
