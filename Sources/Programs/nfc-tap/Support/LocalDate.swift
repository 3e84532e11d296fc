// SPDX-License-Identifier: Apache-2.0
import EMV
import Linux

/// The terminal's local calendar.
enum LocalDate {
    /// - Parameter seconds: since 1970, UTC.
    static func at(_ seconds: Int) -> EMVDate {
        let local = LocalTime(at: seconds)
        return EMVDate(year: local.year, month: local.month, day: local.day)
    }

    /// - Parameter seconds: since 1970, UTC.
    static func time(at seconds: Int) -> EMVTime {
        let local = LocalTime(at: seconds)
        return EMVTime(hour: local.hour, minute: local.minute, second: min(59, local.second))
    }
}
