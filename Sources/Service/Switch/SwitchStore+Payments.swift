// SPDX-License-Identifier: Apache-2.0
import ISO8583
import PSPAPI
import PaymentValues
import PostgreSQL

/// A payment that was asked for, as it is written down before anybody outside is.
struct PaymentIntent: Sendable {
    let request: AuthorizationRequest
    /// SHA-256 of the request's members.
    let body: [UInt8]
    let token: String?
    /// The card record's id; `nil` where the envelope was not opened.
    let record: String?
    /// SHA-256 of the card's counter and cryptogram (9F36, 9F26); `nil` where the read has none.
    var cryptogram: [UInt8]?
}

/// The first record of an exchange.
struct ExchangeRow: Sendable {
    let exchange: Exchange
    var sealed: [UInt8]?
    let owner: Int64
    /// What is sealed in the books stays as it is.
    var isSealedAlready = false
}

enum Begun: Sendable {
    case begun
    /// It is there already, whoever wrote it.
    case known(KnownPayment)
    /// The same read of a card has paid something else.
    case replayed
}

extension SwitchStore {
    private static let columns: StaticString = """
        insert into payment
            (id, merchant, terminal, body, kind, offline, amount, currency, scheme, last4, token, record, state, answer, decided)
        values ($1::uuid, $2::text, $3::text, $4::bytea, $5::text, $6::bool, $7::bigint, $8::text, $9::text, $10::text,
            $11::text, $12::text, 'declined', $13::text, now())
        on conflict (id) do nothing returning id
        """

    private func values(_ intent: PaymentIntent) -> [DatabaseValue] {
        let request = intent.request
        return [
            .text(request.id.text), .text(request.terminal.merchant), .text(request.terminal.id), .bytes(intent.body),
            .text(request.type.rawValue), .flag(request.offline), .number(request.amount.value),
            .text(request.amount.currency.code), .text(request.card.scheme), .text(request.card.last4),
            .text(intent.token), .text(intent.record),
        ]
    }

    /// Why a row of a payment cannot be written though its id is new: its read has paid already, or its cryptogram.
    private static let replays: Set<String> = ["payment_merchant_record_key", "payment_cryptogram"]

    /// In the order of their ids, so that of two who begin the same payments in the same moment neither waits for the other.
    private static let beginning: StaticString = """
        with asked as (
            select * from unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[], $5::text[], $6::bool[], $7::bigint[], $8::text[],
                $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[],
                $18::bytea[], $19::bigint[], $20::text[], $21::bytea[])
            as a (id, merchant, terminal, body, kind, offline, amount, currency, scheme, last4, token, record, stage, type, trace,
                reference, transmitted, sealed, owner, sends, cryptogram)
            order by id),
        new as (
            insert into payment
                (id, merchant, terminal, body, kind, offline, amount, currency, scheme, last4, token, record, state, cryptogram)
            select id, merchant, terminal, body, kind, offline, amount, currency, scheme, last4, token, record, 'running', cryptogram
            from asked
            on conflict (id) do nothing returning id)
        insert into exchange (id, payment, stage, type, trace, reference, transmitted, sealed, owner, kind)
        select id, id, stage, type, trace, reference, transmitted, sealed, owner, sends from asked join new using (id) returning id
        """

    /// The first commit of a payment: its id and what is about to be sent, or nothing.
    func begin(_ intent: PaymentIntent, _ row: ExchangeRow) async throws(DatabaseError) -> Begun {
        let message = row.exchange.original
        let more: [DatabaseValue] = [
            .text(StoredExchange.stage(row.exchange.stage)), .text(message.type.description), .text(message.text(11)),
            .text(message.text(37)), .text(message.text(7)), .bytes(row.sealed), .number(row.owner),
            .text(intent.request.offline ? "advice" : "payment"), .bytes(intent.cryptogram),
        ]
        var isReplay = false
        do throws(DatabaseError) {
            let rows = try await database.runTogether([Call(Self.beginning, rows: [values(intent) + more])])
            if rows.first?.contains(where: { $0["id"] == intent.request.id.text }) == true { return .begun }
        } catch {
            guard case .duplicate(let constraint) = error, Self.replays.contains(constraint) else {
                throw error
            }
            isReplay = true
        }
        // Of two with one id at the same moment the second meets either constraint.
        guard let known = try await payment(intent.request.id.text) else {
            if isReplay { return .replayed }
            throw .again(state: "")
        }
        // Another merchant cannot take back what is not its own, before it comes as little as afterwards.
        if try await dropForeignVoid(known, intent) { throw .again(state: "") }
        // After a commit of which nobody knew: it is this very attempt.
        let own = try await sealed(known.id)
        if known.state == "running", own?.number("owner") == row.owner, own?["trace"] == message.text(11) {
            return .begun
        }
        return .known(known)
    }

