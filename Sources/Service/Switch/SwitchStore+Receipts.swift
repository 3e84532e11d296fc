// SPDX-License-Identifier: Apache-2.0
import PostgreSQL

/// What is known of a customer's wish for a receipt, by its key.
enum KnownReceipt: Equatable, Sendable {
    /// The receipt may be handed on: it is new, or nobody knows what became of it.
    case open
    case taken
    /// The key is that of a wish for the receipt of another transaction.
    case other
}

extension SwitchStore {
    /// Writes a wish down, unless it is there.
    func askForReceipt(
        _ key: String, of transaction: String, merchant: String
    ) async throws(DatabaseError) -> KnownReceipt {
        let arguments: [DatabaseValue] = [.text(merchant), .text(key), .text(transaction)]
        let rows = try await database.run([
            Call(
                """
                insert into receipt (merchant, key, transaction) values ($1::text, $2::text, $3::uuid)
                on conflict (merchant, key) do nothing
                """, arguments),
            Call(
                """
                select is_taken, transaction = $3::uuid as is_same from receipt where merchant = $1::text and key = $2::text
                """, arguments),
        ])
        guard let row = rows.last?.first else { throw .unknown }
        guard row.flag("is_same") else { return .other }
        return row.flag("is_taken") ? .taken : .open
    }

    func noteReceiptTaken(_ key: String, merchant: String) async throws(DatabaseError) {
        _ = try await database.run(
            Call(
                "update receipt set is_taken = true where merchant = $1::text and key = $2::text",
                [.text(merchant), .text(key)]))
    }
}
