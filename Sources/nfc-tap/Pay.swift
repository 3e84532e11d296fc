import ArgumentParser
import TapClient
import Wire

struct Pay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Takes a payment through the daemon.",
        discussion: """
            Prints what happens while it waits and the result at the end. Interrupting it before the card was read cancels \
            the payment. Exit codes: 0 approved, 10 declined, 11 partially approved, 12 unknown, 13 not completed.
            """)

    @Argument(help: ArgumentHelp("The amount, as in 12.50 EUR.", valueName: "amount currency"))
    var amount: [String]

    @Option(help: ArgumentHelp("Print the customer's receipt at the end: text, json or qr.", valueName: "form"))
    var receipt: ReceiptForm?

    @OptionGroup var daemon: DaemonChoice
    @OptionGroup var options: TransactionOptions

    func validate() throws {
        do { _ = try AmountText.parse(amount) } catch { throw ValidationError("\(error).") }
    }

    func run() async throws {
        let money: Money
        do throws(AmountText.Problem) { money = try AmountText.parse(amount) } catch {
            throw ValidationError("\(error).")
        }
        try await options.run(TransactionRequest(type: .purchase, amount: money), receipt: receipt, with: daemon.client)
    }
}
