// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Codes
import Linux
import RemoteOrders
import ServiceProgram
import Settings

/// Asks a shop's backend for payments to start, and tells it what became of them.
@main
struct RemoteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nfc-tap-remote",
        abstract: "Start payments that a shop's backend orders.",
        discussion: """
            Backends and senders have tables in the configuration, see docs/integrating/remote.md. It opens no port. Ends with exit code 1 \
            if a ledger cannot be used.
            """,
        version: Version.text)

    @Option(help: ArgumentHelp("Configuration file.", valueName: "file"))
    var config = "/etc/nfc-tap/nfc-tap-remote.toml"

    @Flag(help: "Validate the configuration, and end.")
    var check = false

    @Flag(help: "Say how it goes with each backend, and end.")
    var status = false

    @Flag(help: "Print the same for Prometheus, and end.")
    var metrics = false

    @Flag(help: "Also log details for developers.")
    var verbose = false

    func run() async throws {
        let program = ServiceProgram("nfc-tap-remote", isVerbose: verbose)
        let file: RemoteFile
        do throws(ConfigurationError) { file = try RemoteFile(path: config) } catch {
            throw program.end(error.words(of: config))
        }
        if check {
            if let fault = file.folderFault { throw program.end(fault) }
            return program.say("\(file.backends.count) backend\(file.backends.count == 1 ? "" : "s"), nothing wrong")
        }
        if status || metrics {
            let bytes = ConfigurationHost.contents(file.status)
            let said = bytes.flatMap { metrics ? Remote.metrics(ofStatus: $0) : Remote.words(ofStatus: $0) }
            guard let said else {
                throw program.end("\(file.status) cannot be read; start it with: systemctl start nfc-tap-remote")
            }
            try? Descriptor.print(said)
            return
        }
        // Ids and amounts are the shop's.
        program.forbidDumps()
        do throws(Remote.Failure) {
            let remote = try Remote(file, logger: program.logger)
            try await program.serve {
                for backend in file.backends {
                    program.say("\(backend.name): \(backend.authority) by \(backend.socket)")
                }
            } _: { () async throws(Remote.Failure) in
                try await remote.run()
            }
        } catch {
            throw program.end(error.words)
        }
    }
}

extension Remote.Failure {
    /// What is wrong, and what to do.
    fileprivate var words: String {
        switch self {
        case .ledgerInUse(let backend): "\(backend): its ledger is in use; stop the other nfc-tap-remote"
        case .ledger(let backend, let error): "\(backend): its ledger cannot be used: \(error.remedy)"
        }
    }
}
