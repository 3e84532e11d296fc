// SPDX-License-Identifier: Apache-2.0
/// How data are brought to whole blocks of eight bytes (ISO/IEC 9797-1 §6.3).
enum MACPadding: Sendable {
    /// Method 1: zero bytes, only where needed.
    case zeros
    /// Method 2: 80, then zero bytes; always at least the 80.
    case markedZeros

    func padded(_ data: [UInt8]) -> [UInt8] {
        let marked = self == .markedZeros ? data + [0x80] : data
        return marked + [UInt8](repeating: 0, count: (8 - marked.count % 8) % 8)
    }
}
