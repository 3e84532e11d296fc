// SPDX-License-Identifier: Apache-2.0
import EMV

/// The session keys of a secure channel (EMV Contactless Book E §7.2).
package struct SessionKeys: Sendable {
    private let confidentiality: AES128
    package let integrity: AES128

    /// - Parameter secret: x-coordinate of the Diffie-Hellman product, 32 bytes.
    package init?(secret: [UInt8]) {
        guard let extractor = AES128(key: [UInt8](repeating: 0, count: 16)),
            let derivation = AES128(key: extractor.mac(secret)),
            let confidentiality = AES128(key: SessionKeys.key(0x01, derivation)),
            let integrity = AES128(key: SessionKeys.key(0x02, derivation))
        else { return nil }
        self.confidentiality = confidentiality
        self.integrity = integrity
    }

    /// Number of the key, then what Book E fixes.
    private static func key(_ number: UInt8, _ derivation: AES128) -> [UInt8] {
        let fixed: [UInt8] = [
            0x01, 0x00, 0x54, 0x33, 0x4A, 0x32, 0x59, 0x57, 0x77, 0x3D, 0xA5, 0xA5, 0xA5, 0x01, 0x80,
        ]
        return derivation.encrypt(AES128.Block([number] + fixed)).bytes
    }

    /// Counter mode that starts with the message counter and 14 zero bytes (Book E §8.6.2).
    package func apply(counter: UInt16, _ data: [UInt8]) -> [UInt8] {
        confidentiality.apply(data, start: AES128.Block(high: UInt64(counter) << 48, low: 0))
    }

    var operations: SecureChannelKeys {
        SecureChannelKeys(
            apply: { apply(counter: $0, $1) }, mac: { integrity.mac($0) }, macPlus: { integrity.macPlus($0) })
    }
}
