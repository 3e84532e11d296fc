// SPDX-License-Identifier: Apache-2.0
import Crypto
import PaymentValues

/// What tells a damaged payment from a sound one: a digest over its row and its states, renewed with each write in the same
/// transaction. SQLite finds pages that hang together wrongly; a byte that is another one within a value it does not find.
///
/// It is no protection against people: whoever can write the file can write the digest. That is what the audit chain is for.
enum JournalDigests {
    static let function = "row_digest"
    /// Names of the rows of `meta` that hold them begin so.
    static let prefix = "payment:"

    /// Stands in the place of the digest of a payment whose ledger says something else.
    static let differs = "ledger differs"

    /// The digest of a payment as it stands, in SQL; `payment` is the row.
    static func expression(columns: [String]) -> String {
        let states = """
            (SELECT group_concat(state || '@' || at) FROM
                (SELECT state, at FROM state_change WHERE payment = payment.id ORDER BY sequence))
            """
        return "\(function)(\(columns.map { "payment.\($0)" }.joined(separator: ", ")), \(states))"
    }

    /// The digest that was written, in SQL.
    static let written = "(SELECT value FROM meta WHERE name = '\(prefix)' || payment.id)"

    /// Renews the digest with whatever this connection writes. Nothing of it is in the file.
    static func triggers(columns: [String]) -> String {
        func renewal(of payment: String) -> String {
            """
            INSERT OR REPLACE INTO meta (name, value)
                SELECT '\(prefix)' || id, \(expression(columns: columns)) FROM payment WHERE id = \(payment);
            """
        }
        return """
            CREATE TEMP TRIGGER digest_of_new AFTER INSERT ON payment BEGIN \(renewal(of: "NEW.id")) END;
            CREATE TEMP TRIGGER digest_of_changed AFTER UPDATE ON payment BEGIN \(renewal(of: "NEW.id")) END;
            CREATE TEMP TRIGGER digest_of_state AFTER INSERT ON state_change BEGIN \(renewal(of: "NEW.payment")) END;
            CREATE TEMP TRIGGER digest_of_erased AFTER DELETE ON payment
                BEGIN DELETE FROM meta WHERE name = '\(prefix)' || OLD.id; END;
            """
    }

    /// Writes the digest of every payment, believing what is there.
    static func renewal(columns: [String]) -> String {
        """
        DELETE FROM meta WHERE name >= '\(prefix)' AND name < '\(prefix)~';
        INSERT INTO meta (name, value) SELECT '\(prefix)' || id, \(expression(columns: columns)) FROM payment;
        """
    }

    /// Over values with their kinds and lengths, so that no two rows look the same.
    static func digest(_ values: [SQLValue]) -> String {
        var hash = SHA256()
        for value in values {
            switch value {
            case .null: hash.update(data: [0])
            case .integer(let number): hash.update(data: [1] + bytes(of: UInt64(bitPattern: number)))
            case .text(let text):
                hash.update(data: [2] + bytes(of: UInt64(text.utf8.count)))
                hash.update(data: Array(text.utf8))
            }
        }
        return LowerHex.text(hash.finalize().prefix(16))
    }

    private static func bytes(of number: UInt64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
    }
}
