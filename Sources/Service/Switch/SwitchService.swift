// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Crypto
import Envelope
import ISO8583
import Linux
import LocalHTTP
import Logging
import PSPAPI
import PaymentValues
import PostgreSQL
import Synchronization

/// What a switch is for, before it is put on the wire.
struct SwitchAnswer: Equatable, Sendable {
    let status: Int
    let body: [UInt8]
    /// Seconds after which it may be asked again, for the field Retry-After.
    var retryAfter: Int?

    init(_ status: Int, _ message: some Encodable) {
        self.status = status
        body = Array(SwitchStore.answerText(message).utf8)
    }

    /// As it is in the books.
    init(stored: String) { self.init(200, text: stored) }

    private init(_ status: Int, text: String) {
        self.status = status
        body = Array(text.utf8)
    }

    static func error(_ status: Int, _ code: ErrorCode, field: String? = nil) -> SwitchAnswer {
        SwitchAnswer(status, ErrorBody(code, field: field))
    }

    static func later(_ status: Int, _ code: ErrorCode, _ seconds: Int) -> SwitchAnswer {
        var answer = error(status, code)
        answer.retryAfter = max(1, seconds)
        return answer
    }

    /// Neither that it was carried out nor that it was not. Never 404.
    static let unknown = SwitchAnswer.error(503, .storageFailed)
    /// Certainly handed on to nobody, as a proxy says it that has no replica.
    static let notHandedOn = SwitchAnswer(421, text: #"{"error":{"code":"adapter.no_upstream"}}"#)
    /// Nothing was done, and the same may succeed in a second.
    static let busy = later(503, .storageFailed, 1)
    static let running = SwitchAnswer.error(409, .idempotencyInProgress)
    static let reused = SwitchAnswer.error(422, .idempotencyKeyReused)
}

/// The calls of the contract, for whoever the till's certificate says it is.
struct SwitchService: Sendable {
    let store: SwitchStore
    let roster: TillRoster
    let keys: WatchedKeys
    let lease: Lease
    let memory: StoreMemory
    let messages: HostMessages
    /// `nil` where no acquirer is configured.
    let acquirer: Acquirer?
    let logger: Logger
    let measures: SwitchMeasures
    let mode: Mode
    let now: @Sendable () -> Timestamp
    /// `nil` where nobody sends receipts.
    var outlet: ReceiptOutlet?

    static func digest(_ message: some Encodable) -> [UInt8] {
        Array(SHA256.hash(data: Array(SwitchStore.answerText(message).utf8)))
    }

    // MARK: - Authorisations

    /// - Parameter connection: of whoever waits for the answer: once it is gone, what was not begun yet is left.
    func authorize(
        _ request: AuthorizationRequest, merchant: String?, connection: HTTPConnection? = nil
    ) async throws(DatabaseError) -> SwitchAnswer {
        guard (0...Limits.amount).contains(request.amount.value) else {
            return .error(
                400, request.amount.value < 0 ? .amountTotalNotPositive : .amountTooLarge, field: "amount.value")
        }
        guard request.mode == mode else { return .error(403, .pspRefused, field: "mode") }
        guard merchant == nil || merchant == request.terminal.merchant,
            let acceptor = try await roster.acceptor(request.terminal, at: MachineClock.awake)
        else { return .error(403, .pspRefused, field: "terminal") }
        let body = Self.digest(request)
        let bare = PaymentIntent(request: request, body: body, token: nil, record: nil)
        let read: Read
        switch await self.read(request, connection) {
        case .success(let opened): read = opened
        case .failure(.unavailable):
            // Nothing is known of the read. What is known of the payment is told all the same.
            guard let known = try await store.payment(request.id.text) else { return .unknown }
            return answer(known, to: body)
        case .failure(.busy):
            guard let known = try await store.payment(request.id.text) else { return .busy }
            return answer(known, to: body)
        case .failure(.unknownKey):
            measures.count(.unknownKey)
            logger.critical("an envelope names a key that is not here", metadata: ["id": "\(request.id)"])
            return try await refuse(bare, .unreadable)
        case .failure(.unreadable): return try await refuse(bare, .unreadable)
        }
        let intent = PaymentIntent(
            request: request, body: body, token: read.token, record: read.record.id,
            cryptogram: read.record.cryptogram)
        let isWithinRefunds = try await isWithinRefunds(request, acceptor)
        let message: ISOMessage
        do throws(RequestFault) {
            try read.record.check(request, now: now())
            guard request.amount.value > 0 else { throw .unsupported }
            if let fault = acceptor.limits.fault(request) { throw fault }
            guard isWithinRefunds else { throw .overLimit }
            message = try messages.payment(request, read.record, acceptor, now: now())
        } catch {
            return try await refuse(intent, error)
        }
        // Whoever has gone asks again, and finds nothing: it may be sent once more.
        guard connection?.isClosed != true else { return .unknown }
        return try await submit(intent, message)
    }

