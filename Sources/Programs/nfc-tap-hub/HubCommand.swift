// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Codes
import Glibc
import Hub
import Linux
import LocalHTTP
import Logging
import Settings
import UnixSignals

/// Tells a house what is tapped: passes and member cards that nfc-tapd reads, to a broker or a web address.
@main
struct HubCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nfc-tap-hub",
        abstract: "Hand passes and member cards on to MQTT and webhooks.",
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
        let level: Logger.Level = verbose ? .debug : .notice
        let logger = Logger(label: "nfc-tap-hub") { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        let file: HubFile
        do throws(ConfigurationError) { file = try HubFile(path: config) } catch {
            say(error.line.map { "\(config):\($0): \(error)" } ?? "\(error)")
            throw ExitCode(1)
        }
        if check {
            say("\(file.outputs.count) output\(file.outputs.count == 1 ? "" : "s"), nothing wrong")
            return
        }
        // Member numbers are personal data, and do not belong into a core dump.
        if !ProcessHardening.forbidDumps() { logger.warning("core dumps could not be forbidden") }
        let notification = ServiceNotification()
        do throws(Hub.Failure) {
            try await serve(try Hub(file, logger: logger), file, notification)
        } catch {
            say(error.words)
            throw ExitCode(1)
        }
    }

    private func serve(
        _ hub: Hub, _ file: HubFile, _ notification: ServiceNotification
    ) async throws(Hub.Failure) {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        for output in file.outputs { say("\(output.name): \(output.place)") }
        notification.send(.ready)
        try await notification.run {
            for await _ in signals { break }
        } _: { () async throws(Hub.Failure) in
            try await hub.run()
        }
    }

    /// One line on standard error.
    private func say(_ text: String) {
        try? Descriptor.write("nfc-tap-hub: \(text)\n", to: STDERR_FILENO)
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
