// SPDX-License-Identifier: Apache-2.0
/// Application Transaction Counter (9F36), which never runs over: an application that used it up is dead.
struct TransactionCounter: Sendable {
    private(set) var value: UInt16

    init(_ value: UInt16 = 0) { self.value = value }

    /// Counts one transaction; `false` where the counter has reached its end.
    mutating func advance() -> Bool {
        guard value < .max else { return false }
        value += 1
        return true
    }

    var bytes: [UInt8] { [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)] }
}
