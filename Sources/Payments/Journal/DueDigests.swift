// SPDX-License-Identifier: Apache-2.0
/// Payments whose digests the open transaction renews before its end: once, however many of their rows it writes.
///
/// The triggers of `JournalDigests` tell it of each write. No commit succeeds while it names a payment. For the thread of its
/// connection.
final class DueDigests {
    /// By a payment's id: whether `JournalDigests.differs` stays where it stands in the place of the digest.
    var payments: [String: Bool] = [:]

    /// - Parameter keepsDifference: of one write; a later renewal keeps the mark only where all of them do.
    func note(_ payment: String, keepsDifference: Bool) {
        payments[payment] = keepsDifference && payments[payment] ?? true
    }

    /// What stays in the place of a payment's digest, besides `JournalDigests.damaged`; `nil` where nothing is due.
    func spared(_ payment: String) -> String? {
        payments[payment].map { $0 ? JournalDigests.differs : JournalDigests.damaged }
    }

    /// All of them, in an order that does not depend on chance. Nothing is due afterwards.
    func take() -> [(payment: String, spared: String)] {
        let taken = payments.keys.sorted().map { (payment: $0, spared: spared($0) ?? JournalDigests.damaged) }
        payments = [:]
        return taken
    }
}
