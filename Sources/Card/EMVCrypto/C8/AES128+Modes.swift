// SPDX-License-Identifier: Apache-2.0
extension AES128.Block {
    /// Up to 16 bytes, filled with zeros at the end.
    package init(_ bytes: some Sequence<UInt8>) {
        self = .zero
        for (position, byte) in bytes.prefix(16).enumerated() {
            let shift = UInt64(8 * (7 - position % 8))
            if position < 8 { high |= UInt64(byte) << shift } else { low |= UInt64(byte) << shift }
        }
    }

    package var bytes: [UInt8] {
        [high, low].flatMap { word in
            (0..<8).reversed().map { UInt8(truncatingIfNeeded: word >> (UInt64($0) * 8)) }
        }
    }

    /// Times x in GF(2^128), as CMAC makes its subkeys (NIST SP 800-38B §6.1).
    fileprivate var doubled: AES128.Block {
        AES128.Block(high: high << 1 | low >> 63, low: low << 1 ^ (high >> 63) &* 0x87)
    }

    /// The number one higher; counts in the last eight bytes only, which no message here exceeds.
    fileprivate var next: AES128.Block { AES128.Block(high: high, low: low &+ 1) }
}

extension AES128 {
    /// AES-CMAC, 16 bytes (NIST SP 800-38B §6.2).
    package func mac(_ data: [UInt8]) -> [UInt8] { tag(data).bytes }

    /// AES-CMAC+: the CMAC decrypted once in CBC mode with itself as the start value (EMV Contactless Book E §8.6.5 as
    /// one public implementation has it; unverified otherwise).
    package func macPlus(_ data: [UInt8]) -> [UInt8] {
        let tag = tag(data)
        return (decrypt(tag) ^ tag).bytes
    }

    /// Counter mode, encrypting and decrypting alike; `start` is the first counter block (NIST SP 800-38A §6.5).
    package func apply(_ data: [UInt8], start: Block) -> [UInt8] {
        var counter = start
        var result: [UInt8] = []
        result.reserveCapacity(data.count)
        for offset in stride(from: 0, to: data.count, by: 16) {
            let part = data[offset..<min(offset + 16, data.count)]
            result += (Block(part) ^ encrypt(counter)).bytes.prefix(part.count)
            counter = counter.next
        }
        return result
    }

    private func tag(_ data: [UInt8]) -> Block {
        let subkey = encrypt(.zero).doubled
        let isWhole = !data.isEmpty && data.count.isMultiple(of: 16)
        let lastStart = isWhole ? data.count - 16 : data.count - data.count % 16
        var state = Block.zero
        for offset in stride(from: 0, to: lastStart, by: 16) {
            state = encrypt(state ^ Block(data[offset..<offset + 16]))
        }
        let last = isWhole ? Block(data[lastStart...]) ^ subkey : Block(data[lastStart...] + [0x80]) ^ subkey.doubled
        return encrypt(state ^ last)
    }
}
