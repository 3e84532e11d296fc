import EMV
import Glibc

extension LocalDate {
    /// - Parameter seconds: since 1970, UTC.
    static func time(at seconds: Int) -> EMVTime {
        var seconds = seconds
        var calendar = unsafe tm()
        unsafe localtime_r(&seconds, &calendar)
        return unsafe EMVTime(
            hour: Int(calendar.tm_hour), minute: Int(calendar.tm_min), second: min(59, Int(calendar.tm_sec)))
    }
}
