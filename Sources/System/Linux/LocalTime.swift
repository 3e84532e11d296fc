// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A moment in the calendar and time zone of this machine.
package struct LocalTime: Sendable {
    package let year: Int
    /// 1…12.
    package let month: Int
    package let day: Int
    package let hour: Int
    package let minute: Int
    /// 0…60: leap seconds are counted.
    package let second: Int
    /// East of Greenwich.
    package let secondsFromUTC: Int

    /// - Parameter seconds: since 1970, UTC.
    package init(at seconds: Int) {
        var seconds = time_t(seconds)
        var parts = unsafe tm()
        _ = unsafe localtime_r(&seconds, &parts)
        year = unsafe Int(parts.tm_year) + 1900
        month = unsafe Int(parts.tm_mon) + 1
        day = unsafe Int(parts.tm_mday)
        hour = unsafe Int(parts.tm_hour)
        minute = unsafe Int(parts.tm_min)
        second = unsafe Int(parts.tm_sec)
        secondsFromUTC = unsafe Int(parts.tm_gmtoff)
    }
}
