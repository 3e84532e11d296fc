// SPDX-License-Identifier: Apache-2.0
/// Kernel ID: one byte for the international kernels, three bytes (big-endian) for domestic ones
/// (EMV Contactless Book B Table 3-6).
public struct KernelIdentifier: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Some Visa and JCB applications of the first generation.
    public static let legacy = KernelIdentifier(rawValue: 1)
    public static let mastercard = KernelIdentifier(rawValue: 2)
    public static let visa = KernelIdentifier(rawValue: 3)
    public static let americanExpress = KernelIdentifier(rawValue: 4)
    public static let jcb = KernelIdentifier(rawValue: 5)
    public static let discover = KernelIdentifier(rawValue: 6)
    public static let unionPay = KernelIdentifier(rawValue: 7)
    /// The common kernel of EMVCo, C-8.
    public static let c8 = KernelIdentifier(rawValue: 8)
}

extension KernelIdentifier {
    /// What byte 4 of the Kernel Identifier - Terminal says besides.
    public struct TerminalFlags: OptionSet, Sendable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Bit 8.
        public static let supportsKernel8 = TerminalFlags(rawValue: 0x80)
        /// Bit 7: for this transaction.
        public static let configuresKernel8 = TerminalFlags(rawValue: 0x40)
    }

    /// Kernel Identifier - Terminal (96, eight bytes; EMV Contactless Book B Table 3-7): type and short identifier, then
    /// two bytes of an extended identifier where the card's 9F2A gave one, then flags.
    ///
    /// - Parameter requested: the card's Kernel Identifier (9F2A); empty where it has none.
    public func terminalValue(requested: [UInt8], _ flags: TerminalFlags = []) -> [UInt8] {
        let short = rawValue > 0xFF ? UInt8(truncatingIfNeeded: rawValue >> 16) : UInt8(truncatingIfNeeded: rawValue)
        let isExtended = (requested.first ?? 0) & 0x80 != 0 && requested.count >= 3
        return [short, isExtended ? requested[1] : 0, isExtended ? requested[2] : 0, flags.rawValue, 0, 0, 0, 0]
    }
}
