// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Gateway
import Linux
import LocalHTTP
import ServiceProgram
import Settings

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
        let program = ServiceProgram("nfc-tap-gateway", isVerbose: verbose)
        let settings = try settings(program)
        if check {
            let needed = GatewayService.descriptors(addresses: max(inherited.count, settings.listen.count))
            guard let shortage = DescriptorLimit.Shortage(of: needed) else { return program.say("nothing wrong") }
            let unit = "nfc-tap-gateway.service"
            throw program.end(
                "listen: connections \(shortage.problem); \(shortage.remedy(unit: unit)), or listen at fewer addresses")
        }
        // Tokens pass through its memory.
        program.forbidDumps()
        do throws(GatewayError) {
            let service = try GatewayService(
                settings, inherited: inherited, state: stateDirectory, administration: place.socket,
                logger: program.logger)
            try await program.serve {
                for address in service.addresses { say("listening on http://\(address)") }
            } _: { () async throws(GatewayError) in
                try await service.run()
            }
        } catch {
            throw program.end("\(error)")
        }
    }

    private func settings(_ program: ServiceProgram) throws -> GatewayFile {
        var settings = GatewayFile()
        // Nobody has to write one: the one in the usual place may be missing.
        if config != nil || FileSystem.exists(Self.defaultFile) {
            let path = config ?? Self.defaultFile
            do throws(ConfigurationError) { settings = try GatewayFile(path: path) } catch {
                throw program.end(error.words(of: path))
            }
        }
        if let socket { settings.socket = socket }
        if let pages { settings.pages = pages }
        guard !listen.isEmpty else { return settings }
        settings.listen = try listen.map { text in
            guard let address = TCPAddress(text, anyPort: true) else {
                throw program.end("--listen: \(text) is not an address with a port; write 127.0.0.1:8716")
            }
            guard address.isLoopback else {
                let fault = GatewayFile.beyondLoopback
                throw program.end("--listen: \(text) \(fault.problem); \(fault.remedy)")
            }
            return address
        }
        return settings
    }

    private func printAddress() async throws {
        let draft = TillDraft(till: till ?? "display-\(lane)", roles: [.display], lanes: [lane])
        let code = try await place.open(draft)
        say(code.address)
    }
}
