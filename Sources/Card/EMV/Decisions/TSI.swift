// SPDX-License-Identifier: Apache-2.0
/// Transaction Status Information (9B, two bytes; EMV Book 3 Annex C6, unverified). Contactless kernels rarely send it.
public struct TSI: OptionSet, Hashable, Sendable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public var bytes: [UInt8] { [UInt8(rawValue >> 8), UInt8(truncatingIfNeeded: rawValue)] }

    public static let odaPerformed = TSI(rawValue: 0x8000)
    public static let cardholderVerificationPerformed = TSI(rawValue: 0x4000)
    public static let cardRiskManagementPerformed = TSI(rawValue: 0x2000)
    public static let issuerAuthenticationPerformed = TSI(rawValue: 0x1000)
    public static let terminalRiskManagementPerformed = TSI(rawValue: 0x0800)
    public static let scriptProcessingPerformed = TSI(rawValue: 0x0400)
}
