// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import POSAPI
import TapClient

/// The payment service's terms: everybody may read them, only an administrator may accept them.
struct TermsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "terms", abstract: "Shows or accepts the payment service's terms.",
        discussion: """
            Live payments need the acceptance of an administrator: root, the daemon's user, or a member of nfc-tap-admin. \
            Other users get exit code 14. An acceptance covers every reader of the merchant, until the text or the payment \
            service's key changes.
            """,
        subcommands: [Show.self, Accept.self, Import.self], defaultSubcommand: Show.self)

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Prints the terms and whether they are accepted.")

        @OptionGroup var daemon: DaemonChoice

        @Flag(help: "Print JSON.")
        var json = false

        func run() async throws {
            let terms = try await TermsCommand.terms(daemon)
            if json { return try StandardOutput.print(json: terms) }
            if let text = terms.text { StandardOutput.print(text + "\n") }
            for line in TermsCommand.lines(terms) { StandardOutput.print(line) }
        }
    }

    struct Accept: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Accepts the terms for the merchant.",
            discussion: "Prints the terms and asks for confirmation. --yes skips both.")

        @Flag(help: "Accept without asking; the terms have been read.")
        var yes = false

        @Option(help: ArgumentHelp("Accept only the terms with this hash.", valueName: "hash"))
        var hash: String?

        @OptionGroup var daemon: DaemonChoice

        @Flag(help: "Print JSON.")
        var json = false

        func run() async throws {
            let terms = try await TermsCommand.terms(daemon)
            guard let text = terms.text, let current = terms.hash else {
                throw Failure(
                    "there are no terms yet", hint: "start the payment adapter, then check nfc-tap status",
                    exitCode: .unavailable)
            }
            if !yes { try ask(text, terms) }
            let acceptance: TermsAcceptance
            do throws(TapClientError) {
                acceptance = try await daemon.client.acceptTerms(hash: hash ?? current)
            } catch {
                throw Failure(error)
            }
            try TermsCommand.show(acceptance, json: json)
        }

        private func ask(_ text: String, _ terms: Terms) throws {
            guard isatty(STDIN_FILENO) == 1 else {
                throw Failure(
                    "cannot ask without a terminal", hint: "read the terms, then add --yes", exitCode: .malformedInput)
            }
            StandardError.write(text + "\n\n")
            StandardError.write(
                "nfc-tap: accept version \(terms.version ?? "") for \(terms.displayName ?? "")? Type yes: ")
            guard readLine(strippingNewline: true) == "yes" else {
                throw Failure("terms not accepted", exitCode: .notCompleted)
            }
        }
    }

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Accepts the terms with a file signed by the payment service.",
            discussion: "For fleets: the owner accepts once at the payment service; each till imports the file.")

        @Argument(help: ArgumentHelp("The file; - reads standard input.", valueName: "file"))
        var file: String

        @OptionGroup var daemon: DaemonChoice

        @Flag(help: "Print JSON.")
        var json = false

        func run() async throws {
            let text = try InputFile.text(at: file)
            let token = String(text.filter { !$0.isWhitespace })
            let acceptance: TermsAcceptance
            do throws(TapClientError) {
                acceptance = try await daemon.client.acceptTerms(file: token)
            } catch {
                throw Failure(error)
            }
            try TermsCommand.show(acceptance, json: json)
        }
    }

    private static func terms(_ daemon: DaemonChoice) async throws -> Terms {
        do throws(TapClientError) { return try await daemon.client.terms() } catch { throw Failure(error) }
    }

    private static func show(_ acceptance: TermsAcceptance, json: Bool) throws {
        if json { return try StandardOutput.print(json: acceptance) }
        StandardOutput.print("accepted: version \(acceptance.version) for merchant \(acceptance.merchant)")
    }

    private static func lines(_ terms: Terms) -> [String] {
        var lines = ["state     \(terms.state.rawValue)"]
        if let version = terms.version { lines.append("version   \(version)") }
        if let merchant = terms.merchant { lines.append("merchant  \(merchant)  (\(terms.displayName ?? ""))") }
        if let page = terms.page, terms.state == .notAccepted { lines.append("page      \(page)  (on any device)") }
        if let hash = terms.hash { lines.append("hash      \(hash)") }
        if let given = terms.acceptance {
            lines.append("accepted  \(given.acceptedAt) by \(given.acceptedBy) (\(given.source.rawValue))")
        }
        return lines
    }
}
