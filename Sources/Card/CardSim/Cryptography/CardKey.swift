// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// The keys from which a card's application cryptograms come. TEST keys throughout.
enum CardKey {
    /// The ICC master key for a PAN, derived from an issuer master key by option A (EMV Book 2 §A1.4.1).
    ///
    /// - Parameters:
    ///   - pan: digits 0…9, at most 16 are used, from the right.
    ///   - sequence: PAN sequence number (5F34) as BCD; 00 where the card has none.
    static func master(_ issuer: TripleDES, pan: [UInt8], sequence: UInt8) -> TripleDES? {
        let digits = (pan + [sequence >> 4, sequence & 0x0F]).suffix(16)
        let number = digits.reduce(UInt64(0)) { $0 << 4 | UInt64($1 & 0x0F) }
        return TripleDES(
            key: oddParity(
                TripleDES.bytes(issuer.encrypted(number)) + TripleDES.bytes(issuer.encrypted(~number))))
    }

    /// The application cryptogram session key by EMV common session key derivation (EMV Book 2 §A1.3.1).
    static func session(_ master: TripleDES, counter: [UInt8]) -> TripleDES? {
        func half(_ mark: UInt8) -> [UInt8] {
            TripleDES.bytes(master.encrypted(TripleDES.block(counter.prefix(2) + [mark, 0, 0, 0, 0, 0])))
        }
        guard counter.count == 2 else { return nil }
        return TripleDES(key: oddParity(half(0xF0) + half(0x0F)))
    }

    /// Sets the lowest bit of every byte so that its number of one-bits is odd, as DES keys are stored.
    private static func oddParity(_ key: [UInt8]) -> [UInt8] {
        key.map { $0 & 0xFE | UInt8((($0 & 0xFE).nonzeroBitCount + 1) & 1) }
    }
}
