// SPDX-License-Identifier: Apache-2.0
/// The fixed-size struct of a message: little-endian fields at natural alignment, changed in place to make the answer.
struct MessageBody {
    private(set) var bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// 0 where the body is too short to have the field.
    subscript(offset: Int) -> UInt32 {
        get {
            guard offset >= 0, offset + 4 <= bytes.count else { return 0 }
            return bytes[offset..<offset + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
        set {
            guard offset >= 0, offset + 4 <= bytes.count else { return }
            for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: newValue >> (8 * UInt32(index))) }
        }
    }

    /// The return code, which is the last field of every body.
    var result: UInt32 {
        get { self[bytes.count - 4] }
        set { self[bytes.count - 4] = newValue }
    }

    /// A NUL-terminated text of at most `count` bytes; in ISO/IEC 8859-1 where it is not UTF-8.
    func text(at offset: Int, count: Int) -> String {
        let text = bytes.dropFirst(offset).prefix(count).prefix { $0 != 0 }
        return String(validating: text, as: UTF8.self)
            ?? String(String.UnicodeScalarView(text.map { Unicode.Scalar($0) }))
    }
}
