// SPDX-License-Identifier: Apache-2.0
/// Terminal Type (9F35): who operates it, whether it goes online, whether somebody attends (EMV Book 4 Annex A1; the
/// meaning of the digits is unverified).
public struct TerminalType: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Second digit 1 or 4.
    public var isOnlineOnly: Bool { digit == 1 || digit == 4 }
    /// Second digit 3 or 6.
    public var isOfflineOnly: Bool { digit == 3 || digit == 6 }
    /// Second digit 1…3.
    public var isAttended: Bool { (1...3).contains(digit) }
    /// Second digit 4…6.
    public var isUnattended: Bool { (4...6).contains(digit) }

    /// An unattended terminal of a financial institution (14, 15, 16) that hands out cash.
    ///
    /// - Parameter additionalCapabilities: byte 1 of 9F40, whose bit 8 stands for cash.
    public func isATM(additionalCapabilities: UInt8) -> Bool {
        (0x14...0x16).contains(rawValue) && additionalCapabilities & 0x80 != 0
    }

    private var digit: UInt8 { rawValue & 0x0F }
}
