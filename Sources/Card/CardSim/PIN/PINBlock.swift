// SPDX-License-Identifier: Apache-2.0
import EMVCrypto

/// PIN blocks of ISO 9564-1, as a PIN entry device makes them and an issuer opens them. For the device in software, the
/// sandbox and tests: what takes payments moves blocks and never looks into one.
package enum PINBlock {
    /// Formats 1 and 2 are missing: one is bound to no account, the other is for a card in a slot.
    package enum Format: Int, Sendable, CaseIterable {
        case zero = 0
        case three = 3
        case four = 4

        /// Formats 0 and 3 take the twelve rightmost digits of the number without its check digit, 4 the whole number.
        package var takesWholeNumber: Bool { self == .four }
    }

    /// - Parameters:
    ///   - pin: 4 to 12 digits, 0…9 each.
    ///   - account: what the format takes of the card number, 0…9 each.
    ///   - key: 16 bytes.
    ///   - fill: a random number, drawn as often as it is needed.
    /// - Returns: `nil` for a PIN, an account or a key that the format does not take.
    package static func sealed(
        pin: [UInt8], account: [UInt8], format: Format, key: [UInt8],
        fill: () -> UInt8 = { .random(in: .min ... .max) }
    ) -> [UInt8]? {
        guard (4...12).contains(pin.count), pin.allSatisfy({ $0 < 10 }) else { return nil }
        let head = [UInt8(format.rawValue), UInt8(truncatingIfNeeded: pin.count)] + pin
        switch format {
        case .zero, .three:
            guard let account = accountField(account), let cipher = TripleDES(key: key) else { return nil }
            let rest = (head.count..<16).map { _ in format == .zero ? 0x0F : 0x0A + fill() % 6 }
            return TripleDES.bytes(cipher.encrypted(nibbles(head + rest) ^ account))
        case .four:
            guard let account = wholeAccountField(account), let cipher = AES128(key: key) else { return nil }
            let field = head + (head.count..<16).map { _ in 0x0A }
            let block = AES128.Block(TripleDES.bytes(nibbles(field)) + (0..<8).map { _ in fill() })
            return cipher.encrypt(cipher.encrypt(block) ^ account).bytes
        }
    }

    /// - Returns: the PIN's digits; `nil` where the block is none for this account and key.
    package static func opened(_ block: [UInt8], account: [UInt8], format: Format, key: [UInt8]) -> [UInt8]? {
        let field: UInt64
        switch format {
        case .zero, .three:
            guard block.count == 8, let account = accountField(account), let cipher = TripleDES(key: key) else {
                return nil
            }
            field = cipher.decrypted(TripleDES.block(block)) ^ account
        case .four:
            guard block.count == 16, let account = wholeAccountField(account), let cipher = AES128(key: key) else {
                return nil
            }
            let opened = cipher.decrypt(cipher.decrypt(AES128.Block(block)) ^ account)
            field = TripleDES.block(opened.bytes.prefix(8))
        }
        let digits = (0..<16).reversed().map { UInt8(truncatingIfNeeded: field >> (UInt64($0) * 4)) & 0x0F }
        let count = Int(digits[1])
        guard digits[0] == format.rawValue, (4...12).contains(count) else { return nil }
        let (pin, rest) = (digits[2..<(2 + count)], digits[(2 + count)...])
        let isFilled =
            switch format {
            case .zero: rest.allSatisfy { $0 == 0x0F }
            case .three: rest.allSatisfy { $0 >= 0x0A }
            case .four: rest.allSatisfy { $0 == 0x0A }
            }
        return isFilled && pin.allSatisfy { $0 < 10 } ? Array(pin) : nil
    }

    /// `0000` and twelve digits.
    private static func accountField(_ digits: [UInt8]) -> UInt64? {
        digits.count == 12 && digits.allSatisfy { $0 < 10 } ? nibbles(digits) : nil
    }

    /// How many digits there are beyond twelve, the number, and zeros.
    private static func wholeAccountField(_ digits: [UInt8]) -> AES128.Block? {
        guard (8...19).contains(digits.count), digits.allSatisfy({ $0 < 10 }) else { return nil }
        let number = [UInt8](repeating: 0, count: max(0, 12 - digits.count)) + digits
        let field = [UInt8(truncatingIfNeeded: number.count - 12)] + number
        let filled = field + [UInt8](repeating: 0, count: 32 - field.count)
        return AES128.Block(
            TripleDES.bytes(nibbles(filled.prefix(16))) + TripleDES.bytes(nibbles(filled.suffix(16))))
    }

    private static func nibbles(_ digits: some Sequence<UInt8>) -> UInt64 {
        digits.reduce(0) { $0 << 4 | UInt64($1 & 0x0F) }
    }
}
