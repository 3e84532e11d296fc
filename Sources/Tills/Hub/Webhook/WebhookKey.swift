// SPDX-License-Identifier: Apache-2.0
import Crypto

/// A key that a receiver knows, and signatures under it (Standard Webhooks, symmetric): HMAC-SHA-256 of id, time and body.
package struct WebhookKey: Sendable {
    private let key: SymmetricKey

    /// - Parameter text: `whsec_` and the Base64 of 24 to 64 bytes.
    /// - Returns: `nil` for everything else.
    package init?(_ text: String) {
        guard text.hasPrefix("whsec_"), let bytes = Base64.bytes(text.dropFirst(6)), (24...64).contains(bytes.count)
        else { return nil }
        key = SymmetricKey(data: bytes)
    }

    /// One signature with its version: `v1,…`.
    package func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
        var code = HMAC<SHA256>(key: key)
        code.update(data: Array("\(id).\(timestamp).".utf8))
        code.update(data: body)
        return "v1,\(Base64.text(Array(code.finalize())))"
    }

    /// Signatures under several keys, as a change of keys needs them, with a blank between.
    package static func signatures(_ keys: [WebhookKey], id: String, timestamp: Int64, body: [UInt8]) -> String {
        keys.map { $0.signature(id: id, timestamp: timestamp, body: body) }.joined(separator: " ")
    }
}

/// RFC 4648 §4, with its padding.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let number = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for index in 0..<4 {
                let digit = Int(number >> UInt32(18 - 6 * index) & 63)
                text.append(index <= group.count ? alphabet[digit] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// `nil` for what is not that: other characters, padding that is missing, bits that say nothing.
    static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 4) else { return nil }
        let padding = digits.suffix(2).count { $0 == UInt8(ascii: "=") }
        var (bits, held) = (UInt32(0), 0)
        var bytes: [UInt8] = []
        for digit in digits.dropLast(padding) {
            guard let value = alphabet.firstIndex(of: digit) else { return nil }
            bits = bits << 6 | UInt32(value)
            held += 6
            if held >= 8 {
                held -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(held)))
                bits &= (1 << UInt32(held)) - 1
            }
        }
        return bits == 0 ? bytes : nil
    }
}
