// SPDX-License-Identifier: Apache-2.0
/// Terminal Transaction Qualifiers (9F66, four bytes) of kernels 3, 6 and 7 (EMV Contactless Book A Table 5-4).
public struct TTQ: Equatable, Hashable, Sendable {
    /// Byte 1 in the most significant byte.
    public var rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// - Parameter bytes: four bytes; `nil` for another number.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 4 else { return nil }
        rawValue = bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }

    public var bytes: [UInt8] {
        [
            UInt8(truncatingIfNeeded: rawValue >> 24), UInt8(truncatingIfNeeded: rawValue >> 16),
            UInt8(truncatingIfNeeded: rawValue >> 8), UInt8(truncatingIfNeeded: rawValue),
        ]
    }

    /// Byte 1 bit 8: mag-stripe mode (MSD).
    public var supportsMagStripe: Bool { has(0x8000_0000) }
    /// Byte 1 bit 6: EMV mode.
    public var supportsEMV: Bool { has(0x2000_0000) }
    /// Byte 1 bit 5: EMV contact chip.
    public var supportsContactChip: Bool { has(0x1000_0000) }
    /// Byte 1 bit 4: the reader never goes online.
    public var isOfflineOnly: Bool { has(0x0800_0000) }
    /// Byte 1 bit 3.
    public var supportsOnlinePIN: Bool { has(0x0400_0000) }
    /// Byte 1 bit 2.
    public var supportsSignature: Bool { has(0x0200_0000) }
    /// Byte 1 bit 1: offline data authentication for online authorisations.
    public var supportsODAForOnline: Bool { has(0x0100_0000) }
    /// Byte 2 bit 8, set by pre-processing.
    public var requiresOnlineCryptogram: Bool {
        get { has(0x0080_0000) }
        set { set(0x0080_0000, newValue) }
    }
    /// Byte 2 bit 7, set by pre-processing.
    public var requiresCVM: Bool {
        get { has(0x0040_0000) }
        set { set(0x0040_0000, newValue) }
    }
    /// Byte 3 bit 8.
    public var supportsIssuerUpdate: Bool { has(0x0000_8000) }
    /// Byte 3 bit 7: consumer device CVM.
    public var supportsCDCVM: Bool { has(0x0000_4000) }

    private func has(_ mask: UInt32) -> Bool { rawValue & mask != 0 }

    private mutating func set(_ mask: UInt32, _ on: Bool) {
        if on { rawValue |= mask } else { rawValue &= ~mask }
    }
}
