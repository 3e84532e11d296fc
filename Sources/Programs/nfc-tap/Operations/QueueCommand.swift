// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import POSAPI
import PaymentValues
import TapClient

struct QueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: "Shows and forwards payments stored while the payment service was unreachable.",
        discussion: """
            The daemon forwards stored payments as soon as the adapter is back. If it cannot, use a batch: export it, take \
            it to the payment service, and resolve it with the receipt. Batches need an administrator.
            """,
        subcommands: [
            QueueList.self, QueueFlush.self, QueueMakeBatch.self, QueueExport.self, QueueReset.self, QueueResolve.self,
        ], defaultSubcommand: QueueList.self)
}

/// What every command about the queue takes.
struct QueueOptions: ParsableArguments {
    @OptionGroup var daemon: DaemonChoice

    @Flag(help: "Print JSON.")
    var json = false

    /// What `call` gives, or why not in words for a person.
    func ask<Answer>(_ call: (TapClient) async throws(TapClientError) -> Answer) async throws -> Answer {
        do throws(TapClientError) { return try await call(daemon.client) } catch { throw Failure(error) }
    }

    /// The batch that is open.
    func openBatch() async throws -> String {
        let status = try await ask { (client) throws(TapClientError) in try await client.queue() }
        guard let id = status.openBatch else {
            throw Failure(
                in: .spoken, .noBatch, hint: .openOne, [.command: "nfc-tap queue batch"], exitCode: .notCompleted)
        }
        return id
    }

    func print(_ answer: BatchAnswer) throws {
        if json { return try StandardOutput.print(json: answer) }
        StandardOutput.print(Language.spoken.text(.left, [.payments: "\(answer.left)"]))
    }

    func print(_ status: QueueStatus) throws {
        if json { return try StandardOutput.print(json: status) }
        StandardOutput.print(status.summary(in: .spoken))
    }
}

struct QueueList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the stored payments, oldest first.")

    @OptionGroup var options: QueueOptions

    func run() async throws {
        try options.print(try await options.ask { (client) throws(TapClientError) in try await client.queue() })
    }
}

struct QueueFlush: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "flush", abstract: "Forwards the stored payments now, without waiting for the next attempt.")

    @OptionGroup var options: QueueOptions

    func run() async throws {
        try options.print(try await options.ask { (client) throws(TapClientError) in try await client.flushQueue() })
    }
}

struct QueueMakeBatch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "batch", abstract: "Opens a batch of the oldest payments.",
        discussion: "The daemon does not forward the payments of an open batch until the batch is reset.")

    @Option(help: ArgumentHelp("Largest number of payments in the batch.", valueName: "number"))
    var size: Int?

    @OptionGroup var options: QueueOptions

    func run() async throws {
        let batch = try await options.ask { (client) throws(TapClientError) in try await client.openBatch(size: size) }
        if options.json { return try StandardOutput.print(json: batch) }
        let made = [
            TextKey.Placeholder.code: batch.id, .payments: "\(batch.count)", .command: "nfc-tap queue export",
        ]
        StandardOutput.print(Language.spoken.text(.batchMade, made))
    }
}

struct QueueExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Exports the open batch as JSON for the payment service.")

    @OptionGroup var options: QueueOptions

    func run() async throws {
        let id = try await options.openBatch()
        try StandardOutput.print(
            json: try await options.ask { (client) throws(TapClientError) in try await client.batch(id) })
    }
}

struct QueueReset: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Returns the payments of the open batch to the queue; none is lost.")

    @OptionGroup var options: QueueOptions

    func run() async throws {
        let id = try await options.openBatch()
        try options.print(
            try await options.ask { (client) throws(TapClientError) in try await client.resetBatch(id) })
    }
}

struct QueueResolve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve",
        abstract: "Resolves the open batch with the payment service's receipt, and removes its payments from the queue."
    )

    @Argument(help: ArgumentHelp("The receipt from the payment service.", valueName: "token"))
    var token: String

    @OptionGroup var options: QueueOptions

    func run() async throws {
        let id = try await options.openBatch()
        try options.print(
            try await options.ask { (client) throws(TapClientError) in try await client.resolveBatch(id, token: token) }
        )
    }
}

extension QueueStatus {
    /// For a person: the stored payments, since when they wait, and whether another could be stored.
    fileprivate func summary(in language: Language) -> String {
        func date(_ time: Timestamp) -> [TextKey.Placeholder: String] { [.date: "\(time)"] }
        var parts = [language.text(.storedCount, [.payments: "\(count)"])] + totals.map { language.text($0) }
        if let oldest { parts.append(language.text(.oldest, date(oldest))) }
        var lines = [count == 0 ? language.text(.nothingStored) : parts.joined(separator: ", ")]
        if overdue { lines.append(language.text(.overdueDo)) }
        if let openBatch { lines.append(language.text(.openBatch, [.code: openBatch])) }
        for entry in entries {
            var parts = [entry.transaction.text, language.text(entry.amount), entry.card?.description ?? ""]
            parts.append("\(entry.storedAt)")
            if entry.attempts > 0 { parts.append(language.text(.attempts, [.payments: "\(entry.attempts)"])) }
            if entry.batch != nil { parts.append(language.text(.openEntry(.inBatch))) }
            lines.append(parts.map(language.inOrder).joined(separator: "  "))
        }
        if let refusal {
            lines.append(language.text(.cannotStore, [.note: "\(refusal.told(in: language).what) (\(refusal.code))"]))
        } else if let expires {
            lines.append(language.text(.storedUntil, date(expires)))
        }
        return lines.joined(separator: "\n")
    }
}

struct Decline: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Declines a stored payment within a minute of the tap.",
        discussion: "After that minute, wait until the payment has been forwarded, then reverse or refund it.")

    @OptionGroup var choice: TransactionChoice

    func run() async throws {
        let id = try await choice.transaction
        let after: Transaction
        do throws(TapClientError) { after = try await choice.daemon.client.decline(id) } catch { throw Failure(error) }
        try choice.print(after)
    }
}
