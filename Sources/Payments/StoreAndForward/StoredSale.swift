// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// Times that rule a payment around its storing.
public enum StoredSale {
    /// A stored payment can be declined for so long.
    public static let declineTime: Duration = .seconds(60)

    /// Whether a stored payment may still be declined. A clock that was put back proves nothing: then it may not.
    ///
    /// - Parameter elapsed: since it was stored, by the clock that nobody sets; `nil` where an earlier run has stored it.
    public static func mayBeDeclined(storedAt: Timestamp, now: Timestamp, elapsed: Duration? = nil) -> Bool {
        storedAt <= now && now <= storedAt.advanced(bySeconds: declineTime.components.seconds)
            && elapsed.map { $0 <= declineTime } ?? true
    }
}
