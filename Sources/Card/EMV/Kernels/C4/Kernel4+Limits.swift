// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension Kernel4 {
    /// Used where the combination's kernel data has no value of its own: EMV and mag-stripe reader without contact
    /// interface, mobile CVM and signature, kernel 2.7; one of two published sets of action codes.
    static let defaults: [DataObject] = [
        DataObject(.readerCapabilities, [0xC0]),
        DataObject(.enhancedReaderCapabilities, [0x18, 0xA0, 0x00, 0x03]),
        DataObject(.terminalActionCodeDefault, [0xDC, 0x50, 0x84, 0x00, 0x00]),
        DataObject(.terminalActionCodeDenial, [0x00, 0x10, 0x00, 0x00, 0x00]),
        DataObject(.terminalActionCodeOnline, [0xDE, 0x00, 0xFC, 0x98, 0x00]),
    ]

    /// K4-1 and K4-4 (9F6D: C-4 Table 4-2; 9F6E: C-4 Table 4-4). The limits that count and what they make of 9F6D and
    /// 9F6E. Done again once the records are read, where 9F70 may stand as well.
    mutating func chooseLimits() {
        guard let activation else { return }
        limits = limitSet(activation) ?? Kernel4Limits(activation.indicators)
        guard let capabilities = store.byte(.readerCapabilities),
            var enhanced = store.value(.enhancedReaderCapabilities), enhanced.count == 4
        else {
            return
        }
        store.set(.readerCapabilities, [capabilities & ~0x08 | (limits.requiresCVM ? 0x08 : 0x00)])
        // Byte 3: bit 8 for a reader that never goes online, bit 7 where a cardholder verification is required.
        enhanced[2] = (terminalType.isOfflineOnly ? 0x80 : 0x00) | (limits.requiresCVM ? 0x40 : 0x00)
        store.set(.enhancedReaderCapabilities, enhanced)
    }

    /// K4-4. Dynamic reader limits: the low nibble of byte 2 of 9F70 is the number of the limit set.
    private func limitSet(_ activation: KernelActivation) -> Kernel4Limits? {
        guard let number = store.byte(.cardCapabilities, at: 1) else { return nil }
        let set = activation.combination.dynamicLimits.first { $0.programIdentifier == [number & 0x0F] }
        return set.map { Kernel4Limits($0.limits, amount: activation.transaction.amount) }
    }
}
