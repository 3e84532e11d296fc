import ArgumentParser
import Linux

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Checks the daemon's configuration.", subcommands: [Check.self])

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Validates a configuration file and lists every error.",
            discussion: """
                Reads the file and all files that it names, as the daemon would, and changes nothing. Exit codes: 0 valid, \
                65 invalid, 69 no nfc-tapd.
                """)

        @Argument(help: ArgumentHelp("The configuration file.", valueName: "file"))
        var file = "/etc/nfc-tap/nfc-tapd.toml"

        @Flag(help: "Print JSON.")
        var json = false

        /// The daemon reads the file, so that the check cannot differ from the daemon.
        func run() throws {
            let program = Self.daemon
            let arguments = ["--check", "--config", file] + (json ? ["--json"] : [])
            do throws(SystemError) { try StartedProgram.replaceThisOne(by: program, arguments) } catch {
                throw Failure("cannot start \(program)", hint: "install nfc-tapd", exitCode: .unavailable)
            }
        }

        /// `nfc-tapd` beside this program, else at the path of the package.
        private static var daemon: String {
            guard let beside = Environment.beside("nfc-tapd"), FileSystem.isExecutable(beside) else {
                return "/usr/bin/nfc-tapd"
            }
            return beside
        }
    }
}
