// SPDX-License-Identifier: Apache-2.0
import Envelope
import Wire

extension OpenedRecord {
    /// Whether the card's last month is over at `now`, milliseconds since 1970 being UTC.
    func isExpired(at now: Timestamp) -> Bool {
        guard let expiry, expiry.utf8.count == 4, let number = Int(expiry) else { return true }
        let today = now.components
        return (number / 100 + 2000, number % 100) < (today.year, today.month)
    }
}
