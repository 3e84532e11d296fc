// SPDX-License-Identifier: Apache-2.0
public import EMV

extension OneWayHash {
    /// OWHF2 by single DES and OWHF2AES (C-2 §8.2 and §8.3, as one implementation has them).
    public static let standard = OneWayHash(
        des: { identifier, operatorIdentifier, input in
            guard (8...11).contains(identifier.count), operatorIdentifier.count == 8, input.count == 8 else {
                return nil
            }
            let left = identifier.prefix(6).map { doubledDecimal($0) } + operatorIdentifier[4..<6]
            let right = identifier.suffix(6).map { doubledDecimal($0) } + operatorIdentifier[6..<8]
            let (outer, inner) = (DES(key: number(left)), DES(key: number(right)))
            let block = number(operatorIdentifier) ^ number(input)
            let result = outer.encrypted(inner.decrypted(outer.encrypted(block))) ^ number(input)
            return (0..<8).reversed().map { UInt8(truncatingIfNeeded: result >> (UInt64($0) * 8)) }
        },
        aes: { identifier, operatorIdentifier, input in
            guard (8...11).contains(identifier.count), operatorIdentifier.count == 8, input.count == 8 else {
                return nil
            }
            let padded = [UInt8](repeating: 0, count: 11 - identifier.count) + identifier
            guard let cipher = AES128(key: padded + operatorIdentifier[4..<8] + [0x3F]) else { return nil }
            let message = AES128.Block(input + operatorIdentifier)
            return Array((cipher.encrypt(message) ^ message).bytes.prefix(8))
        })

    /// Twice the number whose two decimal digits a byte holds.
    private static func doubledDecimal(_ byte: UInt8) -> UInt8 {
        UInt8(truncatingIfNeeded: 2 * (10 * UInt16(byte >> 4) + UInt16(byte & 0x0F)))
    }

    private static func number(_ bytes: [UInt8]) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
