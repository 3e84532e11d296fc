// SPDX-License-Identifier: Apache-2.0
/// The checksum of type A frames (ISO/IEC 14443-3 §6.2.4): initial value 6363, reflected polynomial 8408.
enum CRCA {
    /// Two bytes, the low one first, as they follow the frame on the air.
    static func bytes(of frame: some Sequence<UInt8>) -> [UInt8] {
        var crc: UInt16 = 0x6363
        for byte in frame {
            crc ^= UInt16(byte)
            for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0x8408 }
        }
        return [UInt8(truncatingIfNeeded: crc), UInt8(truncatingIfNeeded: crc >> 8)]
    }
}
