// SPDX-License-Identifier: Apache-2.0
public import Wire

/// Times that rule a payment around its storing.
public enum StoredSale {
    /// A read that asks for authorisation and was not sent for longer is never sent.
    public static let readLife: Duration = .seconds(60)
    /// A stored payment can be declined for so long.
    public static let declineTime: Duration = .seconds(60)

    /// Whether a read may still be sent. A clock that was put back proves nothing: then it may not.
    public static func mayBeSent(readAt: Timestamp, now: Timestamp, life: Duration = readLife) -> Bool {
        readAt <= now && now <= readAt.advanced(bySeconds: life.components.seconds)
    }

    /// Whether a stored payment may still be declined.
    public static func mayBeDeclined(storedAt: Timestamp, now: Timestamp) -> Bool {
        storedAt <= now && now <= storedAt.advanced(bySeconds: declineTime.components.seconds)
    }
}
