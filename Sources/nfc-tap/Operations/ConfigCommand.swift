import ArgumentParser
import Configuration
import Glibc

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Looks at the daemon's configuration.", subcommands: [Check.self])

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Says whether a configuration file is right, and what is not.",
            discussion: """
                Reads the file and all that it names, as the daemon would, and changes nothing. Exit codes: 0 right, 65 \
                wrong.
                """)

        @Argument(help: ArgumentHelp("The file.", valueName: "file"))
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
