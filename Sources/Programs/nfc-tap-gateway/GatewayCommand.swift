// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Codes
import Glibc
import Linux
import Suggestions

/// The door for browsers: in front of nfc-tapd, on this machine only.
@main
struct GatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nfc-tap-gateway",
        abstract: "Let browsers and tills use the card readers of nfc-tapd.",
        discussion: """
            Without a command it serves on 127.0.0.1:8716. A till is paired with a code that pair prints; see docs/integrating/gateway.md.
            """,
        version: Version.text,
        subcommands: [ServeCommand.self, PairCommand.self, TillsCommand.self, RevokeCommand.self, RotateCommand.self],
        defaultSubcommand: ServeCommand.self)

    static func main() async { await mainWithSuggestions() }
}

/// One line on standard error.
func complain(_ text: String) {
    try? Descriptor.write("nfc-tap-gateway: \(text)\n", to: STDERR_FILENO)
}

/// One line on standard output.
func say(_ text: String) {
    try? Descriptor.write("\(text)\n", to: STDOUT_FILENO)
}
