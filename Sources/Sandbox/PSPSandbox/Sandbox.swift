// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Crypto
public import Envelope
import LocalHTTP
public import PSPAPI
public import PaymentValues

/// A payment service for tests: opens the envelope, checks the card record as an issuer would, and answers by the amount.
/// Its books are its own: none of the daemon's arithmetic is used, so that a fault there does not hide here.
public actor Sandbox {
    nonisolated let key: RecipientPrivateKey
    nonisolated let timing: SandboxTiming
    /// What health says and operations are taken for.
    nonisolated let features: Set<AdapterFeature>
    nonisolated let now: @Sendable () -> Timestamp
    let store: any SandboxStore
    private let started: Timestamp
    /// What `GET /v1/profile` serves; `nil` for 404.
    private var profile: SandboxProfile?

    /// Keeps its books in memory.
    ///
    /// - Parameter now: the clock by which records go stale, cards expire and holds end.
    public init(
        key: RecipientPrivateKey, timing: SandboxTiming = SandboxTiming(), profile: SandboxProfile? = nil,
        features: Set<AdapterFeature> = Set(AdapterFeature.allCases),
        now: @escaping @Sendable () -> Timestamp = { .now }
    ) {
        self.init(key, timing, profile, features, MemoryStore(secret: Self.newSecret), now)
    }

    /// Keeps its books in a file that other sandboxes may have open too, as replicas of the same adapter.
    ///
    /// - Throws: `StoreError` for a file that cannot be opened.
    public init(
        key: RecipientPrivateKey, storePath: String, timing: SandboxTiming = SandboxTiming(),
        profile: SandboxProfile? = nil, features: Set<AdapterFeature> = Set(AdapterFeature.allCases),
        now: @escaping @Sendable () -> Timestamp = { .now }
    ) throws(StoreError) {
        self.init(key, timing, profile, features, try FileStore(path: storePath, secret: Self.newSecret), now)
    }

    private init(
        _ key: RecipientPrivateKey, _ timing: SandboxTiming, _ profile: SandboxProfile?,
        _ features: Set<AdapterFeature>, _ store: sending any SandboxStore, _ now: @escaping @Sendable () -> Timestamp
    ) {
        self.key = key
        self.timing = timing
        self.features = features
        self.now = now
        self.profile = profile
        self.store = store
        started = now()
    }

    private static var newSecret: [UInt8] { (0..<32).map { _ in UInt8.random(in: .min ... .max) } }

    /// Serves another profile from now on.
    public func serve(_ profile: SandboxProfile?) { self.profile = profile }

    /// `nil` where it serves no profile.
    func profileToken() -> String? {
        profile?.token(start: started, now: now(), recipients: recipients.jwks)
    }

    nonisolated var recipients: RecipientKeySet { RecipientKeySet(keys: key.publicKey.map { [$0] } ?? []) }

    /// Empty where a file cannot be read; `report` says so.
    public var ledger: LedgerReport {
        do throws(StoreError) { return try report() } catch { return LedgerReport([]) }
    }

    func report() throws(StoreError) -> LedgerReport {
        LedgerReport(try store.payments().compactMap(\.entry))
    }

    // MARK: - Authorisation

    /// Decides, writes the books, waits where the amount asks for it, and answers.
    ///
    /// - Parameter isOwnKey: the request came under its own id. Under another key an id that is known is no repetition.
    func authorize(
        _ request: AuthorizationRequest, isOwnKey: Bool = true
    ) async throws(StoreError) -> SandboxAnswer {
        guard (0...Limits.amount).contains(request.amount.value) else {
            return .error(
                400, request.amount.value < 0 ? .amountTotalNotPositive : .amountTooLarge, field: "amount.value")
        }
        let before = try store.payment(request.id)
        if before?.isInBatch == true, let answer = before?.answer { return SandboxAnswer(answer, to: request.id) }
        return try await answer(request.id, request.amount) { (rule) throws(StoreError) in
            try decide(request, rule, isOwnKey: isOwnKey)
        }
    }

    /// What is decided, as the amount has it answered.
    func answer(
        _ id: TransactionID, _ amount: Money, deciding decide: (AmountRule) throws(StoreError) -> AuthorizationAnswer
    ) async throws(StoreError) -> SandboxAnswer {
        let rule = AmountRule(minorUnits: amount.value)
        if rule == .fault(.serverError) {
            return SandboxAnswer(500, ErrorBody(.internalFault), fault: .serverError)
        }
        let answer = try decide(rule)
        guard case .fault(let fault) = rule, answer.outcome == .approved else { return SandboxAnswer(answer, to: id) }
        if let delay = timing.delay(of: fault) {
            // A cancelled sleep means that the sandbox is being stopped: nobody waits for the answer any more.
            try? await Task.sleep(for: delay)
            try change(id) { $0.visibleFrom = nil }
        }
        return SandboxAnswer(answer, to: id, fault: fault)
    }

    /// Books what came in a batch, unless it was booked before.
    func book(_ request: AuthorizationRequest) throws(StoreError) {
        guard try store.payment(request.id)?.answer == nil else { return }
        _ = try decide(request, AmountRule(minorUnits: request.amount.value), isOwnKey: true)
        try change(request.id) { payment in
            payment.isInBatch = true
            payment.visibleFrom = nil
            payment.entry?.answered = true
        }
    }

    /// What was decided before stands, whoever asks: a replica that took over a request that another one has carried out
    /// finds it here.
    private func decide(
        _ request: AuthorizationRequest, _ rule: AmountRule, isOwnKey: Bool
    ) throws(StoreError) -> AuthorizationAnswer {
        try store.atomically { () throws(StoreError) in
            var payment = try store.payment(request.id) ?? BookedPayment(id: request.id)
            if let answer = payment.answer {
                return isOwnKey
                    ? answer
                    : AuthorizationAnswer(outcome: .declined, responseCode: EnvelopeFault.replayed.responseCode)
            }
            var entry = LedgerEntry(request)
            var answer: AuthorizationAnswer
            switch try check(request, &payment) {
            case .success(let cryptogram):
                entry.cryptogram = cryptogram
                answer =
                    SandboxContinuations.wish(on: request, by: features) ?? AmountRule.answer(rule, to: request.amount)
                answer.cardToken = payment.cardToken
                if features.contains(.pinFallback) { answer.keepRead(of: request, at: now()) }
                if payment.isUnwanted { answer = AuthorizationAnswer(outcome: .declined, responseCode: "94") }
            case .failure(let fault):
                entry.failedCheck = "\(fault)"
                answer = AuthorizationAnswer(outcome: .declined, responseCode: fault.responseCode)
                answer.action = AuthorizationAnswer.Action.none
                if fault == .wrongPIN { answer = SandboxContinuations.wrongPIN(request, by: features) ?? answer }
            }
            if answer.outcome == .approved || answer.outcome == .partial, request.type != .refund,
                request.agreement != nil, features.contains(.charge)
            {
                payment.isStored = true
                answer.networkReference = "NETWORK-\(request.id.text.prefix(8))"
            }
            payment.terminal = request.terminal.id
            return try book(&payment, entry, answer, rule)
        }
    }

    /// Books what was decided.
    func book(
        _ payment: inout BookedPayment, _ entry: LedgerEntry, _ answer: AuthorizationAnswer, _ rule: AmountRule
    ) throws(StoreError) -> AuthorizationAnswer {
        var (entry, answer) = (entry, answer)
        let number = try store.nextReference()
        answer.pspReference = "SANDBOX-\(number)"
        if answer.outcome == .approved || answer.outcome == .partial {
            answer.approvalCode = String(String(1_000_000 + number % 1_000_000).dropFirst())
            // A name that is reserved for examples (RFC 2606): the link leads nowhere.
            answer.receiptURL = "https://receipts.example/\(payment.id)"
            entry.approve(&answer, holdingUntil: now().advanced(by: timing.hold))
        }
        entry.responseCode = answer.responseCode
        payment.note(entry.type == .refund ? .refunded : .captured, payment.id.text, 0, entry, at: now())
        if case .fault(let fault) = rule, let delay = timing.delay(of: fault) {
            payment.visibleFrom = now().advanced(by: delay)
        }
        payment.entry = entry
        payment.answer = answer
        try store.save(payment)
        return answer
    }

    /// - Returns: what the test issuer says of the cryptogram.
    private func check(
        _ request: AuthorizationRequest, _ payment: inout BookedPayment
    ) throws(StoreError) -> Result<String, EnvelopeFault> {
        let record: OpenedRecord
        do throws(EnvelopeFault) { record = try OpenedRecord(of: request, with: key, at: now()) } catch {
            return .failure(error)
        }
        guard try store.noteOnce("record " + record.id) else { return .failure(.replayed) }
        payment.cardToken = CardToken.make(
            record.digits, merchant: request.terminal.merchant, secret: SymmetricKey(data: try store.secret()))
        guard try store.isFresh(request.pin) else { return .failure(.replayed) }
        do throws(EnvelopeFault) {
            try record.checkPIN(of: request)
            return .success(try record.verdict(on: request, at: now()))
        } catch {
            return .failure(error)
        }
    }

    /// The card's name in the read of a refund; `nil` where the read is not good.
    func cardToken(ofRefund request: AuthorizationRequest) throws(StoreError) -> String? {
        var read = BookedPayment(id: request.id)
        guard case .success = try check(request, &read) else { return nil }
        return read.cardToken
    }

    /// `nil` for one that was never seen. One that nobody is to learn of stays pending.
    func status(of id: TransactionID) throws(StoreError) -> AuthorizationAnswer? {
        guard let payment = try store.payment(id), let answer = payment.answer, let entry = payment.entry else {
            return nil
        }
        let isRunning = payment.visibleFrom.map { now() < $0 } ?? false
        if isRunning || AmountRule(minorUnits: entry.amount.value) == .fault(.neverAnswers) {
            return AuthorizationAnswer(outcome: .pending)
        }
        return answer
    }

    /// The client was there and got a whole answer.
    func answered(_ id: TransactionID) throws(StoreError) { try change(id) { $0.entry?.answered = true } }

    /// Changes what is booked; nothing where nothing is.
    func change(_ id: TransactionID, _ change: (inout BookedPayment) -> Void) throws(StoreError) {
        try store.atomically { () throws(StoreError) in
            guard var payment = try store.payment(id) else { return }
            change(&payment)
            try store.save(payment)
        }
    }
}

extension AuthorizationAnswer {
    /// A sale whose card wants a PIN, or the chip, may continue by a link or at another terminal.
    fileprivate mutating func keepRead(of request: AuthorizationRequest, at now: Timestamp) {
        guard request.type == .sale, action == .pinRequired || action == .useContact else { return }
        readKeptUntil = now.advanced(bySeconds: 300)
    }
}

extension AmountRule {
    /// The answer that the table gives; a fault is an approval that goes wrong on its way.
    static func answer(_ rule: AmountRule, to amount: Money) -> AuthorizationAnswer {
        switch rule {
        case .approve(let code):
            return AuthorizationAnswer(outcome: .approved, responseCode: code)
        case .approveHalf:
            var answer = AuthorizationAnswer(outcome: .partial, responseCode: "10")
            answer.amountApproved = Money(value: amount.value / 2, currency: amount.currency)
            return answer
        case .decline(let code, let action):
            var answer = AuthorizationAnswer(outcome: .declined, responseCode: code)
            answer.action = action
            return answer
        case .fault:
            return AuthorizationAnswer(outcome: .approved, responseCode: "00")
        }
    }
}
