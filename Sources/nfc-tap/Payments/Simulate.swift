import ArgumentParser
import CardSim
import Glibc

struct Simulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists the simulated cards, or puts one into a virtual reader of pcscd.",
        discussion: """
            With --vpcd the card is served to vsmartcard's vpcd (Debian package vsmartcard-vpcd) until the reader goes, the \
            program is ended, or --uses taps are done. All keys of these cards are public test keys.
            """)

    @Argument(help: ArgumentHelp("The card, as --list names it.", valueName: "card"))
    var card: String?

    @Flag(help: "List the cards.")
    var list = false

    @Option(help: ArgumentHelp("Where vpcd listens, for example 127.0.0.1:35963.", valueName: "host:port"))
    var vpcd: String?

    @Option(help: ArgumentHelp("Take the card away after so many taps.", valueName: "number"))
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
            throw Failure("no card \(name)", hint: "nfc-tap simulate --list names the cards", exitCode: .malformedInput)
        }
        guard let endpoint = VPCDEndpoint(address) else {
            throw Failure(
                "\(address) is not HOST:PORT", hint: "for example 127.0.0.1:35963", exitCode: .malformedInput)
        }
        // Ending the program is the way to take the card out of the field.
        for number in [SIGTERM, SIGINT] { _ = signal(number) { _ in _exit(0) } }
        guard let connection = VPCDConnection(endpoint) else {
            throw Failure(
                "no vpcd at \(address)", hint: "apt-get install vsmartcard-vpcd pcscd, then start pcscd",
                exitCode: .unavailable)
        }
        StandardError.write("nfc-tap: \(name) is in the field of \(address)\n")
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
