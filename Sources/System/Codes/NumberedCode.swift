// SPDX-License-Identifier: Apache-2.0
/// How the tables of ISO codes are written: words of three digits and letters.
struct NumberedCode {
    let letters: String
    let numeric: UInt16

    static func list(_ words: String) -> [NumberedCode] {
        words.split(whereSeparator: \.isWhitespace).compactMap { word in
            UInt16(word.prefix(3)).map { NumberedCode(letters: String(word.dropFirst(3)), numeric: $0) }
        }
    }
}
