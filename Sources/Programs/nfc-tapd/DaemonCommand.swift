// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Codes
import Configuration
import Glibc
import Linux
import LocalHTTP
import Logging
import ServiceLifecycle
import Settings
import TapDaemon
import UnixSignals

/// The daemon as a program: options, sockets, signals.
@main
struct DaemonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nfc-tapd",
        abstract: "Take contactless cards for POS applications on this machine.",
        discussion: """
            Without --config the daemon runs in test mode with one virtual reader, in folders of the user who starts \
            it. It then seals card data to a published test key: use no real cards.
            """,
        version: Version.text)

    static func main() async {
        // Beside the reading of the arguments, which takes as long.
        Task.detached { DaemonConfiguration.readTestKeys() }
        await main(nil)
    }

    @Option(help: ArgumentHelp("Configuration file in TOML.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("Folder of the sockets.", valueName: "path"))
    var runtimeDirectory: String?

    @Option(help: ArgumentHelp("Folder of the journal.", valueName: "path"))
    var stateDirectory: String?

    @Option(help: ArgumentHelp("Unix socket for POS applications.", valueName: "path"))
    var posSocket: String?

    @Option(help: ArgumentHelp("Unix socket of the PSP adapter.", valueName: "path"))
    var pspSocket: String?

    @Option(
        help: ArgumentHelp(
            "Reader, instead of those of the configuration: pcsc:NAME, libnfc:CONNECTION or virtual:SOCKET. Repeatable.",
            valueName: "address"), transform: Self.readerAddress)
    var reader: [ReaderAddress] = []

    @Option(help: ArgumentHelp("Same as --reader virtual:SOCKET.", valueName: "socket"))
    var virtualReader: String?

    @Flag(help: "Validate the configuration file, list every error, and end.")
    var check = false

    @Flag(help: "With --check: print one JSON object.")
    var json = false

    @Flag(
        help: """
            Begin new books if the journal or its key is lost and there is no backup. Moves aside what is left, and \
            deletes nothing. Refused while the books are whole.
            """)
    var newJournal = false

    @Flag(
        help: """
            List the money that is open in the journal, and end: with 1 if there is any, with 65 if the journal cannot \
            be read.
            """)
    var openMoney = false

    @Option(
        help: ArgumentHelp("Lowest level of log messages: debug, info, warning, error.", valueName: "level"),
        transform: Self.level)
    var logLevel = Logger.Level.info

    func validate() throws {
        if let virtualReader, ReaderAddress("virtual:\(virtualReader)") == nil {
            throw ValidationError("--virtual-reader needs an absolute path.")
        }
        if check, config == nil { throw ValidationError("--check needs --config FILE.") }
    }

    func run() async throws {
        if check { return try checkConfiguration() }
        if newJournal { return try JournalCommands.beginAnew(try journalFolder()) }
        if openMoney { return try JournalCommands.tellOpenMoney(in: try journalFolder()) }
        let inherited = InheritedSocket.takeAll()
        let notification = ServiceNotification()
        let logger = LogOutput.logger(level: logLevel)
        let hardening = ProcessHardening.apply()
        if !hardening.forbidsDumps { logger.warning("core dumps could not be forbidden") }
        if !hardening.locksMemory { logger.notice("memory not locked: raise the limit of locked memory") }
        if !hardening.scrubsFreedMemory { logger.warning("freed memory is not overwritten") }
        // Services begin with 1,024 that they may raise themselves (systemd.exec(5), LimitNOFILE=).
        DescriptorLimit.raise(to: 4_096)
        let host = try makeHost()
        let pause = StartPause(folder: host.stateDirectory)
        await pause.wait(logger)
        let daemon: Daemon
        do {
            daemon = try await makeDaemon(host, inherited, logger)
        } catch let error as ConfigurationError {
            throw StartFailure("\(error.key): \(error.problem)", hint: error.remedy)
        } catch let error as StartError {
            throw StartFailure(error.description, hint: error.remedy)
        } catch let error as ListenError {
            throw StartFailure("POS socket: \(error)")
        }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(
                        service: DaemonService(
                            daemon: daemon, notification: notification, pause: pause,
                            isMemoryLocked: hardening.locksMemory,
                            reload: { await reload(daemon, host, logger) }))
                ],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        try await group.run()
    }

    private func makeDaemon(
        _ host: ConfigurationHost, _ inherited: [InheritedSocket], _ logger: Logger
    ) async throws -> Daemon {
        let configuration = try makeConfiguration(host, keeping: nil)
        let socket: ListeningSocket
        if let handed = inherited.first(where: { $0.name == "pos" }) ?? inherited.first {
            socket = try ListeningSocket(inherited: handed.descriptor)
        } else {
            let path = posSocket ?? configuration.pos.socket
            socket = try ListeningSocket(
                path: path, mode: config == nil ? 0o600 : 0o660, group: configuration.pos.group)
            logger.info("listening", metadata: ["socket": "\(path)"])
        }
        configuration.warnOfFormerNames(logger)
        if configuration.diagnostics.cardCommands {
            logger.warning("commands to a card allowed: administrators see what cards answer, use test cards only")
        }
        return try await Daemon(configuration, socket: socket, logger: logger)
    }

    /// This machine with the folders of the options; makes the folders.
    private func makeHost() throws -> ConfigurationHost {
        let folders = try Folders(
            runtime: runtimeDirectory, state: stateDirectory, isInstalled: config != nil)
        var host = ConfigurationHost()
        (host.runtimeDirectory, host.stateDirectory) = (folders.runtime, folders.state)
        host.credentials = Folders.credentials
        // Without a file everything belongs to the caller, and no group may do anything.
        if config == nil { host.groupNumber = { _ in nil } }
        return host
    }

    /// Where the journal is by the configuration and the options.
    private func journalFolder() throws -> String {
        if let stateDirectory { return stateDirectory }
        let host = try makeHost()
        guard let config else { return host.stateDirectory }
        do { return try ConfigurationFile(path: config, host: host).journal.directory } catch {
            throw StartFailure("\(error.key): \(error.problem)", hint: error.remedy)
        }
    }

    private func checkConfiguration() throws {
        var host = ConfigurationHost()
        host.credentials = Folders.credentials
        let found = ConfigurationCheck(file: config ?? "", host: host, at: UInt64(max(0, time(nil))))
        try Descriptor.print(json ? found.json : found.summary)
        if !found.errors.isEmpty { throw ExitCode(65) }
    }

    /// Reads the configuration file again.
    private func reload(_ daemon: Daemon, _ host: ConfigurationHost, _ logger: Logger) async {
        guard config != nil else { return logger.notice("no configuration file to read again") }
        _ = await daemon.reload { (before) throws(ConfigurationError) in
            try makeConfiguration(host, keeping: before)
        }
    }

    /// What the file says, and what the options say instead.
    ///
    /// - Parameter before: what is in force.
    private func makeConfiguration(
        _ host: ConfigurationHost, keeping before: DaemonConfiguration?
    ) throws(ConfigurationError) -> DaemonConfiguration {
        guard let config else {
            let given = givenReaders.isEmpty ? [.virtual(host.runtimeDirectory + "/reader.sock")] : givenReaders
            var configuration = try DaemonConfiguration(defaultsOf: host, readers: Self.lanes(given))
            if let pspSocket { configuration.adapter.socket = pspSocket }
            return configuration
        }
        var file = try ConfigurationFile(path: config, host: host)
        if !givenReaders.isEmpty { file.lanes = Self.lanes(givenReaders) }
        if let pspSocket { file.adapter.socket = pspSocket }
        if let stateDirectory { file.journal.directory = stateDirectory }
        return try DaemonConfiguration(file, keeping: before)
    }

    private var givenReaders: [ReaderAddress] {
        guard let virtualReader, let address = ReaderAddress("virtual:\(virtualReader)") else { return reader }
        return reader + [address]
    }

    private static func readerAddress(_ text: String) throws -> ReaderAddress {
        guard let address = ReaderAddress(text) else {
            throw ValidationError("give pcsc:NAME, libnfc:CONNECTION or virtual:SOCKET with an absolute path")
        }
        return address
    }

    private static func level(_ text: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: text) else {
            throw ValidationError("give \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return level
    }

    /// `main`, then `lane-2`, `lane-3` …
    private static func lanes(_ readers: [ReaderAddress]) -> [ConfigurationFile.Lane] {
        readers.enumerated().map { offset, reader in
            ConfigurationFile.Lane(name: offset == 0 ? "main" : "lane-\(offset + 1)", reader: reader)
        }
    }
}
