// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Decompresses zlib data (RFC 1950, RFC 1951) into locked memory, strictly and within a limit.
public enum Inflate {
    /// The one zlib stream that `input` is, to its last byte.
    ///
    /// - Throws: `.tooLarge` as soon as the output exceeds `limit` bytes, `.malformed` for everything that is not a
    ///   complete stream with a right checksum.
    public static func zlib(_ input: SecretBytes, limit: Int) throws(InflateError) -> SecretBytes {
        try input.withSpan { (bytes) throws(InflateError) -> SecretBytes in
            // RFC 1950 §2.2: method 8, window up to 32 KiB, header divisible by 31, no preset dictionary.
            guard bytes.count >= 6, bytes[0] & 0x0F == 8, bytes[0] >> 4 <= 7, bytes[1] & 0x20 == 0,
                (Int(bytes[0]) << 8 | Int(bytes[1])) % 31 == 0
            else { throw .malformed }
            return try SecretBytes(capacity: min(limit, bytes.count * 4)) {
                (writer: inout SecretWriter) throws(InflateError) in
                var reader = BitReader(offset: 2)
                var isLast = false
                while !isLast {
                    isLast = try reader.bits(1, bytes) == 1
                    try block(bytes, &reader, &writer, limit)
                }
                reader.alignToByte()
                guard reader.offset == bytes.count - 4 else { throw .malformed }
                var expected: UInt32 = 0
                for index in (bytes.count - 4)..<bytes.count { expected = expected << 8 | UInt32(bytes[index]) }
                guard adler32(writer) == expected else { throw .malformed }
            }
        }
    }

    private static func block(
        _ bytes: borrowing Span<UInt8>, _ reader: inout BitReader, _ writer: inout SecretWriter, _ limit: Int
    ) throws(InflateError) {
        switch try reader.bits(2, bytes) {
        case 0: try stored(bytes, &reader, &writer, limit)
        case 1: try compressed(bytes, &reader, &writer, limit, .fixedLiterals, .fixedDistances)
        case 2:
            let (literals, distances) = try codes(bytes, &reader)
            try compressed(bytes, &reader, &writer, limit, literals, distances)
        default: throw .malformed
        }
    }

    /// RFC 1951 §3.2.4.
    private static func stored(
        _ bytes: borrowing Span<UInt8>, _ reader: inout BitReader, _ writer: inout SecretWriter, _ limit: Int
    ) throws(InflateError) {
        reader.alignToByte()
        let length = try reader.bits(16, bytes)
        guard try reader.bits(16, bytes) == ~length & 0xFFFF else { throw .malformed }
        guard writer.count + length <= limit else { throw .tooLarge }
        for _ in 0..<length { writer.append(UInt8(truncatingIfNeeded: try reader.bits(8, bytes))) }
    }

    /// RFC 1951 §3.2.3 and §3.2.5.
    private static func compressed(
        _ bytes: borrowing Span<UInt8>, _ reader: inout BitReader, _ writer: inout SecretWriter, _ limit: Int,
        _ literals: HuffmanCode, _ distances: HuffmanCode
    ) throws(InflateError) {
        while true {
            let symbol = try literals.symbol(&reader, bytes)
            if symbol == 256 { return }
            if symbol < 256 {
                guard writer.count < limit else { throw .tooLarge }
                writer.append(UInt8(truncatingIfNeeded: symbol))
                continue
            }
            guard symbol - 257 < lengthBase.count else { throw .malformed }
            let length = lengthBase[symbol - 257] + (try reader.bits(lengthExtra[symbol - 257], bytes))
            let code = try distances.symbol(&reader, bytes)
            guard code < distanceBase.count else { throw .malformed }
            let distance = distanceBase[code] + (try reader.bits(distanceExtra[code], bytes))
            guard distance <= writer.count else { throw .malformed }
            guard writer.count + length <= limit else { throw .tooLarge }
            for _ in 0..<length { writer.append(writer[writer.count - distance]) }
        }
    }

    /// The code lengths of a dynamic block (RFC 1951 §3.2.7).
    private static func codes(
        _ bytes: borrowing Span<UInt8>, _ reader: inout BitReader
    ) throws(InflateError) -> (literals: HuffmanCode, distances: HuffmanCode) {
        let literalCount = try reader.bits(5, bytes) + 257
        let distanceCount = try reader.bits(5, bytes) + 1
        let lengthCount = try reader.bits(4, bytes) + 4
        guard literalCount <= 286, distanceCount <= 30 else { throw .malformed }
        var lengthLengths = [UInt8](repeating: 0, count: 19)
        for index in 0..<lengthCount {
            lengthLengths[codeLengthOrder[index]] = UInt8(truncatingIfNeeded: try reader.bits(3, bytes))
        }
        let lengthCode = try HuffmanCode(lengths: lengthLengths)
        var lengths: [UInt8] = []
        while lengths.count < literalCount + distanceCount {
            let symbol = try lengthCode.symbol(&reader, bytes)
            switch symbol {
            case 0..<16: lengths.append(UInt8(truncatingIfNeeded: symbol))
            case 16:
                guard let last = lengths.last else { throw .malformed }
                lengths += [UInt8](repeating: last, count: try reader.bits(2, bytes) + 3)
            case 17: lengths += [UInt8](repeating: 0, count: try reader.bits(3, bytes) + 3)
            default: lengths += [UInt8](repeating: 0, count: try reader.bits(7, bytes) + 11)
            }
        }
        // A block without an end, or lengths that run over, are not deflate.
        guard lengths.count == literalCount + distanceCount, lengths[256] != 0 else { throw .malformed }
        return (
            try HuffmanCode(lengths: Array(lengths[..<literalCount])),
            try HuffmanCode(lengths: Array(lengths[literalCount...]), mayBeIncomplete: true)
        )
    }

    /// RFC 1950 §8.2.
    private static func adler32(_ writer: borrowing SecretWriter) -> UInt32 {
        var low: UInt32 = 1
        var high: UInt32 = 0
        for index in 0..<writer.count {
            low = (low + UInt32(writer[index])) % 65_521
            high = (high + low) % 65_521
        }
        return high << 16 | low
    }

    private static let codeLengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    private static let lengthBase = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    private static let lengthExtra = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    private static let distanceBase = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
        6145, 8193, 12289, 16385, 24577,
    ]
    private static let distanceExtra = [
        0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
    ]
}

/// Why bytes were not decompressed.
public enum InflateError: Error, Equatable, Sendable {
    case malformed
    case tooLarge
}
