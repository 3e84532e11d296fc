// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Gateway
import Glibc
import Linux
import LocalHTTP
import Logging
import Settings
import UnixSignals

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve browsers and tills (the default command).")

    private static let defaultFile = "/etc/nfc-tap/nfc-tap-gateway.toml"

    @Option(help: ArgumentHelp("Configuration file.", valueName: "file"))
    var config: String?

    @Option(
        help: ArgumentHelp(
            "Address to listen on, instead of the configuration's; port 0 takes a free one.", valueName: "address"))
    var listen: [String] = []

    @Option(help: ArgumentHelp("The daemon's socket, instead of the configuration's.", valueName: "path"))
    var socket: String?

    @Option(help: ArgumentHelp("Folder of the pages, instead of the configuration's.", valueName: "folder"))
    var pages: String?

    @Option(help: ArgumentHelp("Folder that keeps the tills.", valueName: "folder"))
    var stateDirectory = "/var/lib/nfc-tap-gateway"

    @OptionGroup var place: GatewayLocation

    @Flag(help: "Validate the configuration, and end.")
    var check = false

    @Flag(
        name: .customLong("kiosk-url"),
        help: "Print the address of a customer display with a code that pairs it, and end.")
    var kioskURL = false

    @Option(help: ArgumentHelp("Lane of the display, with --kiosk-url.", valueName: "name"))
    var lane = "main"

    @Option(help: ArgumentHelp("Name of the display, with --kiosk-url.", valueName: "name"))
    var till: String?

    @Flag(help: "Also log details for developers.")
    var verbose = false

    func run() async throws {
        if kioskURL { return try await printAddress() }
        let inherited = InheritedSocket.takeAll()
        let settings = try settings()
        if check {
            let needed = GatewayService.descriptors(addresses: max(inherited.count, settings.listen.count))
            guard let shortage = DescriptorLimit.Shortage(of: needed) else { return complain("nothing wrong") }
            let unit = "nfc-tap-gateway.service"
            complain(
                "listen: connections \(shortage.problem); \(shortage.remedy(unit: unit)), or listen at fewer addresses")
            throw ExitCode(1)
        }
        let level: Logger.Level = verbose ? .debug : .notice
        let logger = Logger(label: "nfc-tap-gateway") { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        // Tokens pass through its memory.
        if !ProcessHardening.forbidDumps() { logger.warning("core dumps could not be forbidden") }
        do throws(GatewayError) {
            let service = try GatewayService(
                settings, inherited: inherited, state: stateDirectory, administration: place.socket, logger: logger)
            try await serve(service)
        } catch {
            complain("\(error)")
            throw ExitCode(1)
        }
    }

    private func settings() throws -> GatewayFile {
        var settings = GatewayFile()
        // Nobody has to write one: the one in the usual place may be missing.
        if config != nil || FileSystem.exists(Self.defaultFile) {
            let path = config ?? Self.defaultFile
            do throws(ConfigurationError) { settings = try GatewayFile(path: path) } catch {
                complain(error.line.map { "\(path):\($0): \(error)" } ?? "\(error)")
                throw ExitCode(1)
            }
        }
        if let socket { settings.socket = socket }
        if let pages { settings.pages = pages }
        guard !listen.isEmpty else { return settings }
        settings.listen = try listen.map { text in
            guard let address = TCPAddress(text, anyPort: true) else {
                complain("--listen: \(text) is not an address with a port; write 127.0.0.1:8716")
                throw ExitCode(1)
            }
            guard address.isLoopback else {
                let fault = GatewayFile.beyondLoopback
                complain("--listen: \(text) \(fault.problem); \(fault.remedy)")
                throw ExitCode(1)
            }
            return address
        }
        return settings
    }

    private func serve(_ service: GatewayService) async throws(GatewayError) {
        let notification = ServiceNotification()
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        for address in service.addresses { say("listening on http://\(address)") }
        notification.send(.ready)
        let failure = await withTaskGroup(of: GatewayError?.self) { group in
            group.addTask {
                do throws(GatewayError) {
                    try await service.run()
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

    private func printAddress() async throws {
        let draft = TillDraft(till: till ?? "display-\(lane)", roles: [.display], lanes: [lane])
        let code = try await place.open(draft)
        say(code.address)
    }
}
