// SPDX-License-Identifier: Apache-2.0
import ISO8583
import PSPAPI
import PaymentValues
import PostgreSQL

/// What a replica that has begun a payment itself knows of it.
struct AskedPayment: Sendable {
    let amount: Money
    let kind: AuthorizationRequest.Kind
    let token: String?
}

extension SwitchStore {
    /// The second commit of most payments, in one exchange with the database: the replica that asked has the answer, nobody wants it back,
    /// and nobody else speaks of it. Where any of that is not so, nothing of it stays.
    ///
    /// - Parameter heard: is given the number of the transaction.
    /// - Returns: the answer that is in the books now; `nil` where `keep` has to look first.
    func approve(
        _ row: ExchangeRow, _ decision: HostDecision, _ asked: AskedPayment, now: Timestamp,
        heard: (Int64) -> Void = { _ in }
    ) async throws(DatabaseError) -> String? {
        let taken: Int64
        switch decision.kind {
        case .approved: taken = asked.amount.value
        case .partial(let part): taken = part
        case .declined, .unknown: return nil
        }
        let (id, original) = (row.exchange.id.description, row.exchange.original)
        let reference = original.text(37).map { $0 + "-" + (original.text(7) ?? "").prefix(4) }
        let holdUntil = now.advanced(bySeconds: Self.holdSeconds)
        let answer = Self.answerText(
            decision.answer(
                to: asked.amount, asked.kind, reference: reference, token: asked.token, holdUntil: holdUntil))
        let (figures, booking) = PaymentFigures.approved(asked.kind, taken)
        let values: [DatabaseValue] = [
            .text(id), .number(row.owner), .text(StoredExchange.detail(row.exchange)), .text(answer),
            .text(decision.approval),
            .number(asked.kind == .preauth ? holdUntil.milliseconds / 1_000 : nil),
            .number(figures.authorised), .number(figures.captured), .number(figures.refunded),
            .text(decision.settlement), .text(original.text(37)),
        ]
        do throws(DatabaseError) {
            let rows = try await database.runTogether(
                [Call(Self.approval, values)]
                    + Self.entries(booking, id, asked.amount.currency.code, isReversal: false))
            if let number = rows.first?.first?.number("transaction") { heard(number) }
            return answer
        } catch {
            if case .refused(state: "22012") = error { return nil }
            throw error
        }
    }

    /// Divides by nothing, which takes all of it back, unless both rows are as they were left by the first commit. Like every booking
    /// it keeps the day from being closed, before the next statement looks which day is open.
    private static let approval: StaticString = """
        with spoken as (
            update exchange set stage = 'answered', detail = $3::text, settlement = $10::text,
                reference = coalesce($11::text, reference), changed = now()
            where id = $1::uuid and owner = $2::bigint and stage = 'awaiting' and wanted is null returning id),
        decided as (
            update payment set state = 'approved', answer = $4::text, approval = $5::text, decided = now(),
                hold_until = to_timestamp($6::bigint), authorised = $7::bigint, captured = $8::bigint, refunded = $9::bigint
            where id = $1::uuid and state = 'running' and reason is null and exists (select 1 from spoken) returning id)
        select 1 / count(*), pg_advisory_xact_lock_shared(6583, 2), pg_current_xact_id()::text::bigint as transaction from decided
        """
}
