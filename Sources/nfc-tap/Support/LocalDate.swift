import EMV
import Glibc

/// The terminal's local calendar.
enum LocalDate {
    /// - Parameter seconds: since 1970, UTC.
    static func at(_ seconds: Int) -> EMVDate {
        var seconds = seconds
        var calendar = unsafe tm()
        unsafe localtime_r(&seconds, &calendar)
        return unsafe EMVDate(
            year: Int(calendar.tm_year) + 1900, month: Int(calendar.tm_mon) + 1, day: Int(calendar.tm_mday))
    }
}
