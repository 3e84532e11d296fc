// SPDX-License-Identifier: Apache-2.0
/// zlib streams whose one deflate block is stored, not compressed (RFC 1950, RFC 1951 §3.2.4): valid for every reader.
enum StoredZlib {
    /// - Parameter bytes: up to 65,535.
    static func stream(_ bytes: [UInt8]) -> [UInt8] {
        let length = UInt16(truncatingIfNeeded: bytes.count)
        var low: UInt32 = 1
        var high: UInt32 = 0
        for byte in bytes {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        let checksum = high << 16 | low
        return [0x78, 0x01, 0x01] + littleEndian(length) + littleEndian(~length) + bytes
            + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: checksum >> ($0 as UInt32)) }
    }

    private static func littleEndian(_ value: UInt16) -> [UInt8] {
        [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
    }
}
