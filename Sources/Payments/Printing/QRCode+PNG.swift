// SPDX-License-Identifier: Apache-2.0

extension QRCode {
    /// A picture of one bit a pixel (PNG, ISO/IEC 15948), quiet zone included.
    /// - Parameter scale: pixels a module; brought into 1 to 32.
    public func png(scale: Int = 8) -> [UInt8] {
        let scale = min(max(scale, 1), 32)
        let side = (width + 2 * QRCode.quietZone) * scale
        var pixels: [UInt8] = []
        for y in 0..<side {
            let row = y / scale - QRCode.quietZone
            // Filter type 0 before every line; 1 is white, and the bits that fill the last byte are white too.
            pixels.append(0)
            for first in stride(from: 0, to: side, by: 8) {
                pixels.append(
                    (0..<8).reduce(UInt8(0)) { byte, bit in
                        byte << 1 | (self[(first + bit) / scale - QRCode.quietZone, row] ? 0 : 1)
                    })
            }
        }
        let head = bigEndian(side) + bigEndian(side) + [1, 0, 0, 0, 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", head) + chunk("IDAT", stored(pixels))
            + chunk("IEND", [])
    }
}

/// Length, type, data and CRC (ISO/IEC 15948 §5.3).
private func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
    let body = Array(type.utf8) + data
    var crc: UInt32 = 0xFFFF_FFFF
    for byte in body {
        crc ^= UInt32(byte)
        for _ in 0..<8 { crc = crc >> 1 ^ (crc & 1 == 1 ? 0xEDB8_8320 : 0) }
    }
    return bigEndian(data.count) + body + bigEndian(Int(~crc))
}

/// A zlib stream (RFC 1950) of stored blocks (RFC 1951 §3.2.4): a few kilobytes are not worth a compressor.
private func stored(_ data: [UInt8]) -> [UInt8] {
    var stream: [UInt8] = [0x78, 0x01]
    var rest = data[...]
    while true {
        let block = rest.prefix(0xFFFF)
        rest = rest.dropFirst(block.count)
        let length = UInt16(truncatingIfNeeded: block.count)
        stream.append(rest.isEmpty ? 1 : 0)
        for word in [length, ~length] {
            stream += [UInt8(truncatingIfNeeded: word), UInt8(truncatingIfNeeded: word >> 8)]
        }
        stream += block
        if rest.isEmpty { break }
    }
    var low: UInt32 = 1
    var high: UInt32 = 0
    for byte in data {
        low = (low + UInt32(byte)) % 65_521
        high = (high + low) % 65_521
    }
    return stream + bigEndian(Int(high << 16 | low))
}

/// Four bytes.
private func bigEndian(_ value: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
}
