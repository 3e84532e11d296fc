// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Crypto
public import Envelope
import LocalHTTP
public import Wire

/// A payment service for tests: opens the envelope, checks the card record as an issuer would, and answers by the amount.
/// Keeps its books in memory. It has a stored property for each book and each thing that a test makes it do differently.
public actor Sandbox {
    nonisolated let key: RecipientPrivateKey
    private let timing: SandboxTiming
    private let now: @Sendable () -> Timestamp
    private var order: [TransactionID] = []
    private var entries: [TransactionID: LedgerEntry] = [:]
    private var answers: [TransactionID: AuthorizationAnswer] = [:]
    private var seenRecords: Set<String> = []
    private var tokens: [TransactionID: String] = [:]
    private let tokenSecret = SymmetricKey(size: .bits256)
    private var references: UInt64 = 0
    /// Booked from a batch: one that is forwarded as well gets the answer that stands.
    /// Reversed before they came.
    private var unwanted: Set<TransactionID> = []
    private var inBatches: Set<TransactionID> = []
    private var running: Set<TransactionID> = []
    private var memory = RequestMemory()
    private let started: Timestamp
    /// What `GET /v1/profile` serves; `nil` for 404.
    private var profile: SandboxProfile?

    /// - Parameter now: the clock by which records go stale and cards expire.
    public init(
        key: RecipientPrivateKey, timing: SandboxTiming = SandboxTiming(), profile: SandboxProfile? = nil,
        now: @escaping @Sendable () -> Timestamp = { .now }
    ) {
        self.key = key
        self.timing = timing
        self.now = now
        self.profile = profile
        started = now()
    }

    /// Serves another profile from now on.
    public func serve(_ profile: SandboxProfile?) { self.profile = profile }

    /// `nil` where it serves no profile.
    func profileToken() -> String? {
        profile?.token(start: started, now: now(), recipients: recipients.jwks)
    }

    nonisolated var recipients: RecipientKeySet { RecipientKeySet(keys: key.publicKey.map { [$0] } ?? []) }

    public var ledger: LedgerReport { LedgerReport(order.compactMap { entries[$0] }) }

    // MARK: - Authorisation

    /// Decides, writes the books, waits where the amount asks for it, and answers.
    func authorize(_ request: AuthorizationRequest) async -> SandboxAnswer {
        guard (0...Limits.amount).contains(request.amount.value) else {
            return .error(
                400, request.amount.value < 0 ? .amountTotalNotPositive : .amountTooLarge, field: "amount.value")
        }
        if inBatches.contains(request.id), let answer = answers[request.id] {
            return SandboxAnswer(answer, to: request.id)
        }
        let rule = AmountRule(minorUnits: request.amount.value)
        if rule == .fault(.serverError) {
            return SandboxAnswer(500, ErrorBody(.internalFault), fault: .serverError)
        }
        running.insert(request.id)
        defer { running.remove(request.id) }
        let answer = decide(request, rule)
        guard case .fault(let fault) = rule, answer.outcome == .approved else {
            return SandboxAnswer(answer, to: request.id)
        }
        // A cancelled sleep means that the sandbox is being stopped: nobody waits for the answer any more.
        switch fault {
        case .slow: try? await Task.sleep(for: timing.slow)
        case .late: try? await Task.sleep(for: timing.late)
        case .serverError, .answersTwice, .closesMidBody, .garbage, .neverAnswers: break
        }
        return SandboxAnswer(answer, to: request.id, fault: fault)
    }

    /// Books what came in a batch, unless it was booked before.
    func book(_ request: AuthorizationRequest) {
        guard answers[request.id] == nil else { return }
        _ = decide(request, AmountRule(minorUnits: request.amount.value))
        inBatches.insert(request.id)
        answered(request.id)
    }

    private func decide(_ request: AuthorizationRequest, _ rule: AmountRule) -> AuthorizationAnswer {
        var entry = LedgerEntry(request)
        if entries[request.id] == nil { order.append(request.id) }
        var answer: AuthorizationAnswer
        do throws(EnvelopeFault) {
            entry.cryptogram = try check(request)
            answer = AmountRule.answer(rule, to: request.amount)
            answer.cardToken = tokens[request.id]
            if unwanted.contains(request.id) { answer = AuthorizationAnswer(outcome: .declined, responseCode: "94") }
        } catch {
            entry.failedCheck = "\(error)"
            answer = AuthorizationAnswer(outcome: .declined, responseCode: error.responseCode)
            answer.action = AuthorizationAnswer.Action.none
        }
        references += 1
        answer.pspReference = "SANDBOX-\(references)"
        if answer.outcome == .approved || answer.outcome == .partial {
            answer.approvalCode = String(String(1_000_000 + references % 1_000_000).dropFirst())
            // A name that is reserved for examples (RFC 2606): the link leads nowhere.
            answer.receiptURL = "https://receipts.example/\(request.id)"
            entry.authorised = answer.amountApproved?.value ?? request.amount.value
        }
        entry.state = answer.outcome == .declined ? .declined : .approved
        entry.responseCode = answer.responseCode
        entries[request.id] = entry
        answers[request.id] = answer
        return answer
    }

    /// - Returns: what the test issuer says of the cryptogram.
    private func check(_ request: AuthorizationRequest) throws(EnvelopeFault) -> String {
        let record: OpenedRecord
        do {
            record = try OpenedRecord(JWE.open(request.envelope, with: key))
        } catch {
            throw .unreadable
        }
        guard record.transaction == request.id.text, Int64(exactly: record.amount) == request.amount.value,
            record.currency == request.amount.currency.code,
            record.digits.suffix(4).map({ $0 | 0x30 }) == Array(request.card.last4.utf8)
        else { throw .mismatch }
        // What a card has approved by itself may come later: up to thirty days.
        let grace: Int64 = request.offline ? 30 * 24 * 3_600 : 0
        guard Int64(clamping: record.expires) > now().milliseconds / 1_000 - grace else { throw .stale }
        guard seenRecords.insert(record.id).inserted else { throw .replayed }
        tokens[request.id] = CardToken.make(record.digits, merchant: request.terminal.merchant, secret: tokenSecret)
        guard record.passesLuhn else { throw .invalidNumber }
        guard !record.isExpired(at: now()) else { throw .expiredCard }
        guard record.objects.contains(where: { $0.0 == 0x9F26 }) || request.entryMode == .contactlessMagstripe else {
            throw .wrongCryptogram
        }
        switch TestIssuer.verify(record.objects) {
        case .verified: return "verified"
        // Another test set's card: its issuer's keys are not known here, so that nothing can be said against it.
        case .unknownCard: return "unknownCard"
        case .wrongCryptogram: throw .wrongCryptogram
        case .missing:
            guard request.entryMode == .contactlessMagstripe else { throw .incompleteData }
            return "missing"
        }
    }

    // MARK: - What follows an authorisation

    /// `nil` for one that was never seen. One that nobody is to learn of stays pending.
    func status(of id: TransactionID) -> AuthorizationAnswer? {
        guard let answer = answers[id], let entry = entries[id] else { return nil }
        if running.contains(id) || AmountRule(minorUnits: entry.amount.value) == .fault(.neverAnswers) {
            return AuthorizationAnswer(outcome: .pending)
        }
        return answer
    }

    /// Takes back all of it, or a part. One that is not known is reversed too: there is nothing to take back.
    func reverse(_ id: TransactionID, _ request: ReversalRequest) -> SandboxAnswer {
        guard var entry = entries[id] else {
            unwanted.insert(id)
            return SandboxAnswer(200, ReversalAnswer(status: .done))
        }
        if let amount = request.amount, let refusal = refusal(of: amount, for: entry) { return refusal }
        entry.reversed = min(entry.authorised, entry.reversed + (request.amount?.value ?? entry.authorised))
        if entry.outstanding == 0, entry.state == .approved { entry.state = .reversed }
        entries[id] = entry
        return SandboxAnswer(200, ReversalAnswer(status: .done))
    }

    func complete(_ id: TransactionID, _ request: CompletionRequest) -> SandboxAnswer {
        changed(id, request.amount) { entry in
            entry.completed = request.amount.value
        }
    }

    func refund(_ id: TransactionID, _ request: RefundRequest) -> SandboxAnswer {
        changed(id, request.amount) { entry in
            entry.refunded += request.amount.value
        }
    }

    /// The client was there and got a whole answer.
    func answered(_ id: TransactionID) { entries[id]?.answered = true }

    // MARK: - Idempotency

    func begin(path: String, key: String, body: [UInt8]) -> RequestMemory.Recall {
        memory.begin(path: path, key: key, body: body)
    }

    /// An answer of 500 is not remembered: the request may be sent again and is carried out anew.
    func finish(path: String, key: String, with answer: SandboxAnswer) {
        if answer.status == 500 {
            memory.forget(path: path, key: key)
        } else {
            memory.finish(path: path, key: key, with: answer)
        }
    }

    private func refusal(of amount: Money, for entry: LedgerEntry) -> SandboxAnswer? {
        guard (1...Limits.amount).contains(amount.value) else {
            return .error(400, amount.value < 1 ? .amountTotalNotPositive : .amountTooLarge, field: "amount.value")
        }
        guard amount.currency == entry.amount.currency else {
            return .error(400, .amountCurrencyMismatch, field: "amount.currency")
        }
        return nil
    }

    private func changed(
        _ id: TransactionID, _ amount: Money, _ change: (inout LedgerEntry) -> Void
    ) -> SandboxAnswer {
        guard var entry = entries[id] else { return .error(404, .transactionUnknown) }
        if let refusal = refusal(of: amount, for: entry) { return refusal }
        change(&entry)
        entries[id] = entry
        references += 1
        var answer = AuthorizationAnswer(outcome: .approved, responseCode: "00")
        answer.pspReference = "SANDBOX-\(references)"
        answer.amountApproved = amount
        return SandboxAnswer(200, answer)
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