    /// Whether a refund without its payment is one of those that its merchant may give in a day.
    private func isWithinRefunds(
        _ request: AuthorizationRequest, _ acceptor: Acceptor
    ) async throws(DatabaseError) -> Bool {
        guard request.type == .refund, let most = acceptor.limits.mostRefunded else { return true }
        let sum = try await store.refunded(acceptor.merchant, besides: request.id.text)
        return sum <= most && request.amount.value <= most - sum
    }

    /// An opened envelope.
    private struct Read {
        let record: OpenedRecord
        let token: String
    }

    private func read(
        _ request: AuthorizationRequest, _ connection: HTTPConnection?
    ) async -> Result<Read, OpeningRefusal> {
        let reading = Task(executorPreference: SocketThread.shared) { await read(request) }
        // What waits for the token is left where nobody waits for it any more.
        let leaving = connection?.onClose { reading.cancel() }
        defer { leaving?.cancel() }
        return await reading.value
    }

    private func read(_ request: AuthorizationRequest) async -> Result<Read, OpeningRefusal> {
        let start = MachineClock.awake
        // What the number is taken from is read once.
        let opened = FirstRead()
        do throws(OpeningRefusal) {
            let (_, token) = try await keys.open(request.envelope, merchant: request.terminal.merchant) { plaintext in
                opened.read(plaintext)?.number
            }
            guard let token, let record = opened.record else { return .failure(.unreadable) }
            measures.observe(.keys, since: start)
            return .success(Read(record: record, token: token))
        } catch {
            return .failure(error)
        }
    }

    /// What was read of an envelope, for whoever asked for its name alone.
    private final class FirstRead: Sendable {
        private let state = Mutex<OpenedRecord?>(nil)

        var record: OpenedRecord? { state.withLock { $0 } }

        func read(_ plaintext: SecretBytes) -> OpenedRecord? {
            let record = try? OpenedRecord(plaintext)
            state.withLock { $0 = record }
            return record
        }
    }

    private func submit(_ intent: PaymentIntent, _ message: ISOMessage) async throws(DatabaseError) -> SwitchAnswer {
        guard let acquirer else { return try await decline(intent, HostDecision(.declined, "91")) }
        switch await acquirer.submit(.payment(intent), message) {
        case .answer(let text): return SwitchAnswer(stored: text)
        case .pending: return SwitchAnswer(200, AuthorizationAnswer(outcome: .pending))
        case .knownPayment(let known): return answer(known, to: intent.body)
        case .replayed: return try await refuse(intent, .replayed)
        case .inUse:
            guard let known = try await store.payment(intent.request.id.text) else { return .running }
            return answer(known, to: intent.body)
        case .notSent(let decision): return try await decline(intent, decision)
        case .failed, .moved, .unknownPayment, .knownOperation: return .unknown
        }
    }

    private func answer(_ known: KnownPayment, to body: [UInt8]) -> SwitchAnswer {
        if known.state == "void" { return Self.unwanted }
        guard known.body == body else { return .reused }
        return known.answer.map { SwitchAnswer(stored: $0) } ?? .running
    }

