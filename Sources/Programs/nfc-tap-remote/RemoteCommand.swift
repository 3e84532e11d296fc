// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Codes
import Glibc
import Hub
import Linux
import LocalHTTP
import Logging
import RemoteOrders
import Settings
import UnixSignals

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

    @Flag(help: "Also log details for developers.")
    var verbose = false

    func run() async throws {
        let level: Logger.Level = verbose ? .debug : .notice
        let logger = Logger(label: "nfc-tap-remote") { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        let file: RemoteFile
        do throws(ConfigurationError) { file = try RemoteFile(path: config) } catch {
            say(error.line.map { "\(config):\($0): \(error)" } ?? "\(error)")
            throw ExitCode(1)
        }
        if check {
            say("\(file.backends.count) backend\(file.backends.count == 1 ? "" : "s"), nothing wrong")
            return
        }
        if status { return try showStatus(file) }
        // Ids and amounts are the shop's, and do not belong into a core dump.
        if !ProcessHardening.forbidDumps() { logger.warning("core dumps could not be forbidden") }
        let notification = ServiceNotification()
        do throws(Remote.Failure) {
            try await serve(try Remote(file, logger: logger), file, notification)
        } catch {
            say(error.words)
            throw ExitCode(1)
        }
    }

    private func showStatus(_ file: RemoteFile) throws {
        guard let bytes = ConfigurationHost.contents(file.status), let lines = Remote.words(ofStatus: bytes) else {
            say("\(file.status) cannot be read; start it with: systemctl start nfc-tap-remote")
            throw ExitCode(1)
        }
        for line in lines { try? Descriptor.print(line) }
    }

    private func serve(
        _ remote: Remote, _ file: RemoteFile, _ notification: ServiceNotification
    ) async throws(Remote.Failure) {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        for backend in file.backends { say("\(backend.name): \(backend.authority) by \(backend.socket)") }
        notification.send(.ready)
        try await notification.run {
            for await _ in signals { break }
        } _: { () async throws(Remote.Failure) in
            try await remote.run()
        }
    }

    /// One line on standard error.
    private func say(_ text: String) {
        try? Descriptor.write("nfc-tap-remote: \(text)\n", to: STDERR_FILENO)
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
