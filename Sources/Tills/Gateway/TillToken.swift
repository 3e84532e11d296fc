// SPDX-License-Identifier: Apache-2.0
import Crypto
import FoundationEssentials
import PaymentValues

/// What a till proves itself with: `nt1.bar-1.` and 43 characters of base64url (RFC 4648 §5) for 32 random bytes.
struct TillToken: Equatable, Sendable {
    let till: String
    private let secret: [UInt8]

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
        let padded = String(parts[2].map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }) + "="
        guard let bytes = Data(base64Encoded: padded), bytes.count == Self.secretBytes else { return nil }
        (till, secret) = (String(parts[1]), Array(bytes))
        // Whatever the library reads beside: `+`, `/`, and the two bits that 43 letters have more than 32 bytes.
        guard self.text == text else { return nil }
    }

    var text: String {
        let padded = Data(secret).base64EncodedString()
        return "nt1.\(till)." + String(padded.prefix(43).map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
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
