// SPDX-License-Identifier: Apache-2.0
import PaymentValues

/// What a retention entry of the chain says of transactions, written and read in one place: `3 transactions that ended
/// before 2026-03-01T08:30:00.125Z erased`.
struct Erasure: Equatable {
    let count: Int
    let before: Timestamp

    var text: String { "\(count) transactions that ended before \(before) erased" }

    init(count: Int, before: Timestamp) { (self.count, self.before) = (count, before) }

    /// - Returns: `nil` for an entry that tells of something else.
    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 7, let count = Int(words[0]), let before = Timestamp(String(words[5])) else { return nil }
        self.init(count: count, before: before)
        guard self.text == text else { return nil }
    }
}
