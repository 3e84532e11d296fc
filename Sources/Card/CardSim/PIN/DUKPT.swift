// SPDX-License-Identifier: Apache-2.0
import EMVCrypto

/// A key for each PIN, derived from a base key and the device's counter: ANSI X9.24-1 for triple DES, X9.24-3 for AES.
package enum DUKPT {
    /// The PIN key of a triple DES device.
    ///
    /// - Parameters:
    ///   - base: the base derivation key, 16 bytes.
    ///   - serial: the key serial number, 10 bytes, whose last 21 bits count.
    package static func pinKey(tripleDES base: [UInt8], serial: [UInt8]) -> [UInt8]? {
        guard base.count == 16, serial.count == 10 else { return nil }
        let counterBits: UInt64 = 0x1F_FFFF
        let device = TripleDES.block(serial.prefix(8)) & ~(counterBits >> 16)
        let mask: [UInt8] = [0xC0, 0xC0, 0xC0, 0xC0, 0, 0, 0, 0, 0xC0, 0xC0, 0xC0, 0xC0, 0, 0, 0, 0]
        guard let left = TripleDES(key: base), let right = TripleDES(key: mixed(base, mask)) else { return nil }
        var key = TripleDES.bytes(left.encrypted(device)) + TripleDES.bytes(right.encrypted(device))
        let last = TripleDES.block(serial.suffix(8))
        var register = last & ~counterBits
        for bit in (0..<21).reversed() where last & 1 << UInt64(bit) != 0 {
            register |= 1 << UInt64(bit)
            key = oneWay(mixed(key, mask), register) + oneWay(key, register)
        }
        return mixed(key, [0, 0, 0, 0, 0, 0, 0, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0xFF])
    }

    private static func oneWay(_ key: [UInt8], _ register: UInt64) -> [UInt8] {
        let (left, right) = (TripleDES.block(key.prefix(8)), TripleDES.block(key.suffix(8)))
        return TripleDES.bytes(DES(key: left).encrypted(register ^ right) ^ right)
    }

    private static func mixed(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] { zip(left, right).map { $0 ^ $1 } }

    /// The PIN key of a device with AES-128.
    ///
    /// - Parameters:
    ///   - base: the base derivation key, 16 bytes.
    ///   - serial: the key serial number, 12 bytes: the initial key's name and the counter.
    package static func pinKey(aes128 base: [UInt8], serial: [UInt8]) -> [UInt8]? {
        guard base.count == 16, serial.count == 12 else { return nil }
        let name = Array(serial.prefix(8))
        let counter = serial.suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard var key = derived(base, use: (0x80, 0x01), name) else { return nil }
        var register: UInt32 = 0
        for bit in (0..<32).reversed() where counter & 1 << UInt32(bit) != 0 {
            register |= 1 << UInt32(bit)
            guard let next = derived(key, use: (0x80, 0x00), name.suffix(4) + bytes(register)) else { return nil }
            key = next
        }
        return derived(key, use: (0x10, 0x00), name.suffix(4) + bytes(counter))
    }

    /// One block of derivation data: version 1, block 1, use, AES-128 for 128 bits.
    private static func derived(_ key: [UInt8], use: (UInt8, UInt8), _ context: [UInt8]) -> [UInt8]? {
        let data: [UInt8] = [0x01, 0x01, use.0, use.1, 0x00, 0x02, 0x00, 0x80]
        return AES128(key: key)?.encrypt(AES128.Block(data + context)).bytes
    }

    private static func bytes(_ counter: UInt32) -> [UInt8] {
        (0..<4).reversed().map { UInt8(truncatingIfNeeded: counter >> (UInt32($0) * 8)) }
    }
}
