// SPDX-License-Identifier: Apache-2.0
/// The terminal's local time of day (9F21, HHMMSS in BCD).
public struct EMVTime: Equatable, Hashable, Sendable {
    public let hour: Int
    public let minute: Int
    public let second: Int

    public init(hour: Int, minute: Int, second: Int) {
        self.hour = hour
        self.minute = minute
        self.second = second
    }

    /// HHMMSS, three bytes BCD.
    public var hhmmss: [UInt8] { [EMVDate.bcd(hour), EMVDate.bcd(minute), EMVDate.bcd(second)] }
}
