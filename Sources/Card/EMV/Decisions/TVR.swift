// SPDX-License-Identifier: Apache-2.0
/// Terminal Verification Results (95, five bytes), byte 1 in the most significant place (EMV Book 3 Annex C5). Also the
/// shape of action codes.
public struct TVR: OptionSet, Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue & 0xFF_FFFF_FFFF }

    /// - Parameter bytes: five bytes; `nil` for another number.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 5 else { return nil }
        self.init(rawValue: bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }

    public var bytes: [UInt8] { (0..<5).reversed().map { UInt8(truncatingIfNeeded: rawValue >> (UInt64($0) * 8)) } }

    public static let odaNotPerformed = TVR(rawValue: 0x80_0000_0000)
    public static let sdaFailed = TVR(rawValue: 0x40_0000_0000)
    public static let iccDataMissing = TVR(rawValue: 0x20_0000_0000)
    public static let onExceptionFile = TVR(rawValue: 0x10_0000_0000)
    public static let ddaFailed = TVR(rawValue: 0x08_0000_0000)
    public static let cdaFailed = TVR(rawValue: 0x04_0000_0000)
    public static let sdaSelected = TVR(rawValue: 0x02_0000_0000)

    public static let differentVersions = TVR(rawValue: 0x00_8000_0000)
    public static let expired = TVR(rawValue: 0x00_4000_0000)
    public static let notYetEffective = TVR(rawValue: 0x00_2000_0000)
    public static let serviceNotAllowed = TVR(rawValue: 0x00_1000_0000)
    public static let newCard = TVR(rawValue: 0x00_0800_0000)

    public static let cardholderVerificationFailed = TVR(rawValue: 0x00_0080_0000)
    public static let unrecognisedCVM = TVR(rawValue: 0x00_0040_0000)
    public static let pinTryLimitExceeded = TVR(rawValue: 0x00_0020_0000)
    public static let pinPadMissing = TVR(rawValue: 0x00_0010_0000)
    public static let pinNotEntered = TVR(rawValue: 0x00_0008_0000)
    public static let onlinePINEntered = TVR(rawValue: 0x00_0004_0000)

    public static let floorLimitExceeded = TVR(rawValue: 0x00_0000_8000)
    public static let lowerConsecutiveLimitExceeded = TVR(rawValue: 0x00_0000_4000)
    public static let upperConsecutiveLimitExceeded = TVR(rawValue: 0x00_0000_2000)
    public static let selectedAtRandom = TVR(rawValue: 0x00_0000_1000)
    public static let merchantForcedOnline = TVR(rawValue: 0x00_0000_0800)

    public static let relayResistanceThresholdExceeded = TVR(rawValue: 0x00_0000_0008)
    public static let relayResistanceTimeLimitsExceeded = TVR(rawValue: 0x00_0000_0004)
    /// Bits 2 and 1 of byte 5 are one field: 01 not performed, 10 performed.
    public static let relayResistancePerformed = TVR(rawValue: 0x00_0000_0002)
    public static let relayResistanceNotPerformed = TVR(rawValue: 0x00_0000_0001)
}
