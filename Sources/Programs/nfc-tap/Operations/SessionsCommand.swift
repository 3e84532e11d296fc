// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Linux
import POSAPI
import PaymentValues
import TapClient

struct SessionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sessions",
        abstract: "Shows and ends sessions of lanes that stand alone, as a machine does.",
        discussion: """
            A tap on such a lane begins a session. The machine claims it, then takes what was used or gives it back. \
            Repeat a command until it is answered: the same wish changes nothing. All but list needs the role machine.
            """,
        subcommands: [
            SessionsList.self, SessionsClaim.self, SessionsCommit.self, SessionsRelease.self, SessionsKeep.self,
            SessionsIncrease.self, SessionsWatch.self,
        ], defaultSubcommand: SessionsList.self)
}

/// What every command about sessions takes.
struct SessionsOptions: ParsableArguments {
    @OptionGroup var daemon: DaemonChoice

    @Flag(help: "Print JSON.")
    var json = false

    /// What `call` gives, or why not in words for a person.
    func ask<Answer>(_ call: (TapClient) async throws(TapClientError) -> Answer) async throws -> Answer {
        do throws(TapClientError) { return try await call(daemon.client) } catch { throw Failure(error) }
    }
}

/// One session, and how it is shown after a wish.
struct SessionChoice: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The session's id.", valueName: "id"),
        transform: { text in
            guard let id = TransactionID(text) else {
                throw ValidationError("\(text.shown) is no session; give the id that nfc-tap sessions shows.")
            }
            return id
        })
    var id: TransactionID

    @OptionGroup var options: SessionsOptions

    /// Lets a wish happen, and shows the session after it.
    func make(_ wish: (TapClient, TransactionID) async throws(TapClientError) -> Session) async throws {
        let after = try await options.ask { (client) throws(TapClientError) in try await wish(client, id) }
        if options.json { try StandardOutput.print(json: after) } else { StandardOutput.print(after.summary) }
        if after.state == .settling { throw ExitCode.unknownOutcome }
    }

    /// An amount as people write it, in minor units of the session's currency.
    func minorUnits(_ words: [String]) async throws -> Int64 {
        let money = try parsedMoney(words)
        let session = try await options.ask { (client) throws(TapClientError) in try await client.session(id) }
        let code = session.amount.currency.code
        guard money.currency == session.amount.currency else {
            throw Failure("the session is in \(code)", hint: "give the amount in \(code)", exitCode: .malformedInput)
        }
        return money.value
    }
}

struct SessionsList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists sessions whose money may still move, newest first.")

    @Flag(help: "List sessions that are over too, at most a hundred.")
    var all = false

    @Option(help: ArgumentHelp("On this lane.", valueName: "lane"))
    var lane: String?

    @Option(help: ArgumentHelp("With this reference of the machine.", valueName: "reference"))
    var reference: String?

    @OptionGroup var options: SessionsOptions

    func run() async throws {
        let list = try await options.ask { (client) throws(TapClientError) in
            try await client.sessions(isOpen: !all, lane: lane, reference: reference)
        }
        if options.json { return try StandardOutput.print(json: list) }
        if list.sessions.isEmpty { return StandardOutput.print(all ? "no session" : "no session is open") }
        for session in list.sessions { StandardOutput.print(session.line) }
    }
}

struct SessionsClaim: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "claim", abstract: "Says that the machine has a session; give the goods after exit code 0 only.")

    @Option(help: ArgumentHelp("The machine's own name for the session, 1 to 64 characters.", valueName: "reference"))
    var reference: String

    @OptionGroup var choice: SessionChoice

    func run() async throws {
        try await choice.make { (client, id) throws(TapClientError) in try await client.claim(id, reference: reference)
        }
    }
}

struct SessionsCommit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "commit", abstract: "Takes what was used, and gives the rest back.",
        discussion: """
            0 gives all of it back. Exit codes: 0 done, 12 not known yet; repeat the command then.
            """)

    @OptionGroup var choice: SessionChoice

    @Argument(help: ArgumentHelp("The amount, as in 12.50 EUR.", valueName: "amount currency"))
    var amount: [String]

    @Flag(help: "Take what is held if that is less, and say how much is missing.")
    var upTo = false

    func run() async throws {
        let value = try await choice.minorUnits(amount)
        try await choice.make { (client, id) throws(TapClientError) in
            try await client.commit(id, amount: value, upTo: upTo)
        }
    }
}

struct SessionsRelease: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "release", abstract: "Gives all of it back.")

    @OptionGroup var choice: SessionChoice

    func run() async throws {
        try await choice.make { (client, id) throws(TapClientError) in try await client.releaseSession(id) }
    }
}

struct SessionsKeep: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keep", abstract: "Moves the time when the hold goes back.")

    @OptionGroup var choice: SessionChoice

    @Argument(help: ArgumentHelp("From now on, at most the lane's release-minutes.", valueName: "seconds"))
    var seconds: Int

    func run() async throws {
        try await choice.make { (client, id) throws(TapClientError) in try await client.keep(id, seconds: seconds) }
    }
}

struct SessionsIncrease: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "increase", abstract: "Holds another sum, up to the lane's maximum.",
        discussion: "Give the whole sum to hold from now on, not the difference.")

    @OptionGroup var choice: SessionChoice

    @Argument(help: ArgumentHelp("The amount, as in 12.50 EUR.", valueName: "amount currency"))
    var amount: [String]

    func run() async throws {
        let value = try await choice.minorUnits(amount)
        try await choice.make { (client, id) throws(TapClientError) in try await client.increase(id, total: value) }
    }
}

struct SessionsWatch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Prints events of taps and sessions, one JSON object on each line, until it is interrupted.")

    @Option(help: ArgumentHelp("On this lane.", valueName: "lane"))
    var lane: String?

    @OptionGroup var events: EventOptions

    func run() async throws { try await events.print(where: isOfMachines) }

    /// What is lost on the way concerns a machine as well.
    private func isOfMachines(_ event: Event) -> Bool {
        if event.name == .eventsMissed { return true }
        return event.name.vocabulary == 3 && (lane == nil || event.lane == lane)
    }
}

extension Session {
    /// One line of a list.
    fileprivate var line: String {
        let reference = reference.map { "  \($0)" } ?? ""
        let card = card.map { "  \($0)" } ?? ""
        return "\(id)  \(lane)  tap \(tap)  \(state.rawValue)  \(captured ?? amount)\(card)\(reference)"
    }

    /// State first, then what became of the money.
    fileprivate var summary: String {
        var lines = ["\(state.rawValue.uppercased())  \(captured ?? amount)"]
        if let captured, captured != amount { lines.append("  of             \(amount)") }
        if let shortfall { lines.append("  missing        \(shortfall)") }
        if let reference { lines.append("  reference      \(reference)") }
        if let claimBy { lines.append("  claim by       \(claimBy)") }
        if let releaseAt { lines.append("  goes back at   \(releaseAt)") }
        lines.append("  lane           \(lane), tap \(tap)")
        lines.append("  session        \(id)")
        return lines.joined(separator: "\n")
    }
}
