// SPDX-License-Identifier: Apache-2.0
public import CardBytes
public import Envelope

/// Why a key could not do what it was asked for.
public enum OpeningRefusal: Error, Equatable, Sendable {
    /// Whatever is wrong with the envelope or the sealed bytes. There is one case for all of it: the difference between a bad tag and
    /// a bad padding opens envelopes (Manger, CRYPTO 2001). It stays so however often it is tried.
    case unreadable
    /// It names a key that is not here, or not any more. It stays so until somebody brings the key; somebody has to be told.
    case unknownKey
    /// More waits for the keys than they can do in time. Nothing was done: ask again in a second.
    case busy
    /// The keys cannot be used now: no module, no token, logged out, or it took too long. Nothing is known of what was asked; ask again.
    case unavailable
}

/// The keys of a switch, in a token or in a file. All calls may come at the same time from any task, and block no thread of the
/// cooperative pool.
public protocol EnvelopeOpener: Sendable {
    /// What tills may seal to, for `GET /v1/keys`. It is asked for by each health check too, so it says whether the keys can be used.
    func recipients() async throws(OpeningRefusal) -> RecipientKeySet

    /// Opens the compact JWE of one read.
    ///
    /// - Returns: the card record, JSON in UTF-8.
    func open(_ envelope: String) async throws(OpeningRefusal) -> SecretBytes

    /// Opens the compact JWE of one read and names its card, if `number` finds one in it.
    ///
    /// - Returns: the card record and the card's name; `nil` for a name where there is no number.
    func open(
        _ envelope: String, merchant: String, number: @escaping @Sendable (SecretBytes) -> SecretBytes?
    ) async throws(OpeningRefusal) -> (record: SecretBytes, token: String?)

    /// The card's name for one merchant: the same for each read, another one for each merchant; without the key nobody gets from it
    /// to the number. Make its text with `CardTokenText`.
    ///
    /// - Parameter number: 8 to 19 digits in ASCII.
    func cardToken(merchant: String, number: SecretBytes) async throws(OpeningRefusal) -> String

    /// Seals what the books have to keep of a card, so that only `unseal` with the same name gets it back.
    ///
    /// - Parameter name: what the content belongs to: authenticated, not secret.
    /// - Returns: bytes that say by themselves which key sealed them; another one each time.
    func seal(_ content: SecretBytes, for name: String) async throws(OpeningRefusal) -> [UInt8]

    func unseal(_ sealed: [UInt8], for name: String) async throws(OpeningRefusal) -> SecretBytes
}

/// The text of a card token: `ct_` and the first 16 bytes of HMAC-SHA-256 in Base64url.
public enum CardTokenText {
    /// What the HMAC is made over: the merchant in UTF-8, a zero byte, the number, and a byte that counts the attempts.
    public static func message(merchant: String, number: SecretBytes, attempt: UInt8) -> SecretBytes {
        SecretBytes(capacity: merchant.utf8.count + number.count + 2) { writer in
            writer.append(contentsOf: merchant.utf8)
            writer.append(0)
            number.withSpan { digits in
                for index in digits.indices { writer.append(digits[index]) }
            }
            writer.append(attempt)
        }
    }

    /// `nil` where the text has a run of eight digits, which looks like a part of a card number: count the attempt up, from 0.
    ///
    /// - Parameter code: HMAC-SHA-256, 32 bytes.
    public static func text(_ code: [UInt8]) -> String? {
        let text = Base64URL.string(Array(code.prefix(16)))
        var run = 0
        for unit in text.utf8 {
            run = (0x30...0x39).contains(unit) ? run + 1 : 0
            if run == 8 { return nil }
        }
        return "ct_" + text
    }
}
