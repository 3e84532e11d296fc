import ArgumentParser
import Codes
import Glibc
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
            Without --config it runs in test mode with one virtual reader, in folders of the user who starts it. Card \
            data is sealed to a published test key then: never for real cards.
            """,
        version: Version.text)

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

    @Flag(help: "Only look whether the configuration file is right, and say what is not.")
    var check = false

    @Flag(help: "With --check: one JSON object.")
    var json = false

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
        let inherited = InheritedSocket.takeAll()
        let notification = ServiceNotification()
        let logger = LogOutput.logger(level: logLevel)
        if !ProcessHardening.forbidDumps() { logger.warning("core dumps could not be forbidden") }
        let isMemoryLocked = ProcessHardening.lockMemory()
        if !isMemoryLocked { logger.notice("memory not locked: raise the limit of locked memory") }
        if !ProcessHardening.scrubsFreedMemory { logger.warning("freed memory is not overwritten") }
        let daemon: Daemon
        do {
            daemon = try await makeDaemon(inherited, logger)
        } catch let error as ConfigurationError {
            throw StartFailure("\(error.key): \(error.problem)", hint: error.remedy)
        } catch let error as StartError {
            throw StartFailure(error.description)
        } catch let error as ListenError {
            throw StartFailure("POS socket: \(error)")
        }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(
                        service: DaemonService(
                            daemon: daemon, notification: notification, isMemoryLocked: isMemoryLocked,
                            reload: { await reload(daemon, logger) }))
                ],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        try await group.run()
    }

    private func makeDaemon(_ inherited: [InheritedSocket], _ logger: Logger) async throws -> Daemon {
        let file = try config.map { (path) throws(ConfigurationError) in
            try ConfigurationFile(path: path, credentials: Folders.credentials)
        }
        let folders = try Folders(
            runtime: runtimeDirectory, state: stateDirectory, isInstalled: file != nil)
        let configuration = try makeConfiguration(file, folders)
        let socket: ListeningSocket
        if let handed = inherited.first(where: { $0.name == "pos" }) ?? inherited.first {
            socket = try ListeningSocket(inherited: handed.descriptor)
        } else {
            let path = posSocket ?? file?.posSocket ?? folders.runtime + "/pos.sock"
            socket = try ListeningSocket(path: path, mode: file == nil ? 0o600 : 0o660, group: file?.posGroup)
            logger.info("listening", metadata: ["socket": "\(path)"])
        }
        if configuration.usesTestKey {
            logger.warning("published test key in use: nothing that is read is protected, test cards only")
        }
        return try await Daemon(configuration, socket: socket, logger: logger)
    }

    private func checkConfiguration() throws {
        let found = ConfigurationCheck(file: config ?? "", credentials: Folders.credentials)
        print(json ? found.json : found.summary)
        if !found.errors.isEmpty { throw ExitCode(65) }
    }

    /// Reads the configuration file again.
    private func reload(_ daemon: Daemon, _ logger: Logger) async {
        guard let config else { return logger.notice("no configuration file to read again") }
        _ = await daemon.reload { (before) throws(ConfigurationError) in
            let file = try ConfigurationFile(path: config, credentials: Folders.credentials)
            return try makeConfiguration(
                file, state: before.stateDirectory, adapter: pspSocket ?? before.adapterSocket, keeping: before)
        }
    }

    private func makeConfiguration(
        _ file: ConfigurationFile, state: String, adapter: String, keeping before: DaemonConfiguration?
    ) throws(ConfigurationError) -> DaemonConfiguration {
        var file = file
        if !givenReaders.isEmpty { file.lanes = Self.lanes(givenReaders) }
        if pspSocket != nil { file.adapterSocket = nil }
        if stateDirectory != nil { file.stateDirectory = nil }
        return try DaemonConfiguration(file, stateDirectory: state, adapterSocket: adapter, keeping: before)
    }

    private var givenReaders: [ReaderAddress] {
        guard let virtualReader, let address = ReaderAddress("virtual:\(virtualReader)") else { return reader }
        return reader + [address]
    }

    private func makeConfiguration(_ file: ConfigurationFile?, _ folders: Folders) throws -> DaemonConfiguration {
        var given = givenReaders
        let adapter = pspSocket ?? folders.runtime + "/psp.sock"
        if let file { return try makeConfiguration(file, state: folders.state, adapter: adapter, keeping: nil) }
        if given.isEmpty { given = [.virtual(folders.runtime + "/reader.sock")] }
        return try DaemonConfiguration(
            stateDirectory: folders.state, adapterSocket: adapter,
            readers: Self.lanes(given).map { ($0.name, $0.reader) })
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
