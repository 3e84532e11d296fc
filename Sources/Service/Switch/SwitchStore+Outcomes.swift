// SPDX-License-Identifier: Apache-2.0
import ISO8583
import PSPAPI
import PaymentValues
import PostgreSQL

/// What the link tells of an exchange together with its record.
enum ExchangeNews: Sendable {
    case decided(HostDecision)
    case reversed
    case balanced(Balance)
}

enum Kept: Sendable {
    /// In the books; with the answer that stands, if one was decided.
    case kept(String?)
    /// In the books, and it has to be taken back: somebody had asked for that meanwhile, or only a part was done.
    case reverse(ReversalReason, String)
    /// Another replica speaks of it now: what this one knows no longer counts.
    case lost
}

extension SwitchStore {
    /// Seconds for which a preauthorised sum is held.
    static let holdSeconds: Int64 = 7 * 86_400

    /// The next record of an exchange and what follows from it, in one commit. What is answered stays answered unless somebody has asked to
    /// take it back: a replica whose lease ran out while the database was away can have taken up its own exchange from a row that was
    /// older than its answer, and must not reverse what a till was told. What is taken back stays so, too: an answer from before that
    /// would leave it to nobody.
    ///
    /// - Parameter now: of the answer's time-limits.
    func keep(_ row: ExchangeRow, _ news: [ExchangeNews], now: Timestamp) async throws(DatabaseError) -> Kept {
        try await database.transaction { (transaction) throws(DatabaseError) in
            let exchange = row.exchange
            let id = DatabaseValue.text(exchange.id.description)
            let settlement = news.lazy.compactMap {
                if case .decided(let decision) = $0 { decision.settlement } else { nil }
            }
            .first
            let isDecided = news.contains { if case .decided = $0 { true } else { false } }
            let lock = Call("select * from payment where id = $1::uuid for update", [id])
            let rows = try transaction.run(
                [
                    Call(
                        """
                        update exchange set stage = $3::text, detail = $4::text, attempts = $5::int,
                            given_up = $6::bool or (given_up and stage = $3::text and stage in ('answered', 'advised')),
                            sealed = case when $8::bool then sealed else $7::bytea end, changed = now(),
                            settlement = coalesce($9::text, settlement), reference = coalesce($10::text, reference),
                            wanted = case when $3::text in ('reversing', 'reversed') then null else wanted end
                        where id = $1::uuid and owner = $2::bigint
                            and (stage <> 'answered' or wanted is not null or $3::text = 'answered')
                            and (stage not in ('reversing', 'reversed') or $3::text in ('reversing', 'reversed'))
                        returning kind, reference, transmitted
                        """,
                        [
                            id, .number(row.owner), .text(StoredExchange.stage(exchange.stage)),
                            .text(StoredExchange.detail(exchange)),
                            .number(Int64(exchange.sendings)),
                            .flag(exchange.repetition?.isGivenUp ?? false), .bytes(row.sealed),
                            .flag(row.isSealedAlready), .text(settlement), .text(exchange.original.text(37)),
                        ])
                ] + (isDecided ? [lock] : []))
            guard let found = rows.first?.first else { return .lost }
            var kept = Kept.kept(nil)
            for item in news {
                switch item {
                case .decided(let decision):
                    let isPayment = ["payment", "advice"].contains(found.text("kind"))
                    kept =
                        isPayment
                        ? try Self.decide(
                            exchange.id.description, rows.last?.first, decision, found, now, in: transaction)
                        : try Self.decideOperation(exchange.id.description, decision, found, in: transaction)
                case .reversed: try Self.close(id, in: transaction)
                case .balanced(let balance):
                    transaction.later(
                        Call("update day_end set balance = $2::text where id = $1::uuid", [id, .text("\(balance)")]))
                }
            }
            return kept
        }
    }

    private static func reference(_ exchange: Row) -> String? {
        exchange["reference"].map { $0 + "-" + exchange.text("transmitted").prefix(4) }
    }

    /// The host has it no more. What a refund of unknown end has held is free again.
    private static func close(
        _ id: DatabaseValue, in transaction: borrowing DatabaseTransaction
    ) throws(DatabaseError) {
        let held = try transaction.run(
            Call(
                """
                select o.*, p.currency, p.merchant from operation o join payment p on p.id = o.payment
                where o.id = $1::uuid and o.state = 'reversing' and not o.is_undone for update
                """, [id])
        ).first
        if let held { try undo(KnownOperation(held), in: transaction) }
        transaction.later(
            Call("update payment set state = 'reversed' where id = $1::uuid and state = 'reversing'", [id]))
        transaction.later(
            Call(
                "update operation set state = 'reversed', is_undone = true where id = $1::uuid and state = 'reversing'",
                [id]))
    }

