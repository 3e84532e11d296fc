// SPDX-License-Identifier: Apache-2.0

/// Hexadecimal text in lower case, as hashes and names are written in files and messages.
package enum LowerHex {
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0x0F)]] }, as: UTF8.self)
    }
}
