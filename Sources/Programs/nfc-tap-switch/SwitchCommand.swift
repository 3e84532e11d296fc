// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Codes
import Linux
import Suggestions
import Switch

/// The payment service behind the adapter socket of many tills.
@main
struct SwitchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nfc-tap-switch",
        abstract: "Answer the tills of many merchants, keep their books, and speak ISO 8583 to an acquirer.",
        version: Version.text,
        subcommands: [ReplicaCommand.self, CloseDayCommand.self, ComparedCommand.self, PackagerCommand.self],
        defaultSubcommand: ReplicaCommand.self)

    static func main() async { await mainWithSuggestions() }
}

/// The end of a business day.
struct CloseDayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "close-day", abstract: "End the open day in the books; a replica tells the acquirer its sums.")

    @Option(
        help: ArgumentHelp("The database, in libpq's words: host=/run/postgresql dbname=switch.", valueName: "words"))
    var database: String

    @Option(
        name: .customLong("time-zone"),
        help: ArgumentHelp(
            "Whose calendar says which day has begun, as Europe/Berlin; the database's without it.", valueName: "zone"))
    var zone: String?

    @Option(
        help: ArgumentHelp(
            "By what the sums stand apart: terminal or scheme; give both for both. Each has a 0500 of its own.",
            valueName: "part"))
    var by: [String] = []

    func validate() throws {
        guard by.allSatisfy({ DayPart(rawValue: $0) != nil }) else {
            throw ValidationError("Sums stand apart by terminal or by scheme.")
        }
    }

    func run() async throws {
        for day in try await SwitchServer.closeDay(database, zone: zone, by: Set(by.compactMap(DayPart.init))) {
            let of = [day.acceptor, day.terminal, day.scheme].compactMap { $0 }.map { " \($0)" }.joined()
            try Descriptor.print(
                "\(day.day) \(day.currency)\(of): debits \(day.numbers[2]), taken back \(day.numbers[3]), "
                    + "credits \(day.numbers[0]), taken back \(day.numbers[1]), net \(day.net) minor units")
        }
    }
}

/// After a restore.
struct ComparedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compared",
        abstract:
            "Say that books which were restored have been compared with the acquirer's list: tills are served again.",
        discussion:
            "See docs/service/payment-service.md, After a restore. Without that comparison payments may be charged twice."
    )

    @Option(
        help: ArgumentHelp("The database, in libpq's words: host=/run/postgresql dbname=switch.", valueName: "words"))
    var database: String

    func run() async throws {
        try Descriptor.print(
            "The books are of generation \(try await SwitchServer.compared(database)); replicas with --marks serve tills."
        )
    }
}
