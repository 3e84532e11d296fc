// SPDX-License-Identifier: Apache-2.0
/// AES-128 in counter mode (FIPS 197; NIST SP 800-38A §6.5) for the phones in software. Written out so that a phone does
/// not share the reader's code; it takes no care to hide its key from timing, which a real phone must.
struct CounterMode {
    private let roundKeys: [[UInt8]]

    /// - Parameter key: 16 bytes; others are cut or padded with zeros.
    init(key: [UInt8]) {
        var words = [[UInt8]]()
        let padded = Array(key.prefix(16)) + [UInt8](repeating: 0, count: max(0, 16 - key.count))
        for index in 0..<4 { words.append(Array(padded[index * 4..<index * 4 + 4])) }
        var constant: UInt8 = 1
        for index in 4..<44 {
            var word = words[index - 1]
            if index.isMultiple(of: 4) {
                word = [word[1], word[2], word[3], word[0]].map { CounterMode.substitutions[Int($0)] }
                word[0] ^= constant
                constant = CounterMode.double(constant)
            }
            words.append(zip(word, words[index - 4]).map { $0 ^ $1 })
        }
        roundKeys = (0..<11).map { Array(words[$0 * 4..<$0 * 4 + 4].joined()) }
    }

    /// Encrypts and decrypts alike.
    ///
    /// - Parameter nonce: 12 bytes; the four after them count blocks from zero, big-endian.
    func apply(to bytes: [UInt8], nonce: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for start in stride(from: 0, to: bytes.count, by: 16) {
            let counter = UInt32(truncatingIfNeeded: start / 16)
            let stream = encrypt(
                nonce + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: counter >> ($0 as UInt32)) })
            for (byte, mask) in zip(bytes[start...], stream) { result.append(byte ^ mask) }
        }
        return result
    }

    /// One block of 16 bytes (FIPS 197 §5.1).
    func encrypt(_ block: [UInt8]) -> [UInt8] {
        var state = zip(block, roundKeys[0]).map { $0 ^ $1 }
        for round in 1...10 {
            let substituted = state.map { CounterMode.substitutions[Int($0)] }
            let shifted = (0..<16).map { substituted[($0 + 4 * ($0 % 4)) % 16] }
            let mixed = round == 10 ? shifted : CounterMode.mixColumns(shifted)
            state = zip(mixed, roundKeys[round]).map { $0 ^ $1 }
        }
        return state
    }

    private static func mixColumns(_ state: [UInt8]) -> [UInt8] {
        (0..<16).map { index in
            let column = index / 4 * 4
            let own = state[index]
            let next = state[column + (index + 1) % 4]
            let others = state[column + (index + 2) % 4] ^ state[column + (index + 3) % 4]
            return double(own) ^ double(next) ^ next ^ others
        }
    }

    private static func double(_ value: UInt8) -> UInt8 { value << 1 ^ (value & 0x80 != 0 ? 0x1B : 0) }

    /// The S-box (FIPS 197 §5.1.1), computed: inverse in GF(2^8), then the affine map.
    private static let substitutions: [UInt8] = {
        var table = [UInt8](repeating: 0x63, count: 256)
        var power: UInt8 = 1
        var inverse: UInt8 = 1
        for _ in 0..<255 {
            // Times 3, and divided by 3.
            power ^= double(power)
            inverse ^= inverse << 1
            inverse ^= inverse << 2
            inverse ^= inverse << 4
            if inverse & 0x80 != 0 { inverse ^= 0x09 }
            var mapped = inverse
            for shift in 1...4 { mapped ^= inverse << UInt8(shift) | inverse >> UInt8(8 - shift) }
            table[Int(power)] = mapped ^ 0x63
        }
        return table
    }()
}
