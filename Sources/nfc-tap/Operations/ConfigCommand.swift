import ArgumentParser
import Glibc

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
            let arguments = [program, "--check", "--config", file] + (json ? ["--json"] : [])
            var pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
            _ = unsafe execv(program, &pointers)
            for index in unsafe pointers.indices { unsafe free(pointers[index]) }
            throw Failure("cannot start \(program)", hint: "install nfc-tapd", exitCode: .unavailable)
        }

        /// `nfc-tapd` beside this program, else at the path of the package.
        private static var daemon: String {
            var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
            let length = unsafe readlink("/proc/self/exe", &buffer, buffer.count - 1)
            guard length > 0 else { return "/usr/bin/nfc-tapd" }
            let own = String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard let slash = own.lastIndex(of: "/") else { return "/usr/bin/nfc-tapd" }
            let beside = own[..<slash] + "/nfc-tapd"
            return unsafe access(String(beside), X_OK) == 0 ? String(beside) : "/usr/bin/nfc-tapd"
        }
    }
}
