// SPDX-License-Identifier: Apache-2.0
import PaymentValues

/// Which sessions machines are at, and which go back by themselves: never both at a time.
struct SessionReturns {
    /// Their time is over, and they go back: a machine's wish waits for that.
    private var returning: Set<TransactionID> = []
    /// How many wishes of machines are carried out: meanwhile nothing goes back.
    private var counts: [TransactionID: Int] = [:]

    /// A machine wishes something of a session: nothing goes back by itself until `end`.
    ///
    /// - Returns: `false` where it is going back just now.
    mutating func begin(of id: TransactionID) -> Bool {
        guard !returning.contains(id) else { return false }
        counts[id, default: 0] += 1
        return true
    }

    mutating func end(of id: TransactionID) {
        guard let count = counts[id] else { return }
        counts[id] = count > 1 ? count - 1 : nil
    }

    /// - Returns: `false` where a machine is at it.
    mutating func beginReturn(of id: TransactionID) -> Bool {
        guard counts[id] == nil else { return false }
        returning.insert(id)
        return true
    }

    mutating func endReturn(of id: TransactionID) { returning.remove(id) }
}
