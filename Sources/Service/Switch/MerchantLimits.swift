// SPDX-License-Identifier: Apache-2.0
import PSPAPI
import PaymentValues
import PostgreSQL

/// What a merchant may do, as the table `merchant` has it: minor units of one currency. A till says what it likes; here is what counts.
struct MerchantLimits: Equatable, Sendable {
    /// `sale`, `preauth`, `refund`, `offline`; `nil` for all of them.
    var kinds: Set<String>?
    /// The currency of the limits: others are refused. `nil` where there are no limits.
    var currency: String?
    /// Of one payment.
    var most: Int64?
    /// Of one payment that the card has approved by itself.
    var mostOffline: Int64?
    /// Of all refunds without their payment in twenty-four hours.
    var mostRefunded: Int64?

    init() {}

    init(_ row: Row) {
        kinds = row["kinds"].map { Set($0.split(separator: " ").map(String.init)) }
        currency = row["limit_currency"]
        most = row.number("most")
        mostOffline = row.number("most_offline")
        mostRefunded = row.number("most_refunded")
    }

    /// Why it is refused before anybody is asked; `nil` where it is not.
    func fault(_ request: AuthorizationRequest) -> RequestFault? {
        if let kinds {
            guard kinds.contains(request.type.rawValue), !request.offline || kinds.contains("offline") else {
                return .notAllowed
            }
        }
        if let currency, request.amount.currency.code != currency { return .notAllowed }
        if let most, request.amount.value > most { return .overLimit }
        if request.offline, let mostOffline, request.amount.value > mostOffline { return .overLimit }
        return nil
    }
}

extension SwitchStore {
    /// The sum of a merchant's refunds without their payment in the last twenty-four hours, in minor units; those that are open count.
    ///
    /// - Parameter id: of one that does not count: the one that is asked for.
    func refunded(_ merchant: String, besides id: String) async throws(DatabaseError) -> Int64 {
        let row = try await database.run(
            Call(
                """
                select coalesce(sum(amount), 0)::bigint as amount from payment
                where merchant = $1::text and kind = 'refund' and state in ('running', 'approved', 'reversing')
                    and created > now() - interval '24 hours' and id <> $2::uuid
                """, [.text(merchant), .text(id)])
        ).first
        return try Self.refunded(row)
    }

    /// - Throws: where there is no row or no sum in it: what nobody has told is not nothing.
    static func refunded(_ row: Row?) throws(DatabaseError) -> Int64 {
        guard let row else { throw .unknown }
        return try row.whole("amount")
    }
}
