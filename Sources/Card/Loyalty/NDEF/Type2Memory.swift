// SPDX-License-Identifier: Apache-2.0
/// Finds UID and NDEF message in the memory of a Type 2 tag as it was read from page 0 on (NFC Forum T2T §2, §3).
///
/// Reading the pages is the reader's business: Type 2 tags take no APDUs.
public struct Type2Memory: Equatable, Sendable {
    /// 7 bytes from pages 0 to 2.
    public let uid: [UInt8]
    /// Offsets of the NDEF message in the memory; `nil` where there is none.
    public let message: Range<Int>?

    /// - Throws: `Type2MemoryError` for what is no such memory. Bytes after the data area are ignored.
    public init(_ memory: [UInt8]) throws(Type2MemoryError) {
        guard memory.count >= 16 else { throw .tooShort }
        guard memory[3] == 0x88 ^ memory[0] ^ memory[1] ^ memory[2],
            memory[8] == memory[4] ^ memory[5] ^ memory[6] ^ memory[7]
        else { throw .wrongCheckByte }
        guard memory[12] == 0xE1, memory[13] >> 4 == 1 else { throw .noCapabilityContainer }
        uid = Array(memory[0..<3] + memory[4..<8])
        message = try Type2Memory.message(memory, end: min(memory.count, 16 + Int(memory[14]) * 8))
    }

    static func message(_ memory: [UInt8], end: Int) throws(Type2MemoryError) -> Range<Int>? {
        var offset = 16
        while offset < end {
            let type = memory[offset]
            offset += 1
            if type == 0x00 { continue }
            if type == 0xFE { return nil }
            guard offset < end else { throw .truncated }
            var length = Int(memory[offset])
            offset += 1
            if length == 0xFF {
                guard end - offset >= 2 else { throw .truncated }
                length = Int(memory[offset]) << 8 | Int(memory[offset + 1])
                offset += 2
            }
            guard end - offset >= length else { throw .truncated }
            if type == 0x03 { return offset..<offset + length }
            offset += length
        }
        return nil
    }
}

/// Why bytes are no Type 2 tag memory.
public enum Type2MemoryError: Error, Equatable, Sendable {
    case tooShort
    /// A block check character of the UID does not match (ISO/IEC 14443-3 §6.5.4).
    case wrongCheckByte
    case noCapabilityContainer
    case truncated
}
