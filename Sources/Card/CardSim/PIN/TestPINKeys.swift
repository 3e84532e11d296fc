// SPDX-License-Identifier: Apache-2.0

/// The published TEST keys of the PIN device in software, which the sandbox knows too. They are those of the standards' own
/// examples: whoever has a block under them has the PIN.
package enum TestPINKeys {
    /// Key sets of the device, by the names that it gives them.
    package enum KeySet: String, CaseIterable, Sendable {
        case aes = "test-aes-dukpt"
        case tripleDES = "test-tdes-dukpt"

        package var formats: [PINBlock.Format] { self == .aes ? [.four] : [.zero, .three] }
        package var algorithm: String { self == .aes ? "AES-128" : "TDES" }

        /// X9.24-3 and X9.24-1.
        private var base: [UInt8] {
            switch self {
            case .aes: .hex("FEDCBA9876543210F1F1F1F1F1F1F1F1")
            case .tripleDES: .hex("0123456789ABCDEFFEDCBA9876543210")
            }
        }

        /// The key serial number with a counter in it.
        package func serial(_ counter: UInt32) -> [UInt8] {
            let bytes: [UInt8] = (0..<4).reversed().map { UInt8(truncatingIfNeeded: counter >> (UInt32($0) * 8)) }
            switch self {
            case .aes: return [UInt8].hex("1234567890123456") + bytes
            case .tripleDES:
                let head: [UInt8] = [0x10, 0xE0 | (bytes[1] & 0x1F)]
                return [UInt8].hex("FFFF98765432") + head + bytes.suffix(2)
            }
        }

        package func pinKey(_ serial: [UInt8]) -> [UInt8]? {
            switch self {
            case .aes: DUKPT.pinKey(aes128: base, serial: serial)
            case .tripleDES: DUKPT.pinKey(tripleDES: base, serial: serial)
            }
        }
    }

    /// Opens a block as an issuer with these keys does.
    ///
    /// - Parameter number: of the card, 0…9 each.
    /// - Returns: the PIN's digits; `nil` where it is no block for this card under these keys.
    package static func pin(
        in block: [UInt8], serial: [UInt8], of keySet: KeySet, format: PINBlock.Format, number: [UInt8]
    ) -> [UInt8]? {
        guard keySet.formats.contains(format), let key = keySet.pinKey(serial) else { return nil }
        let account = format.takesWholeNumber ? number : Array(number.dropLast().suffix(12))
        return PINBlock.opened(block, account: account, format: format, key: key)
    }
}
