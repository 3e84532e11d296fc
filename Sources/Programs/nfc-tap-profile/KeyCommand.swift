// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Envelope
import HSM
import Issuing

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Make keys.", subcommands: [NewKey.self])
}

struct NewKey: AsyncParsableCommand {
    /// What a key is for.
    enum Purpose: String, ExpressibleByArgument, CaseIterable {
        /// Signs profiles, terms or receipts.
        case signing
        /// Card data is sealed to it.
        case recipient
        /// Makes card tokens.
        case cardTokens
        /// Seals the books of a month; its label ends with it, as in books-2026-11.
        case books
    }

    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Make a key and print its public JWK.",
        discussion: """
            A key in a token never leaves it. --file makes a signing key for tests in a file. Put the printed JWK into \
            profile.key of the tills' configuration, or into recipientKeys or receiptTokenKey of a profile.
            """)

    @OptionGroup var tokens: TokenOptions

    @Option(help: ArgumentHelp("Label of the new key, and kid of its JWK.", valueName: "label"))
    var label: String?

    @Option(name: .customLong("for"), help: "signing, recipient, cardTokens or books.")
    var purpose = Purpose.signing

    @Option(help: ArgumentHelp("Make a signing key in this file, which must not exist yet.", valueName: "file"))
    var file: String?

    func validate() throws {
        guard (file != nil) != (label != nil), (label == nil) == (tokens.pkcs11 == nil) else {
            throw ValidationError("Say where to make the key: give --pkcs11, --token and --label, or --file.")
        }
        guard file == nil || purpose == .signing else {
            throw ValidationError("A file can hold a signing key only; make other keys in a token.")
        }
        guard !(label?.isEmpty ?? false), (label?.utf8.count ?? 0) <= 128 else {
            throw ValidationError("A label has 1 to 128 bytes.")
        }
    }

    func run() async throws {
        try await ProfileCommand.run {
            if let file {
                let key = SigningKey()
                try Secrets.write(key.jwk, to: file)
                try ProfileCommand.print(key.verificationKey.jwk)
                return
            }
            guard var settings = try tokens.settings(), let label else { return }
            let kind: TokenKey.Kind = purpose == .signing || purpose == .recipient ? .p256 : .secret
            let key = TokenKey(label: label, kind: kind)
            settings.mayMakeKeys = true
            settings.signer = key
            settings.recipients = [key]
            let token = try Token(settings)
            try await token.make(key, signs: purpose == .signing || purpose == .cardTokens)
            switch purpose {
            case .signing: try ProfileCommand.print(try await token.verificationKey().jwk)
            case .recipient:
                try await token.prove()
                for recipient in try await token.recipients().keys { try ProfileCommand.print(recipient.jwk) }
            case .cardTokens, .books: ProfileCommand.say("made \(label)")
            }
            await token.close()
        }
    }
}
