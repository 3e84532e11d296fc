// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import POSAPI
import TapClient

struct Find: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the outcome of a request, by its idempotency key.",
        discussion: """
            For a till that has lost an answer. Ends with the exit code of the command that began the transaction. A \
            key that never arrived is an error: send the request again with the same key.
            """)

    @Argument(help: ArgumentHelp("The key of the request.", valueName: "key"))
    var key: String

    @Flag(help: "Print the transaction as JSON.")
    var json = false

    @OptionGroup var daemon: DaemonChoice

    func run() async throws {
        let transaction: Transaction
        do throws(TapClientError) {
            transaction = try await daemon.client.transaction(idempotencyKey: key)
        } catch {
            throw Failure(error)
        }
        if json {
            try StandardOutput.print(json: transaction)
        } else {
            StandardOutput.print(CommandLabel(of: transaction).summary(transaction))
        }
        let code = transaction.exitCode
        if code != .success { throw code }
    }
}