    private static func decide(
        _ id: String, _ row: Row?, _ decision: HostDecision, _ exchange: Row, _ now: Timestamp,
        in transaction: borrowing DatabaseTransaction
    ) throws(DatabaseError) -> Kept {
        guard let row, let asked = try KnownPayment(row).money else { return .kept(nil) }
        let payment = KnownPayment(row)
        // The first decision stands.
        guard payment.state == "running" else { return .kept(payment.answer) }
        let kind = try payment.figures.kind
        let holdUntil = now.advanced(bySeconds: holdSeconds)
        var decision = decision
        let reason = row["reason"].flatMap(ReversalReason.init)
        var state = "declined"
        var taken: Int64?
        switch decision.kind {
        case .approved: taken = asked.value
        case .partial(let part): taken = part
        case .unknown: state = "reversing"
        case .declined: break
        }
        if taken != nil {
            state = reason == nil ? "approved" : "reversing"
            // Its till has given it up, and must not hear an approval any more.
            if reason != nil { decision = HostDecision(.unknown, "91") }
        }
        let answer = decision.answer(
            to: asked, kind, reference: reference(exchange), token: row["token"], holdUntil: holdUntil)
        let text = answerText(answer)
        let approved = reason == nil ? taken.map { PaymentFigures.approved(kind, $0) } : nil
        let figures = approved?.0 ?? PaymentFigures(kind: kind)
        transaction.later(
            Call(
                """
                update payment set state = $2::text, answer = $3::text, approval = $4::text, decided = now(),
                    hold_until = to_timestamp($5::bigint), authorised = $6::bigint, captured = $7::bigint, refunded = $8::bigint
                where id = $1::uuid
                """,
                [
                    .text(id), .text(state), .text(text), .text(decision.approval),
                    .number(kind == .preauth && state == "approved" ? holdUntil.milliseconds / 1_000 : nil),
                    .number(figures.authorised), .number(figures.captured), .number(figures.refunded),
                ]))
        if taken != nil, let reason {
            want(id, reason, in: transaction)
            return .reverse(reason, text)
        }
        if let approved { book(approved.1, id, asked.currency.code, in: transaction) }
        return .kept(text)
    }

    private static func decideOperation(
        _ id: String, _ decision: HostDecision, _ exchange: Row, in transaction: borrowing DatabaseTransaction
    ) throws(DatabaseError) -> Kept {
        // The payment first, as whoever begins an operation locks it.
        let rows = try transaction.run([
            Call(
                "select * from payment where id = (select payment from operation where id = $1::uuid) for update",
                [.text(id)]),
            Call(
                """
                select o.*, p.currency, p.merchant from operation o join payment p on p.id = o.payment where o.id = $1::uuid
                """, [.text(id)]),
        ])
        guard let payment = rows.first?.first.map(KnownPayment.init), let row = rows.last?.first,
            let name = OperationID(id), let currency = try payment.money?.currency
        else {
            return .kept(nil)
        }
        let operation = KnownOperation(row)
        guard operation.state == "running" else { return .kept(operation.answer) }
        var (state, reverse) = ("declined", row["reason"].flatMap(ReversalReason.init))
        var decision = decision
        switch decision.kind {
        case .approved where reverse == nil: state = "approved"
        case .approved, .partial:
            state = "reversing"
            reverse = reverse ?? .malfunction
            decision = HostDecision(.unknown, "91")
        case .unknown:
            (state, reverse) = (row.text("kind") == "refund" ? "reversing" : "declined", nil)
        case .declined: reverse = nil
        }
        var figures = try payment.figures
        // What is being taken back may be booked at the host: until its word it is not refunded a second time.
        if state == "declined", let kind = OperationKind(rawValue: row.text("kind")) {
            let booking = figures.undo(kind, try row.whole("amount"), rest: try row.whole("rest"))
            setFigures(figures, payment.id, in: transaction)
            // What was taken back as a whole meanwhile has no entries left.
            if payment.state == "approved" {
                book(booking, payment.id, currency.code, isReversal: true, in: transaction)
            }
        }
        let answer = decision.operationAnswer(
            name, Money(value: try row.whole("amount"), currency: currency), reference: reference(exchange),
            figures.account(currency))
        let text = answerText(answer)
        transaction.later(
            Call(
                "update operation set state = $2::text, answer = $3::text, decided = now() where id = $1::uuid",
                [.text(id), .text(state), .text(text)]))
        if let reverse, state == "reversing" {
            want(id, reverse, in: transaction)
            return .reverse(reverse, text)
        }
        return .kept(text)
    }

    /// Whoever dies now leaves it to others.
    private static func want(
        _ id: String, _ reason: ReversalReason, in transaction: borrowing DatabaseTransaction
    ) {
        transaction.later(
            Call("update exchange set wanted = $2::text where id = $1::uuid", [.text(id), .text(reason.rawValue)]))
    }
}
