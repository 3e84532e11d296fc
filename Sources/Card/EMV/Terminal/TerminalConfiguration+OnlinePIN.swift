// SPDX-License-Identifier: Apache-2.0

extension TerminalConfiguration {
    /// The same terminal with a PIN device beside it: an online PIN in what every kernel tells its cards. No file can say so,
    /// because no file can promise that the device is there.
    public var withOnlinePIN: TerminalConfiguration {
        var terminal = self
        terminal.terminalData = terminalData.map(\.withOnlinePIN)
        terminal.combinations = combinations.map { combination in
            var combination = combination
            combination.kernelData = combination.kernelData.map(\.withOnlinePIN)
            combination.limits = combination.limits.withOnlinePIN
            combination.dynamicLimits = combination.dynamicLimits.map { limits in
                var limits = limits
                limits.limits = limits.limits.withOnlinePIN
                return limits
            }
            return combination
        }
        return terminal
    }
}

extension EntryPointLimits {
    /// TTQ byte 1 bit 3 (kernels 3, 6 and 7).
    fileprivate var withOnlinePIN: EntryPointLimits {
        var limits = self
        limits.ttq = ttq.map { TTQ(rawValue: $0.rawValue | 0x0400_0000) }
        return limits
    }
}

extension DataObject {
    /// Enciphered PIN for online verification: 9F33 byte 2 bit 7 and the same bit of DF8118 (EMV Book 4 Annex A2, C-2),
    /// 9F6E byte 2 bit 7 (C-4 Table 4-4), 9F53 byte 1 bit 6 (C-5), and TTQ where a kernel has its own. Where no verification
    /// is required (DF8119) none is announced: nobody is asked for a PIN below the limit.
    fileprivate var withOnlinePIN: DataObject {
        let bit: (byte: Int, mask: UInt8)? =
            switch tag {
            case .terminalCapabilities: (1, 0x40)
            case .cvmCapabilityRequired: (0, 0x40)
            case .enhancedReaderCapabilities: (1, 0x40)
            case .terminalInterchangeProfile: (0, 0x20)
            case .ttq where value.count == 4: (0, 0x04)
            default: nil
            }
        guard let bit, value.indices.contains(bit.byte) else { return self }
        var bytes = value
        bytes[bit.byte] |= bit.mask
        return DataObject(tag, bytes)
    }
}
