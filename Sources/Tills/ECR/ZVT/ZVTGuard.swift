// SPDX-License-Identifier: Apache-2.0

/// What keeps somebody on the network from guessing passwords and receipt numbers.
struct ZVTGuard: Sendable {
    static let wrongPasswords = 5
    static let passwordTime: Int64 = 60_000
    static let wrongReceipts = 3
    static let barredTime: Int64 = 600_000

    private var passwords: [Int64] = []
    private var receipts = 0
    private var barredUntil: Int64?

    /// - Returns: whether it was the last one that is borne with.
    mutating func wrongPassword(at now: Int64) -> Bool {
        passwords.removeAll { $0 < now &- Self.passwordTime }
        passwords.append(now)
        guard passwords.count >= Self.wrongPasswords else { return false }
        passwords = []
        return true
    }

    mutating func isBarred(at now: Int64) -> Bool {
        guard let barredUntil else { return false }
        if now < barredUntil { return true }
        self.barredUntil = nil
        return false
    }

    /// - Returns: whether reversals are barred from now on.
    mutating func wrongReceipt(at now: Int64) -> Bool {
        receipts += 1
        guard receipts >= Self.wrongReceipts else { return false }
        receipts = 0
        barredUntil = now &+ Self.barredTime
        return true
    }

    mutating func rightReceipt() { receipts = 0 }
}
