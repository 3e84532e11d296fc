// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A reader's name between pcscd, for which it is bytes, and everybody else, for whom it is text.
///
/// Drivers take names from USB strings as they come. One that is not UTF-8 is read as ISO/IEC 8859-1, of which every byte is a
/// character, and pcscd gets the same bytes back.
enum ListedName {
    /// The bytes of names that are not UTF-8, by their text.
    private static let foreign = Mutex<[String: [UInt8]]>([:])
    /// pcscd has 16 readers; what was seen long ago is listed again before it is used.
    private static let most = 256

    /// The text of a name in pcscd's list.
    static func text(of bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        let text = String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        foreign.withLock { foreign in
            if foreign.count >= most { foreign = [:] }
            foreign[text] = bytes
        }
        return text
    }

    /// What pcscd calls the reader of that text, with the NUL at its end.
    static func bytes(of text: String) -> [CChar] {
        let bytes = foreign.withLock { $0[text] } ?? Array(text.utf8)
        return bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0]
    }
}