    /// Writes down a payment that nobody outside is asked for, with its answer.
    ///
    /// - Returns: what stands there before, if something does.
    func refuse(_ intent: PaymentIntent, _ answer: String) async throws(DatabaseError) -> KnownPayment? {
        let rows = try await database.run(Call(Self.columns, values(intent) + [.text(answer)]))
        guard rows.isEmpty, let known = try await payment(intent.request.id.text) else { return nil }
        guard try await dropForeignVoid(known, intent) else { return known }
        let again = try await database.run(Call(Self.columns, values(intent) + [.text(answer)]))
        return again.isEmpty ? try await payment(intent.request.id.text) : nil
    }

    /// - Returns: whether what stood there was another merchant's reversal of nothing, and stands there no more.
    private func dropForeignVoid(_ known: KnownPayment, _ intent: PaymentIntent) async throws(DatabaseError) -> Bool {
        let merchant = intent.request.terminal.merchant
        guard known.state == "void", !known.merchant.isEmpty, known.merchant != merchant else { return false }
        _ = try await database.run(
            Call(
                "delete from payment where id = $1::uuid and state = 'void' and merchant not in ($2::text, '')",
                [.text(known.id), .text(merchant)]))
        return true
    }

    // MARK: - Entries

    static let untilDayEnds = Call("select pg_advisory_xact_lock_shared(6583, 2)")

    static func book(
        _ booking: Posting, _ payment: String, _ currency: String, isReversal: Bool = false,
        in transaction: borrowing DatabaseTransaction
    ) {
        let calls = entries(booking, payment, currency, isReversal: isReversal)
        guard !calls.isEmpty else { return }
        // Those who close a day wait for bookings under way, and bookings for them.
        for call in [untilDayEnds] + calls { transaction.later(call) }
    }

    /// Behind what keeps the day from being closed; none where nothing is booked.
    static func entries(_ booking: Posting, _ payment: String, _ currency: String, isReversal: Bool) -> [Call] {
        let rows: [[DatabaseValue]] = booking.entries.map {
            [.text(payment), .text($0.account), .number($0.amount), .text(currency), .flag(isReversal)]
        }
        return rows.isEmpty ? [] : [Call(booked, rows: rows)]
    }

    private static let booked: StaticString = """
        insert into entry (payment, seq, account, amount, currency, is_reversal, day)
        select e.payment, (select coalesce(max(seq), 0) + 1 from entry where payment = e.payment), e.account, e.amount, e.currency,
            e.is_reversal, (select day from day where closed is null)
        from unnest($1::uuid[], $2::text[], $3::bigint[], $4::text[], $5::bool[]) as e (payment, account, amount, currency, is_reversal)
        """

    /// Gives back everything that was booked for a payment.
    static func bookBack(_ payment: String, in transaction: borrowing DatabaseTransaction) {
        transaction.later(untilDayEnds)
        transaction.later(
            Call(
                """
                insert into entry (payment, seq, account, amount, currency, is_reversal, day)
                select payment, (select max(seq) + 1 from entry where payment = $1::uuid), account, -sum(amount), currency, true,
                    (select day from day where closed is null)
                from entry where payment = $1::uuid group by payment, account, currency having sum(amount) <> 0
                """, [.text(payment)]))
    }

    static func setFigures(
        _ figures: PaymentFigures, _ payment: String, in transaction: borrowing DatabaseTransaction
    ) {
        transaction.later(
            Call(
                """
                update payment set authorised = $2::bigint, captured = $3::bigint, released = $4::bigint, refunded = $5::bigint
                where id = $1::uuid
                """,
                [
                    .text(payment), .number(figures.authorised), .number(figures.captured), .number(figures.released),
                    .number(figures.refunded),
                ]))
    }
}

// MARK: - Taking back

enum Reversal: Sendable {
    case done
    case queued
    /// Its sum is in another currency than the payment.
    case otherCurrency
    /// It cannot be taken back by a message: a person has to.
    case refused
    /// It is another merchant's, who must not hear that it is there; nothing was done.
    case foreign
}

