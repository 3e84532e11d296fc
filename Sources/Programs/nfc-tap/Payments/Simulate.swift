// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CardSim
import Glibc

struct Simulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists the simulated cards, or presents one to a virtual reader of pcscd.",
        discussion: """
            --vpcd presents the card to vsmartcard's vpcd (Debian package vsmartcard-vpcd) until the reader is removed, \
            the command is interrupted, or --uses taps are done. All keys of these cards are public test keys.
            """)

    @Argument(help: ArgumentHelp("Name of the card, from --list.", valueName: "card"))
    var card: String?

    @Flag(help: "List the cards.")
    var list = false

    @Option(help: ArgumentHelp("Address of vpcd, for example 127.0.0.1:35963.", valueName: "host:port"))
    var vpcd: String?

    @Option(help: ArgumentHelp("Remove the card after this many taps.", valueName: "number"))
    var uses: Int?

    @Flag(help: "Print the list as JSON.")
    var json = false

    func validate() throws {
        if let uses, uses < 1 { throw ValidationError("--uses takes 1 or more.") }
        guard list || (card != nil && vpcd != nil) else {
            throw ValidationError("Give --list, or a card and --vpcd.")
        }
    }

    func run() throws {
        if list { return try printList() }
        guard let name = card, let address = vpcd else { return }
        guard let card = CardCatalogue.card(named: name) else {
            throw Failure(
                "unknown card \(name)", hint: "choose one from nfc-tap simulate --list", exitCode: .malformedInput)
        }
        guard let endpoint = VPCDEndpoint(address) else {
            throw Failure(
                "\(address) is not HOST:PORT", hint: "give an address such as 127.0.0.1:35963",
                exitCode: .malformedInput)
        }
        // Ending the program is the way to take the card out of the field.
        for number in [SIGTERM, SIGINT] { _ = signal(number) { _ in _exit(0) } }
        guard let connection = VPCDConnection(endpoint) else {
            throw Failure(
                "no vpcd at \(address)", hint: "install vsmartcard-vpcd and pcscd, then start pcscd",
                exitCode: .unavailable)
        }
        StandardError.write("nfc-tap: \(name) is presented to \(address)\n")
        connection.serve(card, uses: uses)
    }

    private func printList() throws {
        let rows = CardCatalogue.names.map { Row(name: $0, summary: CardCatalogue.summary(of: $0) ?? "") }
        if json { return try StandardOutput.print(json: rows) }
        let width = rows.map(\.name.count).max() ?? 0
        for row in rows {
            StandardOutput.print(row.name + String(repeating: " ", count: width - row.name.count + 2) + row.summary)
        }
    }

    private struct Row: Encodable {
        let name: String
        let summary: String
    }
}
