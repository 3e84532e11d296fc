// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import POSAPI
import PaymentValues
import TapClient

struct Confirm: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Confirms an approval requested with --confirm-within.",
        discussion: "The daemon reverses an approval that is not confirmed in time.")

    @OptionGroup var choice: TransactionChoice

    func run() async throws {
        let id = try await choice.transaction
        let after: Transaction
        do throws(TapClientError) { after = try await choice.daemon.client.confirm(id) } catch { throw Failure(error) }
        try choice.print(after)
    }
}

struct Reverse: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Reverses a whole payment.",
        discussion:
            "Use refund to return part of a payment. While the payment service is unreachable, the daemon keeps trying."
    )

    @Option(
        help: ArgumentHelp(
            "Reason for the reversal: customerCancel, malfunction or suspectedFraud.", valueName: "reason"),
        transform: { text in
            guard let reason = ReversalRequest.Reason(rawValue: text) else {
                throw ValidationError("Give customerCancel, malfunction or suspectedFraud.")
            }
            return reason
        })
    var reason: ReversalRequest.Reason = .customerCancel

    @OptionGroup var choice: TransactionChoice

    func run() async throws {
        let id = try await choice.transaction
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
    @Argument(help: ArgumentHelp("The transaction's id, or its number in the list.", valueName: "id"))
    var id: String

    @OptionGroup var daemon: DaemonChoice

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws { _ = try PaymentName(id) }

    var transaction: TransactionID {
        get async throws { try await PaymentName(id).id(with: daemon.client) }
    }

    func print(_ transaction: Transaction) throws {
        if json { return try StandardOutput.print(json: transaction) }
        StandardOutput.print(transaction.summary())
    }
}
