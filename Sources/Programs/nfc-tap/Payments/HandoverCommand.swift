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

    @Argument(
        help: ArgumentHelp(
            "The amount, as in 12.50 EUR; with --retry-of that of the sale before where it is missing.",
            valueName: "amount currency"))
    var amount: [String] = []

    @Option(help: ArgumentHelp("The sale that ended without money, whose order is paid there.", valueName: "id"))
    var retryOf: String?

    @Option(help: ArgumentHelp("Your reference for the sale.", valueName: "text"))
    var order: String?

    @Flag(help: "Take the payment although the order is paid.")
    var allowRepeat = false

    @Option(help: ArgumentHelp("Seconds in which the customer may pay. Default: 180.", valueName: "seconds"))
    var expires: Int?

    @Option(help: ArgumentHelp("Key of this hand-over. The same again makes no second one.", valueName: "text"))
    var key: String?

    @OptionGroup var daemon: DaemonChoice

    @Flag(help: "Print the transaction as JSON.")
    var json = false

    func validate() throws {
        if let retryOf { _ = try PaymentName(retryOf) }
        if retryOf == nil || !amount.isEmpty {
            do { _ = try AmountText.parse(amount) } catch { throw ValidationError("\(error).") }
        }
        if let expires, !Limits.handoverSeconds.contains(expires) {
            throw ValidationError("--expires takes 30 to 3600 seconds.")
        }
    }

    func run() async throws {
        var request = TransactionRequest(type: .handover, amount: amount.isEmpty ? Money.none : try parsedMoney(amount))
        if let retryOf { request.retryOf = try await PaymentName(retryOf).id(with: daemon.client) }
        request.order = order
        request.allowRepeat = allowRepeat ? true : nil
        request.link = LinkOptions(expires: expires ?? Limits.defaultHandoverSeconds, to: terminal)
        let transaction: Transaction
        do throws(TapClientError) {
            let begun = try await daemon.client.start(request, idempotencyKey: key ?? TransactionID().text)
            StandardError.write("nfc-tap: \(begun.id) is handed to \(terminal)\n")
            transaction = try await begun.settled()
        } catch {
            throw Failure(error)
        }
        try transaction.conclude(asJSON: json)
    }
}
