// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CardBytes
import Envelope
import Glibc
import HSM
import ISO8583
import Linux
import Logging
import PaymentValues
import Switch

/// Where the switch has its keys: in a token or, for tests, in a file.
struct KeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "FOR TESTS: private JWK that opens envelopes and seals card numbers. Whoever reads the file reads them all.",
            valueName: "file"))
    var testKey: String?

    @Option(help: ArgumentHelp("PKCS #11 module of the token that has the keys.", valueName: "module"))
    var pkcs11: String?

    @Option(help: ArgumentHelp("Label of the token.", valueName: "label"))
    var token: String?

    @Option(
        help: ArgumentHelp(
            "File with the token's PIN, which only its owner may read. Default: the credential token-pin of systemd.",
            valueName: "file"))
    var pinFile: String?

    @Option(
        help: ArgumentHelp(
            "Label of a key that tills seal to, which is also its kid. Give the newest first; keep an old one for 35 days.",
            valueName: "label"))
    var recipient: [String] = []

    @Option(help: ArgumentHelp("Label of the secret that names cards.", valueName: "label"))
    var cardTokenKey: String = "card-tokens"

    @Option(
        help: ArgumentHelp(
            "Prefix of the labels of the AES keys that seal card numbers in the books; a month follows, as in books-2026-11.",
            valueName: "prefix"))
    var books: String = "books-"

    @Option(
        help: ArgumentHelp(
            "Label of the token's key for the codes of messages, where the packager has “mac” and the acquirer hands no keys over.",
            valueName: "label"))
    var macKey: String?

    @Option(
        help: ArgumentHelp(
            "Label of the token's AES key that unwraps the keys which the acquirer hands over.", valueName: "label"))
    var zoneKey: String?

    @Flag(help: "Let the token do RSA without padding, for tokens without OAEP with SHA-256.")
    var allowRawRSA = false

    @Option(help: ArgumentHelp("Sessions of the token, each on a thread of its own.", valueName: "count"))
    var sessions: Int = 2

    func validate() throws {
        guard (testKey != nil) != (pkcs11 != nil), (pkcs11 == nil) == (token == nil) else {
            throw ValidationError("Name the keys: --pkcs11, --token and --recipient, or --test-key for tests.")
        }
        guard pkcs11 == nil || !recipient.isEmpty else {
            throw ValidationError("Name a key that tills seal to with --recipient.")
        }
        guard (1...32).contains(sessions) else { throw ValidationError("Sessions must be between 1 and 32.") }
    }

    /// The keys, and a sentence where they protect nothing.
    ///
    /// - Parameters:
    ///   - mac: how messages are authenticated, if they are.
    ///   - logger: where the token's faults are told, each kind once in ten seconds.
    func keys(
        _ logger: Logger, mac: MACRules?
    ) throws -> (keys: any EnvelopeOpener, macs: (any MessageAuthenticator)?, warning: String?) {
        let pace = LogPace()
        let told: @Sendable (TokenError) -> Void = { error in
            // Labels are the operator's own words, and few.
            pace.log(logger, .error, "token: \(error)")
        }
        if let testKey {
            let keys = try SoftwareKeys(recipients: [try Self.secret(testKey)])
            return (
                TokenOpener(token: keys, told: told), nil,
                "keys come from a file, nothing sealed to them is protected"
            )
        }
        guard let pkcs11, let token else { throw ExitCode(64) }
        guard let path = pinFile ?? Environment.value("CREDENTIALS_DIRECTORY").map({ $0 + "/token-pin" }) else {
            throw ValidationError("Name the file of the token's PIN with --pin-file.")
        }
        var settings = TokenSettings(module: pkcs11, token: token, pin: try pin(path))
        settings.recipients = recipient.map { TokenKey(label: $0) }
        settings.cardTokens = TokenKey(label: cardTokenKey, kind: .secret)
        settings.books = books
        settings.month = Self.month
        settings.allowsRawRSA = allowRawRSA
        settings.sessions = sessions
        settings.needed = messageKey(mac)?.tokenKeys ?? []
        settings.noteOpenKey = { label in
            logger.warning(
                "a key of the token was made without CKA_SENSITIVE, and is slow: make another one",
                metadata: ["key": "\(label)"])
        }
        let opened = try Token(settings)
        return (TokenOpener(token: opened, told: told), coder(opened, mac, told), nil)
    }

    private func coder(
        _ token: Token, _ mac: MACRules?, _ told: @escaping @Sendable (TokenError) -> Void
    ) -> TokenCoder? {
        guard let mac, let key = messageKey(mac) else { return nil }
        guard mac.exchange != nil else { return TokenCoder(token: token, own: key, told: told) }
        return TokenCoder(token: token, own: nil, told: told) { key.wrapping($0) }
    }

    /// The key of messages that the settings name; one that the acquirer hands over is not there yet.
    private func messageKey(_ mac: MACRules?) -> MessageKey? {
        guard let mac else { return nil }
        let isCMAC = mac.algorithm == .cmac
        guard mac.exchange != nil else {
            return macKey.map { isCMAC ? .cmac(label: $0) : .retail(label: $0) }
        }
        return zoneKey.map { isCMAC ? .wrapped([], under: $0) : .wrappedRetail([], under: $0) }
    }

    /// A private JWK, whose bytes stay out of strings.
    private static func secret(_ path: String) throws -> SecretBytes {
        do throws(SystemError) {
            let file = try Descriptor.reading(path)
            return try SecretBytes(capacity: 4_096) { (writer) throws(SystemError) in
                try file.readSecret(atMost: 64 * 1_024) { writer.append($0) }
            }
        } catch {
            throw ValidationError("\(path) cannot be read: \(error.remedy).")
        }
    }

    private func pin(_ path: String) throws -> SecretBytes {
        do throws(PINFile.Fault) { return try PINFile.read(path) } catch { throw ValidationError("\(path) \(error)") }
    }

    /// The month in UTC, as `2026-11`: how RFC 3339 begins.
    @Sendable private static func month() -> String { String(Timestamp.now.description.prefix(7)) }
}

