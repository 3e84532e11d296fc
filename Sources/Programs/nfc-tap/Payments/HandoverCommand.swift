// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import POSAPI
import PaymentValues
import TapClient

struct HandoverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "handover", abstract: "Has a customer pay at another terminal.",
        discussion: """
            The terminal is one that your payment service runs: nfc-tap status lists them, and nfc-tap pay names one where it helps. Waits until the customer has paid \
            there or was declined, or the time is over. Interrupting the command leaves the sale at the terminal: \
            nfc-tap cancel takes it away. Exit codes: 0 paid, 10 not paid, 12 unknown, 13 not completed.
            """)

    @Argument(help: "The terminal, by its name at the payment service.")
    var terminal: String

    @OptionGroup var sale: SaleElsewhere

    @Option(help: ArgumentHelp("Seconds in which the customer may pay. Default: 180.", valueName: "seconds"))
    var expires: Int?

    @Option(help: ArgumentHelp("Key of this hand-over. The same again makes no second one.", valueName: "text"))
    var key: String?

    @OptionGroup var daemon: DaemonChoice

    @Flag(help: "Print the transaction as JSON.")
    var json = false

    func validate() throws {
        if let expires, !Limits.handoverSeconds.contains(expires) {
            throw ValidationError("--expires takes 30 to 3600 seconds.")
        }
    }

    func run() async throws {
        var request = try await sale.request(.handover, with: daemon.client)
        request.link = LinkOptions(expires: expires ?? Limits.defaultHandoverSeconds, to: terminal)
        let transaction: Transaction
        do throws(TapClientError) {
            let begun = try await daemon.client.start(request, idempotencyKey: key ?? TransactionID().text)
            let told = Language.spoken.tillText("till.otherTerminal").replacing("{name}", with: terminal)
            StandardError.write("nfc-tap: \(told), \(Language.spoken.inOrder("\(begun.id)"))\n")
            transaction = try await begun.settled()
        } catch {
            throw Failure(error)
        }
        try transaction.conclude(asJSON: json)
    }
}
