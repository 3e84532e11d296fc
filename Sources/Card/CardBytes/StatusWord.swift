// SPDX-License-Identifier: Apache-2.0
/// SW1 and SW2 of an R-APDU (ISO/IEC 7816-4 §5.6).
public struct StatusWord: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    public let rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }
    public init(_ rawValue: UInt16) { self.rawValue = rawValue }
    public init(integerLiteral value: UInt16) { rawValue = value }
    public init(sw1: UInt8, sw2: UInt8) { rawValue = UInt16(sw1) << 8 | UInt16(sw2) }

    public var sw1: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 8) }
    public var sw2: UInt8 { UInt8(truncatingIfNeeded: rawValue) }
    public var isSuccess: Bool { rawValue == 0x9000 }
    public var bytes: [UInt8] { [sw1, sw2] }

    public static let success: StatusWord = 0x9000
    public static let selectedFileDeactivated: StatusWord = 0x6283
    public static let wrongLength: StatusWord = 0x6700
    public static let commandNotAllowed: StatusWord = 0x6986
    public static let conditionsNotSatisfied: StatusWord = 0x6985
    public static let referenceDataInvalidated: StatusWord = 0x6984
    public static let functionNotSupported: StatusWord = 0x6A81
    public static let fileNotFound: StatusWord = 0x6A82
    public static let recordNotFound: StatusWord = 0x6A83
    public static let referencedDataNotFound: StatusWord = 0x6A88
    public static let instructionNotSupported: StatusWord = 0x6D00
}

extension StatusWord: CustomStringConvertible {
    /// Four hexadecimal digits: `6A82`.
    public var description: String { Hex.string(bytes) }
}
