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
