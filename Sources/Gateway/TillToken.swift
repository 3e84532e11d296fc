// SPDX-License-Identifier: Apache-2.0
import Crypto
import Wire

/// What a till proves itself with: `nt1.bar-1.` and 43 characters of base64url (RFC 4648 §5) for 32 random bytes.
struct TillToken: Equatable, Sendable {
    let till: String
    private let secret: [UInt8]

    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let secretBytes = 32

    init(till: String, using generator: inout some RandomNumberGenerator) {
        self.till = till
        secret = (0..<Self.secretBytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// - Returns: `nil` for whatever `text` does not write: one token has one form.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "nt1", TillName(String(parts[1])) != nil, parts[2].utf8.count == 43 else {
            return nil
        }
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for letter in parts[2].utf8 {
            guard let value = Self.letters.firstIndex(of: letter) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        // 43 letters have two bits more than 32 bytes.
        guard bytes.count == Self.secretBytes, bits & 0b11 == 0 else { return nil }
        till = String(parts[1])
        secret = bytes
    }

    var text: String {
        var encoded: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for byte in secret {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                encoded.append(Self.letters[Int(bits >> UInt32(count) & 0x3F)])
            }
        }
        if count > 0 { encoded.append(Self.letters[Int(bits << UInt32(6 - count) & 0x3F)]) }
        return "nt1.\(till)." + String(decoding: encoded, as: UTF8.self)
    }

    /// What is kept of it. A plain hash is enough for 256 random bits.
    var hash: String { LowerHex.text(SHA256.hash(data: secret)) }

    static func hash(of text: String) -> String { LowerHex.text(SHA256.hash(data: Array(text.utf8))) }

    /// Takes as long for hashes that differ as for the same ones.
    static func isSame(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        return zip(left.utf8, right.utf8).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
