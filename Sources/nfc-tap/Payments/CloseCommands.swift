import ArgumentParser
import TapClient
import Wire

struct Confirm: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Confirms an approval that was asked for with a time for that.",
        discussion: "An approval that nobody confirms in time is taken back by the daemon.")

    @OptionGroup var choice: TransactionChoice

    func run() async throws {
        let id = try choice.transaction
        let after: Transaction
        do throws(TapClientError) { after = try await choice.daemon.client.confirm(id) } catch { throw Failure(error) }
        try choice.print(after)
    }
}

struct Reverse: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Takes a payment back, as a whole.",
        discussion: "For a part of it use refund. Where the payment service is away the daemon goes on trying.")

    @Option(
        help: ArgumentHelp("Why: customerCancel, malfunction or suspectedFraud.", valueName: "reason"),
        transform: { text in
            guard let reason = ReversalDemand.Reason(rawValue: text) else {
                throw ValidationError("Give customerCancel, malfunction or suspectedFraud.")
            }
            return reason
        })
    var reason: ReversalDemand.Reason = .customerCancel

    @OptionGroup var choice: TransactionChoice

    func run() async throws {
        let id = try choice.transaction
        let after: Transaction
        do throws(TapClientError) {
            after = try await choice.daemon.client.reverse(id, reason: reason)
        } catch {
            throw Failure(error)
        }
        try choice.print(after)
    }
}

/// One transaction of a daemon, and how it is shown.
struct TransactionChoice: ParsableArguments {
    @Argument(help: ArgumentHelp("The transaction.", valueName: "id"))
    var id: String

    @OptionGroup var daemon: DaemonChoice

    @Flag(help: "Print the transaction as JSON.")
    var json = false

    var transaction: TransactionID {
        get throws {
            guard let id = TransactionID(id) else { throw ValidationError("\(id) is no transaction id (a UUID).") }
            return id
        }
    }

    func print(_ transaction: Transaction) throws {
        if json { return try StandardOutput.print(json: transaction) }
        StandardOutput.print(transaction.summary)
    }
}
