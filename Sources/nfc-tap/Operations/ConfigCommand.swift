import ArgumentParser
import Linux

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Looks at the daemon's configuration.", subcommands: [Check.self])

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Says whether a configuration file is right, and what is not.",
            discussion: """
                Reads the file and all that it names, as the daemon would, and changes nothing. Exit codes: 0 right, 65 \
                wrong, 69 no nfc-tapd.
                """)

        @Argument(help: ArgumentHelp("The file.", valueName: "file"))
        var file = "/etc/nfc-tap/nfc-tapd.toml"

        @Flag(help: "Print JSON.")
        var json = false

        /// The daemon's own reading decides, so that it cannot differ from what is checked here.
        func run() throws {
            let program = Self.daemon
            let arguments = ["--check", "--config", file] + (json ? ["--json"] : [])
            do throws(SystemError) { try StartedProgram.replaceThisOne(by: program, arguments) } catch {
                throw Failure("\(program) cannot be started", hint: "install nfc-tapd", exitCode: .unavailable)
            }
        }

        /// Beside this program, else where the package puts it.
        private static var daemon: String {
            guard let beside = Environment.beside("nfc-tapd"), FileSystem.isExecutable(beside) else {
                return "/usr/bin/nfc-tapd"
            }
            return beside
        }
    }
}
