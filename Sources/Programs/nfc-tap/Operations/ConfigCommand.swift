// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Configuration
import Glibc
import Linux
import Settings

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Checks the daemon's configuration.", subcommands: [Check.self])

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Validates a configuration file and lists every error.",
            discussion: """
                Reads the file and all files that it names, as the daemon would, and changes nothing. Exit codes: 0 valid, \
                65 invalid.
                """)

        @Argument(help: ArgumentHelp("The configuration file.", valueName: "file"))
        var file = "/etc/nfc-tap/nfc-tapd.toml"

        @Flag(help: "Print JSON.")
        var json = false

        func run() throws {
            let found = ConfigurationCheck(
                file: file, host: .ofInstalledDaemon, at: UInt64(max(0, time(nil))))
            StandardOutput.print(json ? found.json : found.summary)
            if !found.errors.isEmpty { throw ExitCode(65) }
        }
    }
}