/// The keys of a token, or those that stand in for them in tests, as the switch asks for them.
struct TokenOpener: EnvelopeOpener {
    let token: any TokenKeys
    /// Told why the token did not do what it was asked for; no secret stands in it.
    var told: @Sendable (TokenError) -> Void = { _ in }

    private func refusal(_ error: TokenError) -> OpeningRefusal {
        switch error {
        // Of an envelope, which may name what it likes; or nothing that the token could help.
        case .envelope, .unknownKey, .unavailable(.busy), .unavailable(.abandoned): break
        case .unfitKey, .pinRefused, .unavailable, .refused: told(error)
        }
        return OpeningRefusal(error)
    }

    func recipients() async throws(OpeningRefusal) -> RecipientKeySet {
        do throws(TokenError) {
            let (keys, faults) = try await token.usableRecipients()
            for fault in faults { told(fault) }
            return keys
        } catch { throw refusal(error) }
    }

    func open(_ envelope: String) async throws(OpeningRefusal) -> SecretBytes {
        do throws(TokenError) { return try await token.open(envelope) } catch { throw refusal(error) }
    }

    func open(
        _ envelope: String, merchant: String, number: @escaping @Sendable (SecretBytes) -> SecretBytes?
    ) async throws(OpeningRefusal) -> (record: SecretBytes, token: String?) {
        let (record, code): (SecretBytes, [UInt8]?)
        do throws(TokenError) {
            (record, code) = try await token.open(envelope) { record in
                number(record).map { CardTokenText.message(merchant: merchant, number: $0, attempt: 0) }
            }
        } catch {
            throw refusal(error)
        }
        guard let code else { return (record, nil) }
        if let text = CardTokenText.text(code) { return (record, text) }
        // Looks like a part of a number: counted up.
        guard let number = number(record) else { return (record, nil) }
        return (record, try await cardToken(merchant: merchant, number: number))
    }

    func cardToken(merchant: String, number: SecretBytes) async throws(OpeningRefusal) -> String {
        for attempt in UInt8.min...UInt8.max {
            let message = CardTokenText.message(merchant: merchant, number: number, attempt: attempt)
            do throws(TokenError) {
                if let text = CardTokenText.text(try await token.code(of: message)) { return text }
            } catch {
                throw refusal(error)
            }
        }
        throw .unavailable
    }

    func seal(_ content: SecretBytes, for name: String) async throws(OpeningRefusal) -> [UInt8] {
        do throws(TokenError) { return try await token.seal(content, for: name) } catch { throw refusal(error) }
    }

    func unseal(_ sealed: [UInt8], for name: String) async throws(OpeningRefusal) -> SecretBytes {
        do throws(TokenError) { return try await token.unseal(sealed, for: name) } catch { throw refusal(error) }
    }
}

/// The token's codes of messages.
struct TokenCoder: MessageAuthenticator {
    let token: any TokenKeys
    let own: MessageKey?
    let told: @Sendable (TokenError) -> Void
    /// The key that the acquirer has handed over; `nil` where it hands none over.
    var handed: (@Sendable ([UInt8]) -> MessageKey)?

    func code(of message: [UInt8], wrapped: [UInt8]?) async throws(OpeningRefusal) -> [UInt8] {
        guard let key = wrapped == nil ? own : wrapped.flatMap({ handed?($0) }) else { throw .unknownKey }
        do throws(TokenError) { return try await token.code(of: message, with: key) } catch {
            told(error)
            throw OpeningRefusal(error)
        }
    }
}

extension MessageKey {
    /// The same with what the acquirer has wrapped.
    fileprivate func wrapping(_ wrapped: [UInt8]) -> MessageKey {
        switch self {
        case .wrapped(_, let label): .wrapped(wrapped, under: label)
        case .wrappedRetail(_, let label): .wrappedRetail(wrapped, under: label)
        case .cmac, .retail: self
        }
    }
}

extension OpeningRefusal {
    /// What a token cannot do for reasons of its own says nothing of the envelope.
    init(_ error: TokenError) {
        switch error {
        case .envelope(.wrongKey), .unknownKey: self = .unknownKey
        case .envelope: self = .unreadable
        case .unavailable(.busy): self = .busy
        case .unfitKey, .pinRefused, .unavailable, .refused: self = .unavailable
        }
    }
}
