// SPDX-License-Identifier: Apache-2.0
import ISO8583
import PSPAPI
import PaymentValues
import PostgreSQL

/// An operation that was asked for, and the figures that its message was made by.
struct OperationIntent: Sendable {
    let id: OperationID
    let payment: String
    let kind: OperationKind
    let body: [UInt8]
    let amount: Money
    var tip: Int64 = 0
    var isFinal = false
    let seen: PaymentFigures
}

enum OperationBegun: Sendable {
    case begun
    case known(KnownOperation)
    /// Declined by the books, with the answer.
    case refused(String)
    /// Another operation was faster: the message says what is no longer so.
    case moved
    case unknownPayment
}

extension SwitchStore {
    /// The first commit of an operation: its id, its booking and what is about to be sent, or nothing.
    ///
    /// - Parameter refusal: it is declined whatever the figures say.
    func begin(
        _ intent: OperationIntent, _ row: ExchangeRow?, refusal: PostingRefusal? = nil
    ) async throws(DatabaseError) -> OperationBegun {
        try await database.transaction { (transaction) throws(DatabaseError) in
            let id = DatabaseValue.text(intent.id.text)
            transaction.later(Call("select pg_advisory_xact_lock(hashtextextended($1::text, 0))", [id]))
            if let known = try Self.known(intent, row, in: transaction) { return known }
            let rows = try transaction.run([
                Call("select merchant from payment where id = $1::uuid", [id]),
                Call(
                    "select *, now() > hold_until as is_over from payment where id = $1::uuid for update",
                    [.text(intent.payment)]),
                Call(
                    """
                    select coalesce(sum(amount), 0)::bigint as amount from operation
                    where payment = $1::uuid and kind = 'capture' and state = 'running'
                    """, [.text(intent.payment)]),
            ])
            let taken = rows.first?.first?.text("merchant")
            guard let found = rows.dropFirst().first?.first, let untold = rows.last?.first else {
                return .unknownPayment
            }
            let payment = KnownPayment(found)
            // Taken back before it came, by its own merchant.
            let isVoid = taken.map { $0.isEmpty || $0 == payment.merchant } ?? false
            let (seen, money, open) = (try payment.figures, try payment.money, try untold.whole("amount"))
            var figures = seen
            let (booking, rest): (Posting, Int64)
            do throws(PostingRefusal) {
                if let refusal { throw refusal }
                guard !isVoid, payment.state == "approved" else { throw .settled }
                guard money?.currency == intent.amount.currency else { throw .unsupported }
                (booking, rest) = try figures.apply(intent, isOver: found.flag("is_over"), open: open)
            } catch {
                return .refused(Self.refuse(intent, error, seen, in: transaction))
            }
            guard seen == intent.seen, let row else { return .moved }
            Self.write(intent, row, rest, in: transaction)
            Self.setFigures(figures, intent.payment, in: transaction)
            Self.book(booking, intent.payment, intent.amount.currency.code, in: transaction)
            return .begun
        }
    }

    /// The sum of a payment's refunds that are being taken back, in minor units.
    func heldByReversals(_ payment: String) async throws(DatabaseError) -> Int64 {
        let row = try await database.run(
            Call(
                """
                select coalesce(sum(amount), 0)::bigint as amount from operation
                where payment = $1::uuid and kind = 'refund' and state = 'reversing' and not is_undone
                """, [.text(payment)])
        ).first
        guard let row else { throw .unknown }
        return try row.whole("amount")
    }

    private static func known(
        _ intent: OperationIntent, _ row: ExchangeRow?, in transaction: borrowing DatabaseTransaction
    ) throws(DatabaseError) -> OperationBegun? {
        let known = try transaction.run(
            Call(
                """
                select o.*, p.currency, p.merchant, e.owner, e.trace from operation o join payment p on p.id = o.payment
                left join exchange e on e.id = o.id where o.id = $1::uuid
                """, [.text(intent.id.text)])
        ).first
        guard let known else { return nil }
        transaction.later(waiting)
        // After a commit of which nobody knew: it is this very attempt.
        if let row, known.text("state") == "running", known.number("owner") == row.owner,
            known["trace"] == row.exchange.original.text(11)
        {
            return .begun
        }
        return .known(KnownOperation(known))
    }

    private static func write(
        _ intent: OperationIntent, _ row: ExchangeRow, _ rest: Int64, in transaction: borrowing DatabaseTransaction
    ) {
        let message = row.exchange.original
        transaction.later(
            Call(
                """
                insert into operation (id, payment, kind, body, amount, rest, state)
                values ($1::uuid, $2::uuid, $3::text, $4::bytea, $5::bigint, $6::bigint, 'running')
                """,
                [
                    .text(intent.id.text), .text(intent.payment), .text(intent.kind.rawValue), .bytes(intent.body),
                    .number(intent.amount.value), .number(rest),
                ]))
        transaction.later(
            Call(
                """
                insert into exchange (id, payment, kind, owner, stage, type, trace, reference, transmitted, sealed)
                values ($1::uuid, $2::uuid, $3::text, $4::bigint, $5::text, $6::text, $7::text, $8::text, $9::text, $10::bytea)
                """,
                [
                    .text(intent.id.text), .text(intent.payment), .text(intent.kind.rawValue), .number(row.owner),
                    .text(StoredExchange.stage(row.exchange.stage)), .text(message.type.description),
                    .text(message.text(11)), .text(message.text(37)), .text(message.text(7)), .bytes(row.sealed),
                ]))
    }

    private static func refuse(
        _ intent: OperationIntent, _ refusal: PostingRefusal, _ figures: PaymentFigures,
        in transaction: borrowing DatabaseTransaction
    ) -> String {
        var answer = AdapterOperationAnswer(
            id: intent.id, outcome: .declined, responseCode: refusal.code, reason: refusal.reason)
        answer.account = figures.account(intent.amount.currency)
        let text = answerText(answer)
        transaction.later(
            Call(
                """
                insert into operation (id, payment, kind, body, amount, state, answer, decided)
                values ($1::uuid, $2::uuid, $3::text, $4::bytea, $5::bigint, 'declined', $6::text, now())
                """,
                [
                    .text(intent.id.text), .text(intent.payment), .text(intent.kind.rawValue), .bytes(intent.body),
                    .number(intent.amount.value), .text(text),
                ]))
        return text
    }

    /// An answer as it is stored and sent: the same bytes each time.
    static func answerText(_ answer: some Encodable) -> String {
        do throws(WireError) {
            return String(decoding: try WireJSON.encode(answer), as: UTF8.self)
        } catch {
            // These types can always be encoded.
            return "{}"
        }
    }
}

extension PaymentFigures {
    fileprivate mutating func apply(
        _ intent: OperationIntent, isOver: Bool, open: Int64
    ) throws(PostingRefusal) -> (Posting, rest: Int64) {
        switch intent.kind {
        case .capture:
            try capture(intent.amount.value, tip: intent.tip, isFinal: intent.isFinal, isOver: isOver)
        case .release: (try release(intent.amount.value, isOver: isOver), 0)
        case .refund: (try refund(intent.amount.value, open: open), 0)
        }
    }
}
