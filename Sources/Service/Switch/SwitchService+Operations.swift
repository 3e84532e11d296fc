// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Envelope
import ISO8583
import Linux
import Logging
import PSPAPI
import PaymentValues
import PostgreSQL

/// An operation as it was asked for.
struct OperationRequest: Sendable {
    let id: OperationID
    let kind: OperationKind
    let body: [UInt8]
    let amount: Money
    var tip: Int64 = 0
    var isFinal = false
    var refusal: PostingRefusal?
    /// The message, where it is about another card than the payment's.
    var message: ISOMessage?
}

extension SwitchService {
    func complete(
        _ id: TransactionID, _ request: CaptureRequest, merchant: String?
    ) async throws(DatabaseError) -> SwitchAnswer {
        var wish = OperationRequest(
            id: request.id, kind: .capture, body: Self.digest(request), amount: request.amount)
        wish.tip = request.tip?.value ?? 0
        wish.isFinal = request.final
        return try await carryOut(wish, on: id, merchant)
    }

    func release(
        _ id: TransactionID, _ request: ReleaseRequest, merchant: String?
    ) async throws(DatabaseError) -> SwitchAnswer {
        let wish = OperationRequest(id: request.id, kind: .release, body: Self.digest(request), amount: request.amount)
        return try await carryOut(wish, on: id, merchant)
    }

    func refund(
        _ id: TransactionID, _ request: RefundRequest, merchant: String?
    ) async throws(DatabaseError) -> SwitchAnswer {
        guard let operation = OperationID(request.id.text) else {
            return .error(400, .requestInvalidField, field: "id")
        }
        guard (request.card != .none) == (request.authorization != nil) else {
            return .error(400, .requestFieldConflict, field: "authorization")
        }
        var wish = OperationRequest(id: operation, kind: .refund, body: Self.digest(request), amount: request.amount)
        if let read = request.authorization {
            guard read.id == request.id, read.amount == request.amount, read.type == .refund, read.mode == request.mode,
                merchant == nil || read.terminal.merchant == merchant
            else { return .error(400, .requestInvalidField, field: "authorization") }
            if let known = try await store.operation(operation.text) { return answer(known, to: wish, on: id.text) }
            guard let card = try await card(read, wish) else { return .unknown }
            (wish.message, wish.refusal) = (card.message, card.refusal)
            let token = try await store.payment(id.text)?.row["token"]
            if request.card == .same, card.token != token { wish.refusal = .otherCard }
        }
        return try await carryOut(wish, on: id, merchant)
    }

    /// The card that was read for a refund; `nil` where the keys cannot be used now.
    private func card(
        _ read: AuthorizationRequest, _ wish: OperationRequest
    ) async throws(DatabaseError) -> (message: ISOMessage?, token: String?, refusal: PostingRefusal?)? {
        guard let acceptor = try await roster.acceptor(read.terminal, at: MachineClock.awake) else {
            return (nil, nil, .unsupported)
        }
        do {
            let record = try OpenedRecord(try await keys.open(read.envelope))
            try record.check(read, now: now())
            let token = try await keys.cardToken(merchant: read.terminal.merchant, number: record.number)
            return (try messages.payment(read, record, acceptor, now: now()), token, nil)
        } catch OpeningRefusal.unavailable, OpeningRefusal.busy {
            return nil
        } catch {
            tell(wish.id.text, error)
            return (nil, nil, .otherCard)
        }
    }

    /// What stays so until somebody brings the key, or for ever.
    private func tell(_ id: String, _ error: any Error) {
        switch error as? OpeningRefusal {
        case .unknownKey: measures.count(.unknownKey)
        case .unreadable: measures.count(.unreadable)
        case .unavailable, .busy, nil: return
        }
        logger.critical(
            "an operation cannot be read: look at the keys", metadata: ["id": "\(id)", "reason": "\(error)"])
    }

    func status(ofOperation id: OperationID, merchant: String?) async throws(DatabaseError) -> SwitchAnswer {
        guard let known = try await store.operation(id.text), merchant == nil || merchant == known.merchant else {
            return .error(404, .transactionUnknown)
        }
        return known.answer.map { SwitchAnswer(stored: $0) } ?? pending(id)
    }

    private func pending(_ id: OperationID) -> SwitchAnswer {
        SwitchAnswer(200, AdapterOperationAnswer(id: id, outcome: .pending))
    }

    /// The id belongs to one operation of one kind on one payment, which one merchant owns: for another one it is used up, and nothing of what it
    /// stands for is told.
    private func answer(_ known: KnownOperation, to wish: OperationRequest, on payment: String) -> SwitchAnswer {
        answer(known, to: wish.body, wish.kind, on: payment)
    }