extension SwitchStore {
    /// Takes note of a reversal, whatever is known of its payment: from here on it is certain.
    ///
    /// - Parameter merchant: who asks; `nil` where that is not told.
    func reverse(
        _ id: String, _ request: ReversalRequest, merchant: String?
    ) async throws(DatabaseError) -> Reversal {
        try await database.transaction { (transaction) throws(DatabaseError) in
            transaction.later(Call("select pg_advisory_xact_lock(hashtextextended($1::text, 0))", [.text(id)]))
            transaction.later(Self.waiting)
            let row = try transaction.run(Call("select * from payment where id = $1::uuid for update", [.text(id)]))
                .first
            if let row { return try Self.reverse(KnownPayment(row), request, merchant, in: transaction) }
            let operation = try transaction.run(
                Call(
                    """
                    select o.*, p.currency, p.merchant from operation o join payment p on p.id = o.payment
                    where o.id = $1::uuid for update
                    """, [.text(id)]
                )
            ).first
            if let operation { return try Self.reverse(KnownOperation(operation), request, merchant, in: transaction) }
            let new = try transaction.run(
                Call(
                    """
                    insert into payment (id, merchant, state, reason) values ($1::uuid, $2::text, 'void', $3::text)
                    on conflict (id) do nothing returning id
                    """, [.text(id), .text(merchant ?? ""), .text(request.reason.rawValue)]))
            // Its payment came in this moment: look again.
            guard !new.isEmpty else { throw .again(state: "") }
            return .done
        }
    }

    private static func reverse(
        _ payment: KnownPayment, _ request: ReversalRequest, _ merchant: String?,
        in transaction: borrowing DatabaseTransaction
    ) throws(DatabaseError) -> Reversal {
        guard merchant == nil || merchant == payment.merchant else { return .foreign }
        if let asked = request.amount, let money = try payment.money, asked.currency != money.currency {
            return .otherCurrency
        }
        switch payment.state {
        case "void", "declined", "reversed": return .done
        case "reversing": return .queued
        // The card has approved it, and the host is told of it until it has heard: as below.
        case "running" where payment.row.flag("offline"): return .refused
        case "running":
            transaction.later(
                Call(
                    "update payment set reason = coalesce(reason, $2::text) where id = $1::uuid",
                    [.text(payment.id), .text(request.reason.rawValue)]))
            return .queued
        default: break
        }
        // A part, or what has been given back in part: whoever takes back the whole would take too much. What was taken of a hold has
        // messages of its own at the host, and is given back by a refund.
        let figures = try payment.figures
        let isWhole = request.amount.map { $0.value >= figures.authorised } ?? true
        guard isWhole, figures.refunded == 0 || figures.kind == .refund,
            figures.kind != .preauth || figures.captured == 0
        else { return .refused }
        guard try want(payment.id, request.reason, in: transaction) else { return .refused }
        transaction.later(
            Call(
                "update payment set state = 'reversing', reason = $2::text where id = $1::uuid",
                [.text(payment.id), .text(request.reason.rawValue)]))
        bookBack(payment.id, in: transaction)
        return .queued
    }

    private static func reverse(
        _ operation: KnownOperation, _ request: ReversalRequest, _ merchant: String?,
        in transaction: borrowing DatabaseTransaction
    ) throws(DatabaseError) -> Reversal {
        guard merchant == nil || merchant == operation.merchant else { return .foreign }
        guard operation.row.text("kind") == "refund" else { return .refused }
        if let asked = request.amount, asked.currency.code != operation.row.text("currency") { return .otherCurrency }
        switch operation.state {
        case "declined", "reversed": return .done
        case "reversing": return .queued
        case "running":
            transaction.later(
                Call(
                    "update operation set reason = coalesce(reason, $2::text) where id = $1::uuid",
                    [.text(operation.id), .text(request.reason.rawValue)]))
            return .queued
        default: break
        }
        guard try want(operation.id, request.reason, in: transaction) else { return .refused }
        // Its sum is free again once the host has said that it has it no more: until then it may be booked there.
        transaction.later(
            Call(
                "update operation set state = 'reversing', reason = $2::text where id = $1::uuid",
                [.text(operation.id), .text(request.reason.rawValue)]))
        return .queued
    }

    /// - Returns: whether there is something to take back with.
    private static func want(
        _ id: String, _ reason: ReversalRequest.Reason, in transaction: borrowing DatabaseTransaction
    ) throws(DatabaseError) -> Bool {
        try transaction.run(
            Call(
                """
                update exchange set wanted = $2::text, owner = null, changed = now()
                where id = $1::uuid and stage = 'answered' and sealed is not null
                """, [.text(id), .text(reason.rawValue)])
        ).changed == 1
    }

    /// Takes out of a payment's figures what an operation had put there.
    static func undo(_ operation: KnownOperation, in transaction: borrowing DatabaseTransaction) throws(DatabaseError) {
        let payment = operation.row.text("payment")
        let row = try transaction.run(Call("select * from payment where id = $1::uuid for update", [.text(payment)]))
            .first
        guard let row, let kind = OperationKind(rawValue: operation.row.text("kind")) else { return }
        var figures = try KnownPayment(row).figures
        let booking = figures.undo(
            kind, try operation.row.whole("amount"), rest: try operation.row.whole("rest"))
        setFigures(figures, payment, in: transaction)
        book(booking, payment, row.text("currency"), isReversal: true, in: transaction)
    }
}
