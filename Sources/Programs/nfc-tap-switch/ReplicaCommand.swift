// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CScrub
import ISO8583
import Linux
import ServiceProgram
import Switch

/// One replica.
///
/// More than fifteen stored properties: each is an option.
struct ReplicaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Answer tills.",
        discussion: """
            Start up to ten on one PostgreSQL database, behind haproxy: see docs/service/payment-service.md. Keys stay in a PKCS #11 \
            token: see docs/service/keys-and-token.md.
            """)

    @Option(help: ArgumentHelp("Unix socket to listen at.", valueName: "path"))
    var socket: String

    @Option(
        help: ArgumentHelp("The database, in libpq's words: host=/run/postgresql dbname=switch.", valueName: "words"))
    var database: String

    @Option(help: ArgumentHelp("Connections to the database.", valueName: "count"))
    var connections: Int = 8

    @OptionGroup var keys: KeyOptions

    @Option(
        help: ArgumentHelp(
            "The acquirer's host and port. Give several for several lines: the first one that can be used is.",
            valueName: "host:port"))
    var acquirer: [String] = []

    @Option(help: ArgumentHelp("Number of the acquiring institution, field 32.", valueName: "digits"))
    var acquirerNumber: String = ""

    @Option(
        help: ArgumentHelp(
            "How the acquirer packs messages: a packager file, or the name of a built-in one.", valueName: "file"))
    var packager: String = Packager.BuiltIn.bcd1987.rawValue

    @Option(
        help: ArgumentHelp(
            "Header field in which the proxy tells the name of the till's certificate.", valueName: "name"))
    var tillField: String?

    @Option(
        help: ArgumentHelp(
            "Requests that a till may send in a second; a burst of more than three times as many is answered with 429.",
            valueName: "count"))
    var tillRequests: Int = 50

    @Option(
        help: ArgumentHelp(
            "Unix socket where operators read GET /metrics and GET /, a page of tills, open items and sums.",
            valueName: "path"))
    var desk: String?

    @Flag(
        help:
            "Believe each request about its merchant. Use it only if no tills but those of one merchant reach the socket."
    )
    var trustRequests = false

    @Option(help: ArgumentHelp("Seconds in which the acquirer must answer.", valueName: "seconds"))
    var answerSeconds: Double = 20

    @Option(
        help: ArgumentHelp("Seconds of silence after which the acquirer is asked for an echo.", valueName: "seconds"))
    var echoSeconds: Int = 60

    @Option(
        help: ArgumentHelp(
            "Seconds in which the acquirer must answer sign-on and echo. Of a payment without an answer an echo is asked for at once.",
            valueName: "seconds"))
    var echoAnswerSeconds: Int = 20

    @Option(
        help: ArgumentHelp(
            "Seconds in which the acquirer's machine must acknowledge what was sent (TCP_USER_TIMEOUT): then the line is made again.",
            valueName: "seconds"))
    var lineSeconds: Int = 10

    @Option(
        help: ArgumentHelp(
            "File that remembers how far the books were, one for each replica: books that were restored are served once a person has compared them.",
            valueName: "file"))
    var marks: String?

    @Option(
        help: ArgumentHelp(
            "Unix socket of your program that sends receipts to customers: POST /receipts. Without it tills offer none.",
            valueName: "path"))
    var receipts: String?

    @Option(help: ArgumentHelp("Days for which sealed card numbers are kept, for refunds.", valueName: "days"))
    var cardDays: Int64 = 395

    @Option(help: ArgumentHelp("Days for which payments are kept.", valueName: "days"))
    var days: Int64 = 3_650

    func validate() throws {
        guard trustRequests != (tillField != nil) else {
            throw ValidationError("Give either --till-field, which the proxy sets, or --trust-requests.")
        }
        guard (1...25).contains(answerSeconds) else {
            throw ValidationError("The acquirer can be given 1 to 25 seconds: a till waits for 30.")
        }
        guard (1...3_600).contains(echoSeconds), (1...120).contains(echoAnswerSeconds), (1...120).contains(lineSeconds)
        else {
            throw ValidationError(
                "Echoes are asked for after 1 to 3600 seconds; they and the line have 1 to 120 seconds.")
        }
        guard (1...100_000).contains(tillRequests) else {
            throw ValidationError("A till needs 1 to 100000 requests a second.")
        }
        guard (1...64).contains(connections) else { throw ValidationError("Connections must be between 1 and 64.") }
        guard acquirerNumber.utf8.count <= 11, acquirerNumber.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw ValidationError("The acquirer's number must be up to 11 digits.")
        }
        guard acquirer.allSatisfy({ AcquirerAddress($0) != nil }) else {
            throw ValidationError("Write the acquirer as host:port.")
        }
        guard (1...4_000).contains(cardDays), (cardDays...40_000).contains(days), days >= 31 else {
            throw ValidationError("Payments must be kept for 31 days at least, and as long as card numbers.")
        }
    }

    /// What the options say.
    func settings() throws -> SwitchSettings {
        var settings = SwitchSettings(
            socket: socket, database: database, packager: try PackagerCommand.packager(packager))
        settings.connections = connections
        settings.acquirers = acquirer.compactMap(AcquirerAddress.init)
        settings.acquirerNumber = acquirerNumber
        settings.tillField = tillField
        settings.tillRequests = tillRequests
        settings.desk = desk
        settings.rules.answerWithin = UInt64(answerSeconds * 1_000)
        settings.rules.echoAfter = UInt64(echoSeconds) * 1_000
        settings.rules.networkWithin = UInt64(echoAnswerSeconds) * 1_000
        settings.lineSeconds = lineSeconds
        settings.marks = marks
        settings.receipts = receipts
        settings.cardDays = cardDays
        settings.days = days
        return settings
    }

    func run() async throws {
        _ = ProcessHardening.apply()
        let program = ServiceProgram("nfc-tap-switch")
        let settings = try settings()
        let (opener, macs, warning) = try keys.keys(program.logger, mac: settings.packager.mac)
        let server = try await SwitchServer(settings, keys: opener, macs: macs, logger: program.logger)
        try await program.serve {
            program.say("listening at \(socket)")
            if let warning { program.say("warning: \(warning)") }
        } stop: {
            server.shutDown()
        } _: { () async throws(SwitchStartError) in
            try await server.run()
        }
    }
}