    private func answer(
        _ known: KnownOperation, to body: [UInt8], _ kind: OperationKind, on payment: String
    ) -> SwitchAnswer {
        guard known.body == body, known.kind == kind.rawValue, known.payment == payment.lowercased() else {
            return .reused
        }
        return known.answer.map { SwitchAnswer(stored: $0) } ?? .running
    }

    // MARK: - One way for all of them

    private func carryOut(
        _ wish: OperationRequest, on payment: TransactionID, _ merchant: String?
    ) async throws(DatabaseError) -> SwitchAnswer {
        guard (1...Limits.amount).contains(wish.amount.value) else {
            return .error(
                400, wish.amount.value < 1 ? .amountTotalNotPositive : .amountTooLarge, field: "amount.value")
        }
        if wish.kind == .refund { try await awaitReversals(payment.text, wish.amount.value) }
        // Another operation may be faster; each time one of them is over.
        for _ in 0..<5 {
            guard let known = try await store.payment(payment.text), merchant == nil || merchant == known.merchant,
                let money = try known.money
            else { return .error(404, .transactionUnknown) }
            guard money.currency == wish.amount.currency else {
                return .error(400, .amountCurrencyMismatch, field: "amount.currency")
            }
            var wish = wish
            var message: ISOMessage?
            if wish.refusal == nil, acquirer != nil {
                switch await self.message(wish, known) {
                case .success(let made): message = made
                case .failure(.busy): return .busy
                case .failure(.unavailable): return .unknown
                case .failure(.unreadable), .failure(.unknownKey): wish.refusal = .unsupported
                }
            }
            let intent = OperationIntent(
                id: wish.id, payment: payment.text, kind: wish.kind, body: wish.body, amount: wish.amount,
                tip: wish.tip, isFinal: wish.isFinal, seen: try known.figures)
            if let answer = try await submit(intent, message, wish.refusal) { return answer }
        }
        return .unknown
    }

    /// A refund that is being taken back holds its sum until the host has confirmed that, mostly for a moment: where it alone is in the way it is waited for.
    private func awaitReversals(_ payment: String, _ value: Int64) async throws(DatabaseError) {
        for _ in 0..<20 {
            guard let figures = try await store.payment(payment)?.figures else { return }
            let free = figures.captured - figures.refunded
            guard value > free, value <= free + (try await store.heldByReversals(payment)) else { return }
            // A cancelled sleep ends early, which does no harm.
            try? await Task.sleep(for: .milliseconds(200))
        }
    }

    /// `nil` where the figures have moved.
    private func submit(
        _ intent: OperationIntent, _ message: ISOMessage?, _ refusal: PostingRefusal?
    ) async throws(DatabaseError) -> SwitchAnswer? {
        guard let acquirer, let message else {
            switch try await store.begin(intent, nil, refusal: refusal ?? .unsupported) {
            case .refused(let text): return SwitchAnswer(stored: text)
            case .known(let known): return answer(known, to: intent.body, intent.kind, on: intent.payment)
            case .unknownPayment: return .error(404, .transactionUnknown)
            case .begun, .moved: return .unknown
            }
        }
        switch await acquirer.submit(.operation(intent), message) {
        case .answer(let text): return SwitchAnswer(stored: text)
        case .pending: return pending(intent.id)
        case .knownOperation(let known): return answer(known, to: intent.body, intent.kind, on: intent.payment)
        case .inUse:
            guard let known = try await store.operation(intent.id.text) else { return .running }
            return answer(known, to: intent.body, intent.kind, on: intent.payment)
        case .moved: return nil
        case .unknownPayment: return .error(404, .transactionUnknown)
        // It was not begun: the till may ask again.
        case .notSent, .failed, .replayed, .knownPayment: return .unknown
        }
    }

    private func message(
        _ wish: OperationRequest, _ payment: KnownPayment
    ) async -> Result<ISOMessage?, OpeningRefusal> {
        if let message = wish.message { return .success(message) }
        do {
            guard let row = try await store.sealed(payment.id), let sealed = row.bytes("sealed") else {
                return .success(nil)
            }
            let content = try await keys.unseal(sealed, for: payment.id)
            guard let original = StoredExchange.exchange(row, content, messages.packager)?.original else {
                return .success(nil)
            }
            switch wish.kind {
            case .capture:
                return .success(messages.capture(original, wish.amount.value, approval: payment.row["approval"]))
            case .release:
                let figures = try payment.figures
                return .success(
                    messages.release(original, remaining: figures.authorised - figures.released - wish.amount.value))
            case .refund: return .success(messages.refund(original, wish.amount.value, now: now()))
            }
        } catch let error as OpeningRefusal {
            tell(wish.id.text, error)
            return .failure(error)
        } catch {
            return .failure(.unavailable)
        }
    }
}
