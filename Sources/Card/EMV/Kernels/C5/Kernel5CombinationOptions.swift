// SPDX-License-Identifier: Apache-2.0
/// Combination Options of kernel 5 (K5-1), configured per combination as DF811B in its kernel data: the tag under which
/// kernel 2 has its own configuration.
struct Kernel5CombinationOptions: OptionSet {
    let rawValue: UInt8

    static let legacy = Kernel5CombinationOptions(rawValue: 0x01)
    static let emv = Kernel5CombinationOptions(rawValue: 0x02)
    static let magStripe = Kernel5CombinationOptions(rawValue: 0x04)
    static let randomSelection = Kernel5CombinationOptions(rawValue: 0x08)
    static let exceptionFile = Kernel5CombinationOptions(rawValue: 0x10)
    static let offlineAuthentication = Kernel5CombinationOptions(rawValue: 0x20)
    static let statusCheck = Kernel5CombinationOptions(rawValue: 0x40)

    /// Terminal Compatibility Indicator (9F52): bit 1 mag-stripe mode, bit 2 EMV mode.
    var compatibilityIndicator: UInt8 { (contains(.magStripe) ? 0x01 : 0x00) | (contains(.emv) ? 0x02 : 0x00) }
}