    /// Of a payment that was taken back before it came.
    private static let unwanted = SwitchAnswer(200, AuthorizationAnswer(outcome: .declined, responseCode: "94"))

    private func refuse(_ intent: PaymentIntent, _ fault: RequestFault) async throws(DatabaseError) -> SwitchAnswer {
        logger.warning(
            "a payment was refused before the acquirer was asked",
            metadata: ["id": "\(intent.request.id)", "reason": "\(fault)"])
        measures.count(.refused)
        // Its read belongs to the payment that it was used for.
        let bare = PaymentIntent(request: intent.request, body: intent.body, token: intent.token, record: nil)
        return try await decline(bare, HostDecision(.declined, fault.code))
    }

    /// With nobody asked; the same key gets the same answer.
    private func decline(_ intent: PaymentIntent, _ decision: HostDecision) async throws(DatabaseError) -> SwitchAnswer
    {
        let answer = decision.answer(
            to: intent.request.amount, intent.request.type, reference: nil, token: intent.token, holdUntil: now())
        let text = SwitchStore.answerText(answer)
        if let known = try await store.refuse(intent, text) { return self.answer(known, to: intent.body) }
        return SwitchAnswer(stored: text)
    }

    func status(of id: TransactionID, merchant: String?) async throws(DatabaseError) -> SwitchAnswer {
        guard let known = try await store.payment(id.text), merchant == nil || merchant == known.merchant else {
            return .error(404, .transactionUnknown)
        }
        if known.state == "void" { return Self.unwanted }
        return known.answer.map { SwitchAnswer(stored: $0) }
            ?? SwitchAnswer(200, AuthorizationAnswer(outcome: .pending))
    }

    func reverse(
        _ id: TransactionID, _ request: ReversalRequest, merchant: String?
    ) async throws(DatabaseError) -> SwitchAnswer {
        switch try await store.reverse(id.text, request, merchant: merchant) {
        case .done: SwitchAnswer(200, ReversalAnswer(status: .done, how: .voided))
        case .queued: SwitchAnswer(202, ReversalAnswer(status: .queued, how: .voided))
        case .otherCurrency: .error(400, .amountCurrencyMismatch, field: "amount.currency")
        case .refused: .error(403, .pspRefused)
        case .foreign: foreign(id)
        }
    }

    /// As for an id that nobody has: of this merchant nothing is booked under it.
    private func foreign(_ id: TransactionID) -> SwitchAnswer {
        logger.warning("a till took back what is another merchant's: nothing was done", metadata: ["id": "\(id)"])
        return SwitchAnswer(200, ReversalAnswer(status: .done, how: .voided))
    }

    // MARK: - What a replica can do

    private static let always: [AdapterFeature] = [
        .sale, .preauth, .refund, .capture, .multicapture, .release, .refundLinked, .refundReversal,
    ]

    var supports: [AdapterFeature] { outlet == nil ? Self.always : Self.always + [.receipt] }

    /// 503 where this replica can take no payment though others may: it cannot write one, or cannot open one.
    func health() async -> SwitchAnswer {
        let works = lease.isFresh(at: MachineClock.awake) && !memory.isBehind
        let hasKeys = works ? await keys.canOpen() : false
        let isReached = await acquirer?.isReached ?? false
        return SwitchAnswer(
            works && hasKeys ? 200 : 503,
            AdapterHealth(
                status: works && hasKeys && acquirer != nil ? (isReached ? .ok : .degraded) : .down,
                protocolVersions: ["v1"], supports: supports.map(\.rawValue), keyLife: Self.keyLife))
    }

    /// What tills may seal to.
    func recipients() async -> SwitchAnswer {
        do throws(OpeningRefusal) { return SwitchAnswer(stored: try await keys.recipients().jwks) } catch {
            return error == .busy ? .busy : .unknown
        }
    }

    /// Payments are erased after years; what a till may rely on.
    static let keyLife: Int64 = 31 * 86_400
}
