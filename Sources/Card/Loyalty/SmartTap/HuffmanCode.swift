// SPDX-License-Identifier: Apache-2.0
/// Takes bits from deflate data, the least significant of each byte first (RFC 1951 §3.1.1).
struct BitReader {
    /// Of the next byte that was not touched yet.
    private(set) var offset: Int
    private var buffer: UInt32 = 0
    private var available = 0

    init(offset: Int) { self.offset = offset }

    /// The next `count` (0…16) bits as a number.
    mutating func bits(_ count: Int, _ bytes: borrowing Span<UInt8>) throws(InflateError) -> Int {
        while available < count {
            guard offset < bytes.count else { throw .malformed }
            buffer |= UInt32(bytes[offset]) << UInt32(available)
            offset += 1
            available += 8
        }
        let value = buffer & (1 << UInt32(count) - 1)
        buffer >>= UInt32(count)
        available -= count
        return Int(value)
    }

    /// Drops the rest of the current byte. Never more than seven bits wait.
    mutating func alignToByte() {
        buffer = 0
        available = 0
    }
}

/// A canonical prefix code (RFC 1951 §3.2.2).
struct HuffmanCode {
    /// Number of codes of each length, 0…15.
    private let counts: [Int]
    /// Symbols in the order of their codes.
    private let symbols: [Int]

    /// - Throws: `.malformed` for more codes than the lengths have room for, or fewer, except one code of length 1.
    init(lengths: [UInt8], mayBeIncomplete: Bool = false) throws(InflateError) {
        var counts = [Int](repeating: 0, count: 16)
        for length in lengths where length > 0 { counts[Int(length & 0x0F)] += 1 }
        var room = 1
        for length in 1...15 {
            room = room << 1 - counts[length]
            guard room >= 0 else { throw .malformed }
        }
        let used = counts.reduce(0, +)
        guard room == 0 || (mayBeIncomplete && used <= 1 && counts[1] == used) else { throw .malformed }
        var offsets = [Int](repeating: 0, count: 16)
        for length in 1..<15 { offsets[length + 1] = offsets[length] + counts[length] }
        var symbols = [Int](repeating: 0, count: used)
        for (symbol, length) in lengths.enumerated() where length > 0 {
            symbols[offsets[Int(length & 0x0F)]] = symbol
            offsets[Int(length & 0x0F)] += 1
        }
        self.counts = counts
        self.symbols = symbols
    }

    private init(counts: [Int], symbols: [Int]) {
        self.counts = counts
        self.symbols = symbols
    }

    func symbol(_ reader: inout BitReader, _ bytes: borrowing Span<UInt8>) throws(InflateError) -> Int {
        var code = 0
        var first = 0
        var index = 0
        for length in 1...15 {
            code |= try reader.bits(1, bytes)
            let count = counts[length]
            if code - first < count { return symbols[index + code - first] }
            index += count
            first = (first + count) << 1
            code <<= 1
        }
        throw .malformed
    }

    /// RFC 1951 §3.2.6: 8 bits for 0…143, 9 for …255, 7 for …279, 8 for …287.
    static let fixedLiterals: HuffmanCode = {
        var counts = [Int](repeating: 0, count: 16)
        counts[7] = 24
        counts[8] = 152
        counts[9] = 112
        return HuffmanCode(
            counts: counts, symbols: Array(256...279) + Array(0...143) + Array(280...287) + Array(144...255))
    }()

    /// Five bits each.
    static let fixedDistances: HuffmanCode = {
        var counts = [Int](repeating: 0, count: 16)
        counts[5] = 32
        return HuffmanCode(counts: counts, symbols: Array(0..<32))
    }()
}
