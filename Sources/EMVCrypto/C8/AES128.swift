/// AES with a key of 16 bytes (FIPS 197). Session keys go in here, so neither time nor memory accesses depend on key or
/// data: there are no tables, eight bytes of the state are worked on at once in one word.
///
/// swift-crypto's `Crypto` has no bare block cipher, and the modes of kernel 8 (CMAC, CMAC+, counter) need one.
package struct AES128: Sendable {
    /// 16 bytes of the cipher, the first eight in `high`, in order.
    package struct Block: Equatable, Sendable {
        var high: UInt64
        var low: UInt64

        static let zero = Block(high: 0, low: 0)

        package static func ^ (left: Block, right: Block) -> Block {
            Block(high: left.high ^ right.high, low: left.low ^ right.low)
        }
    }

    private let roundKeys: [Block]

    /// - Parameter key: `nil` unless 16 bytes.
    package init?(key: [UInt8]) {
        guard key.count == 16 else { return nil }
        var words: [UInt32] = []
        for start in stride(from: 0, to: 16, by: 4) {
            var word: UInt32 = 0
            for byte in key[start..<start + 4] { word = word << 8 | UInt32(byte) }
            words.append(word)
        }
        var constant: UInt32 = 1
        for index in 4..<44 {
            var word = words[index - 1]
            if index.isMultiple(of: 4) {
                let turned: UInt32 = word << 8 | word >> 24
                word = UInt32(truncatingIfNeeded: AES128.substituted(UInt64(turned))) ^ constant << 24
                constant = UInt32(truncatingIfNeeded: AES128.doubled(UInt64(constant)))
            }
            words.append(word ^ words[index - 4])
        }
        var keys: [Block] = []
        for index in stride(from: 0, to: 44, by: 4) {
            let high = UInt64(words[index]) << 32 | UInt64(words[index + 1])
            let low = UInt64(words[index + 2]) << 32 | UInt64(words[index + 3])
            keys.append(Block(high: high, low: low))
        }
        roundKeys = keys
    }

    /// FIPS 197 §5.1.
    package func encrypt(_ block: Block) -> Block {
        var state = block ^ roundKeys[0]
        for round in 1...10 {
            state = Block(high: AES128.substituted(state.high), low: AES128.substituted(state.low))
            state = AES128.rowsShifted(state, by: 1)
            if round < 10 { state = Block(high: AES128.mixed(state.high), low: AES128.mixed(state.low)) }
            state = state ^ roundKeys[round]
        }
        return state
    }

    /// FIPS 197 §5.3.
    func decrypt(_ block: Block) -> Block {
        var state = block ^ roundKeys[10]
        for round in (0..<10).reversed() {
            state = AES128.rowsShifted(state, by: 3)
            state = Block(high: AES128.unsubstituted(state.high), low: AES128.unsubstituted(state.low))
            state = state ^ roundKeys[round]
            if round > 0 { state = Block(high: AES128.unmixed(state.high), low: AES128.unmixed(state.low)) }
        }
        return state
    }

    /// Row r of the state goes `places` · r columns to the left; byte r + 4c is row r of column c.
    private static func rowsShifted(_ block: Block, by places: Int) -> Block {
        func byte(_ position: Int) -> UInt64 {
            let word = position < 8 ? block.high : block.low
            return word >> UInt64(8 * (7 - position % 8)) & 0xFF
        }
        func word(_ start: Int) -> UInt64 {
            var word: UInt64 = 0
            for position in start..<start + 8 {
                word = word << 8 | byte((position + 4 * places * (position % 4)) % 16)
            }
            return word
        }
        return Block(high: word(0), low: word(8))
    }

    /// The S-box on every byte: inverse in GF(2^8), then the affine map (FIPS 197 §5.1.1).
    private static func substituted(_ bytes: UInt64) -> UInt64 {
        let inverse = inverted(bytes)
        return inverse ^ rotated(inverse, 1) ^ rotated(inverse, 2) ^ rotated(inverse, 3) ^ rotated(inverse, 4)
            ^ 0x6363_6363_6363_6363
    }

    private static func unsubstituted(_ bytes: UInt64) -> UInt64 {
        inverted(rotated(bytes, 1) ^ rotated(bytes, 3) ^ rotated(bytes, 6) ^ 0x0505_0505_0505_0505)
    }

    /// Every byte to the power 254; 0 stays 0.
    private static func inverted(_ bytes: UInt64) -> UInt64 {
        let two = multiplied(bytes, bytes)
        let three = multiplied(two, bytes)
        let twelve = squaredTwice(three)
        let fifteen = multiplied(twelve, three)
        let twoHundredForty = squaredTwice(squaredTwice(fifteen))
        return multiplied(multiplied(twoHundredForty, twelve), two)
    }

    private static func squaredTwice(_ bytes: UInt64) -> UInt64 {
        let square = multiplied(bytes, bytes)
        return multiplied(square, square)
    }

    /// The products of the bytes in GF(2^8).
    private static func multiplied(_ left: UInt64, _ right: UInt64) -> UInt64 {
        var product: UInt64 = 0
        var factor = left
        for bit in 0..<8 as Range<UInt64> {
            product ^= factor & ((right >> bit & lowBits) &* 0xFF)
            factor = doubled(factor)
        }
        return product
    }

    private static let lowBits: UInt64 = 0x0101_0101_0101_0101

    /// Every byte times x.
    private static func doubled(_ bytes: UInt64) -> UInt64 {
        (bytes << 1 & 0xFEFE_FEFE_FEFE_FEFE) ^ (bytes >> 7 & lowBits) &* 0x1B
    }

    /// Every byte rotated to the left.
    private static func rotated(_ bytes: UInt64, _ count: UInt64) -> UInt64 {
        let kept = lowBits &* (0xFF >> count)
        let wrapped = lowBits &* (0xFF >> (8 - count))
        return (bytes & kept) << count | bytes >> (8 - count) & wrapped
    }

    /// MixColumns on two columns.
    private static func mixed(_ columns: UInt64) -> UInt64 {
        let next = columnsRotated(columns, 8)
        let others = columnsRotated(columns, 16) ^ columnsRotated(columns, 24)
        return doubled(columns ^ next) ^ next ^ others
    }

    /// Its inverse: the matrix is MixColumns after a matrix of 05, 00, 04, 00.
    private static func unmixed(_ columns: UInt64) -> UInt64 {
        let fourfold = doubled(doubled(columns ^ columnsRotated(columns, 16)))
        return mixed(columns ^ fourfold)
    }

    /// Both columns of four bytes rotated to the left by `bits`.
    private static func columnsRotated(_ columns: UInt64, _ bits: UInt64) -> UInt64 {
        let mask: UInt64 = 0xFFFF_FFFF >> bits
        let kept = mask | mask << 32
        let wrapped: UInt64 = (1 << bits) - 1
        return (columns & kept) << bits | columns >> (32 - bits) & (wrapped | wrapped << 32)
    }
}
