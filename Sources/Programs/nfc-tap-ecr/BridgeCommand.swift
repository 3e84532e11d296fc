// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Codes
import ECR
import Glibc
import Linux
import LocalHTTP
import Logging
import Settings
import TillBridge
import UnixSignals

/// The terminal that tills find when they speak Caisse-AP, hw_proxy or ZVT; behind it nfc-tapd.
@main
struct BridgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nfc-tap-ecr",
        abstract: "Act as the payment terminal of tills that speak Caisse-AP, Caisse E+, hw_proxy or ZVT.",
        discussion: """
            Each till has a table in the configuration, see docs/integrating/till-protocols.md. Payments go through nfc-tapd. Ends with \
            exit code 1 if a port or a ledger cannot be opened.
            """,
        version: Version.text)

    @Option(help: ArgumentHelp("Configuration file.", valueName: "file"))
    var config = "/etc/nfc-tap/nfc-tap-ecr.toml"

    @Flag(help: "Validate the configuration, and end.")
    var check = false

    @Flag(help: "Also log details for developers.")
    var verbose = false

    func run() async throws {
        let inherited = InheritedSocket.takeAll()
        let level: Logger.Level = verbose ? .debug : .notice
        let logger = Logger(label: "nfc-tap-ecr") { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        let file: TillsFile
        do throws(ConfigurationError) { file = try TillsFile(path: config) } catch {
            say(error.line.map { "\(config):\($0): \(error)" } ?? "\(error)")
            throw ExitCode(1)
        }
        if check {
            if let shortage = DescriptorLimit.Shortage(of: TillBridge.descriptors(file)) {
                say("till: connections \(shortage.problem); \(shortage.remedy(unit: "nfc-tap-ecr.service"))")
                throw ExitCode(1)
            }
            say("\(file.tills.count) till\(file.tills.count == 1 ? "" : "s"), nothing wrong")
            return
        }
        // Masked card numbers are all it ever sees, and not even these belong into a core dump.
        if !ProcessHardening.forbidDumps() { logger.warning("core dumps could not be forbidden") }
        let notification = ServiceNotification()
        do throws(TillBridge.Failure) {
            try await serve(try TillBridge(file, logger: logger), inherited, file, notification)
        } catch {
            say(error.words)
            throw ExitCode(1)
        }
    }

    private func serve(
        _ bridge: TillBridge, _ inherited: [InheritedSocket], _ file: TillsFile, _ notification: ServiceNotification
    ) async throws(TillBridge.Failure) {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let failure = await withTaskGroup(of: TillBridge.Failure?.self) { group in
            group.addTask {
                do throws(TillBridge.Failure) {
                    try await bridge.run(inherited: inherited) {
                        for till in file.tills { say("\(till.name): \(till.kind.rawValue) on \(till.place)") }
                        notification.send(.ready)
                    }
                    return nil
                } catch {
                    return error
                }
            }
            group.addTask {
                await ProcessHardening.stayWithoutUsedCode()
                return nil
            }
            group.addTask {
                for await _ in signals { break }
                notification.send(.stopping)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        if let failure { throw failure }
    }

    /// One line on standard error.
    private func say(_ text: String) {
        try? Descriptor.write("nfc-tap-ecr: \(text)\n", to: STDERR_FILENO)
    }
}

extension TillBridge.Failure {
    /// What is wrong, and what to do.
    fileprivate var words: String {
        switch self {
        case .ledgerInUse(let till):
            "\(till): its ledger is in use; stop the other nfc-tap-ecr that serves this till"
        case .ledger(let till, let code):
            "\(till): its ledger cannot be used: \(SystemError(code: code).remedy)"
        case .port(let till, let place, let error): "\(till): \(place) cannot be opened: \(error)"
        case .server(let till, let error): "\(till): \(error)"
        }
    }
}
