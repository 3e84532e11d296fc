// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Codes
import Hub
import Linux
import ServiceProgram
import Settings

/// Tells a house what is tapped: passes and member cards that nfc-tapd reads, to a broker or a web address.
@main
struct HubCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nfc-tap-hub",
        abstract: "Hand passes and member cards on to MQTT, to webhooks and as a keyboard.",
        discussion: """
            Each receiver has a table in the configuration, see docs/integrating/hub.md. It reads passes through nfc-tapd and takes no \
            payments. Ends with exit code 1 if an outbox cannot be used.
            """,
        version: Version.text)

    @Option(help: ArgumentHelp("Configuration file.", valueName: "file"))
    var config = "/etc/nfc-tap/nfc-tap-hub.toml"

    @Flag(help: "Validate the configuration, and end.")
    var check = false

    @Flag(help: "Also log details for developers.")
    var verbose = false

    func run() async throws {
        let program = ServiceProgram("nfc-tap-hub", isVerbose: verbose)
        let file: HubFile
        do throws(ConfigurationError) { file = try HubFile(path: config) } catch {
            throw program.end(error.words(of: config))
        }
        for note in file.notes { program.say(note.words(of: config)) }
        if check {
            if let fault = file.folderFault { throw program.end(fault) }
            let rest = file.notes.isEmpty ? "nothing wrong" : "nothing else to say"
            return program.say("\(file.outputs.count) output\(file.outputs.count == 1 ? "" : "s"), \(rest)")
        }
        // Member numbers are personal data.
        program.forbidDumps()
        do throws(Hub.Failure) {
            let hub = try Hub(file, logger: program.logger)
            try await program.serve {
                for output in file.outputs { program.say("\(output.name): \(output.place)") }
            } _: { () async throws(Hub.Failure) in
                try await hub.run()
            }
        } catch {
            throw program.end(error.words)
        }
    }
}

extension Hub.Failure {
    /// What is wrong, and what to do.
    fileprivate var words: String {
        switch self {
        case .outboxInUse(let output): "\(output): its outbox is in use; stop the other nfc-tap-hub"
        case .outbox(let output, let error): "\(output): its outbox cannot be used: \(error.remedy)"
        }
    }
}
