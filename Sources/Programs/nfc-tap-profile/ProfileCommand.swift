// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CardBytes
import Codes
import Envelope
import Glibc
import HSM
import Issuing
import Linux
import PaymentValues
import Profile
import Suggestions

/// A payment service's desk for its merchants' profiles.
@main
struct ProfileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nfc-tap-profile",
        abstract: "Make, check and sign merchants' profiles, terms and receipts of batches.",
        discussion: """
            For payment services; tills do not need it. Keys are in a PKCS #11 token or, for tests, in files; see \
            docs/service/keys-and-token.md. docs/operating/profile.md describes profiles.
            """,
        version: Version.text,
        subcommands: [
            KeyCommand.self, Check.self, Sign.self, Show.self, Diff.self, Fleet.self, Renew.self, Revoke.self,
            TermsFile.self, Receipt.self, Serve.self,
        ])

    static func main() async { await mainWithSuggestions() }

    static func say(_ text: String) {
        try? Descriptor.write("nfc-tap-profile: \(text)\n", to: STDERR_FILENO)
    }

    static func print(_ text: String) throws { try Descriptor.print(text) }

    /// The content of a file, or of standard input for `-`.
    static func read(_ path: String) throws(IssuingError) -> [UInt8] {
        do throws(SystemError) {
            if path == "-" { return try Descriptor.standardInput().readAll(atMost: 4 << 20) }
            return try FileSystem.bytes(of: path, atMost: 4 << 20)
        } catch {
            throw .file(path, errno: error.code)
        }
    }

    /// Does the work, or says what keeps it from being done and ends with status 1.
    static func run(_ work: () async throws -> Void) async throws {
        // Private keys of files and PINs do not belong into a core dump.
        if !ProcessHardening.forbidDumps() { say("warning: core dumps could not be forbidden") }
        do { try await work() } catch let error as ExitCode { throw error } catch {
            say("\(error)")
            throw ExitCode(1)
        }
    }
}

/// Where keys are.
struct TokenOptions: ParsableArguments {
    @Option(help: ArgumentHelp("PKCS #11 module of the token that has the keys.", valueName: "module"))
    var pkcs11: String?

    @Option(help: ArgumentHelp("Label of the token.", valueName: "label"))
    var token: String?

    @Option(
        help: ArgumentHelp(
            "File with the token's PIN, which only its owner may read. Default: the credential token-pin of systemd.",
            valueName: "file"))
    var pinFile: String?

    func validate() throws {
        guard (pkcs11 == nil) == (token == nil) else {
            throw ValidationError("Give --pkcs11 and --token together.")
        }
    }

    /// `nil` where no token is named.
    func settings() throws -> TokenSettings? {
        guard let pkcs11, let token else { return nil }
        let credential = Environment.value("CREDENTIALS_DIRECTORY").map { $0 + "/token-pin" }
        guard let path = pinFile ?? credential else {
            ProfileCommand.say("no PIN: name its file with --pin-file")
            throw ExitCode(64)
        }
        do throws(PINFile.Fault) {
            var settings = TokenSettings(module: pkcs11, token: token, pin: try PINFile.read(path))
            settings.sessions = 1
            settings.limit = .seconds(30)
            return settings
        } catch {
            ProfileCommand.say("\(path) \(error)")
            throw ExitCode(1)
        }
    }
}

struct SignerOptions: ParsableArguments {
    @OptionGroup var tokens: TokenOptions

    @Option(help: ArgumentHelp("Label of the signing key in the token, which is also its kid.", valueName: "label"))
    var label: String?

    @Option(
        help: ArgumentHelp(
            "File with the private JWK that signs. For tests: whoever reads it signs too.", valueName: "file"))
    var file: String?

    func validate() throws {
        guard (label != nil) != (file != nil), (label == nil) == (tokens.pkcs11 == nil) else {
            throw ValidationError("Name the key that signs: --pkcs11, --token and --label, or --file.")
        }
    }

    func key() throws -> ProfileSigningKey {
        if let file { return .file(try SigningKey(jwk: try Secrets.read(file))) }
        guard var settings = try tokens.settings(), let label else { throw ExitCode(64) }
        settings.signer = TokenKey(label: label)
        return .token(try Token(settings))
    }
}

/// Private JWKs in files.
enum Secrets {
    static func read(_ path: String) throws(IssuingError) -> SecretBytes {
        do throws(SystemError) {
            let file = try Descriptor.reading(path)
            return try SecretBytes(capacity: 4_096) { (writer) throws(SystemError) in
                try file.readSecret(atMost: 64 * 1_024) { writer.append($0) }
            }
        } catch {
            throw .file(path, errno: error.code)
        }
    }

    /// A new file that its owner alone may read.
    static func write(_ secret: SecretBytes, to path: String) throws(IssuingError) {
        do throws(SystemError) {
            try secret.withSpan { (bytes) throws(SystemError) in
                try DurableFile.create(path, with: bytes, mode: 0o600)
            }
        } catch {
            throw .file(path, errno: error.code)
        }
    }
}

struct ProofOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Label of the token that has the recipient keys, if it is not the signing key's token.",
            valueName: "label"))
    var recipientToken: String?

    @Option(help: ArgumentHelp("File with that token's PIN.", valueName: "file"))
    var recipientPinFile: String?

    @Option(
        help: ArgumentHelp("File with a private JWK of a recipient, for tests; may be repeated.", valueName: "file"))
    var recipientFile: [String] = []

    @Flag(help: "Sign without a proof that envelopes for the recipient keys can be opened.")
    var recipientsElsewhere = false

    func proof(_ signer: SignerOptions) throws -> RecipientProof {
        if recipientsElsewhere { return .elsewhere }
        if !recipientFile.isEmpty {
            return .files(try recipientFile.map { try RecipientPrivateKey(jwk: try Secrets.read($0)) })
        }
        var options = signer.tokens
        if let recipientToken { options.token = recipientToken }
        if let recipientPinFile { options.pinFile = recipientPinFile }
        guard let settings = try options.settings() else { return .files([]) }
        return .token(settings)
    }
}
