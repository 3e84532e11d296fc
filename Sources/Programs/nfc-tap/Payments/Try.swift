// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CardBytes
import POSAPI
import PaymentValues
import TapClient

struct Try: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "try", abstract: "Runs a complete test payment; no money moves.",
        discussion: """
            Starts a daemon in test mode with a virtual reader and a test payment service, both in a temporary folder, and \
            stops them at the end. Never uses a real reader, card or payment service, whatever this machine's \
            configuration says. The last two digits of the amount choose the outcome: try 12.51 EUR. Exit codes are those \
            of pay.
            """)

    @Argument(help: ArgumentHelp("The amount; default: 12.50 EUR.", valueName: "amount currency"))
    var amount: [String] = ["12.50", "EUR"]

    @Option(help: ArgumentHelp("Name of a simulated card, from nfc-tap simulate --list.", valueName: "card"))
    var card = "visa"

    @Flag(help: "Print the transaction as JSON.")
    var json = false

    func validate() throws {
        do { _ = try AmountText.parse(amount) } catch { throw ValidationError("\(error).") }
    }

    func run() async throws {
        let money: Money
        do throws(AmountText.Problem) { money = try AmountText.parse(amount) } catch {
            throw ValidationError("\(error).")
        }
        let stage = try Stage()
        defer { stage.end() }
        let client = TapClient(path: stage.posSocket)
        try await stage.ready(client)
        try stage.present(card)
        let transaction = try await TransactionOptions.watch(
            TransactionRequest(type: .purchase, amount: money), idempotencyKey: nil,
            narrator: Narrator(isSilent: json), with: client)
        if json {
            try StandardOutput.print(json: transaction)
        } else {
            StandardOutput.print(transaction.summary())
            StandardOutput.print("")
            try await ReceiptForm.text.print(transaction.id, language: .spoken, with: client)
            StandardOutput.print("\nnfc-tap help-topics terms: \(Language.spoken.text(.helpTitle(.terms)))")
        }
        let code = transaction.exitCode
        if code != .success { throw code }
    }
}
