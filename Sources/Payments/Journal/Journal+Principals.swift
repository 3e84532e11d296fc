// SPDX-License-Identifier: Apache-2.0
import PaymentValues

/// How a principal stands in a row: its user's number, and its till, or an empty text where there is none.
extension Journal {
    /// Whose a row is, in SQL; with the values of `Principal.values`.
    static let isOwned = "uid = ? AND till = ?"

    /// The same where anybody's rows may do.
    static func owned(by owner: Principal?) -> (String, [SQLValue]) {
        owner.map { (isOwned, $0.values) } ?? ("1", [])
    }
}

extension Principal {
    var uidValue: SQLValue { .integer(Int64(uid)) }
    var tillValue: SQLValue { .text(till?.text ?? "") }
    var values: [SQLValue] { [uidValue, tillValue] }
}

extension Row {
    /// - Throws: `.damaged` for what was never written.
    borrowing func principal(_ column: Int32, till: Int32) throws(JournalError) -> Principal {
        guard let uid = UInt32(exactly: try integer(column)) else { throw .damaged }
        let name = try text(till)
        if name.isEmpty { return Principal(uid: uid) }
        guard let till = TillName(name) else { throw .damaged }
        return Principal(uid: uid, till: till)
    }
}
