// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// One row of the data dictionary: what a tag means, by whom it is set and how its value is stored.
public struct DataElement: Equatable, Sendable {
    public enum Source: Sendable {
        case card
        case terminal
        case issuer
        /// Computed while a transaction runs.
        case kernel
    }

    /// The kernels that a meaning belongs to; empty for all.
    public struct Kernels: OptionSet, Sendable {
        public let rawValue: UInt16

        public init(rawValue: UInt16) { self.rawValue = rawValue }

        public static let mastercard = Kernels(rawValue: 1 << 2)
        public static let visa = Kernels(rawValue: 1 << 3)
        public static let americanExpress = Kernels(rawValue: 1 << 4)
        public static let jcb = Kernels(rawValue: 1 << 5)
        public static let discover = Kernels(rawValue: 1 << 6)
        public static let unionPay = Kernels(rawValue: 1 << 7)
        public static let c8 = Kernels(rawValue: 1 << 8)

        /// The set of one international kernel; empty for others.
        public init(_ kernel: KernelIdentifier) {
            self.init(rawValue: (2...8).contains(kernel.rawValue) ? 1 << UInt16(kernel.rawValue) : 0)
        }
    }

    /// Maximum length of a value whose length is not bounded by the dictionary.
    public static let unbounded = Int(UInt16.max)

    public let tag: Tag
    public let name: String
    public let source: Source
    public let format: ValueFormat
    /// In bytes.
    public let minimumLength: Int
    /// In bytes; `unbounded` where the dictionary sets no bound.
    public let maximumLength: Int
    public let kernels: Kernels
}
