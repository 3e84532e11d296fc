// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import POSAPI
import PaymentValues
import Printing
import TapClient

struct LinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link", abstract: "Takes a payment by a link that the customer opens.",
        discussion: """
            Prints the address, with --qr as a QR code, and waits until the customer has paid or the time is over. Interrupting the \
            command leaves the link open: nfc-tap cancel closes it. Exit codes: 0 paid, 10 not paid, 12 unknown, 13 not completed.
            """)

    @OptionGroup var sale: SaleElsewhere

    @Option(help: ArgumentHelp("Seconds in which the customer may pay. Default: 900.", valueName: "seconds"))
    var expires: Int?

    @Option(
        help: ArgumentHelp(
            "Language of what the customer reads, of the progress messages and of the result: \(Language.tags).",
            valueName: "tag"))
    var language: String?

    @Flag(help: "Draw the address as a QR code, too.")
    var qr = false

    @Option(help: ArgumentHelp("Key of this link. The same again opens no second one.", valueName: "text"))
    var key: String?

    @OptionGroup var daemon: DaemonChoice

    @Flag(help: "Print the transaction as JSON.")
    var json = false

    func validate() throws {
        if let expires, !Limits.linkSeconds.contains(expires) {
            throw ValidationError("--expires takes 60 to 86400 seconds.")
        }
    }

    func run() async throws {
        var request = try await sale.request(.link, with: daemon.client)
        request.link = LinkOptions(expires: expires ?? Limits.defaultLinkSeconds)
        request.language = language
        let transaction: Transaction
        do throws(TapClientError) {
            let client = daemon.client
            let begun = try await client.start(request, idempotencyKey: key ?? TransactionID().text)
            try await show(begun.id, with: client)
            transaction = try await begun.settled()
        } catch {
            throw Failure(error, in: Language(option: language))
        }
        try transaction.conclude(asJSON: json, in: Language(option: language))
    }

    /// Prints the address as soon as the payment service has given one.
    private func show(_ id: TransactionID, with client: TapClient) async throws(TapClientError) {
        while true {
            let transaction = try await client.transaction(id)
            if let link = transaction.link {
                let words = Language(option: language)
                let mode = transaction.mode.progressText(in: words)
                StandardError.write("nfc-tap: \(words.text(transaction.amount)), \(mode), \(id)\n")
                StandardError.write("nfc-tap: \(link.progressText(in: words))\n")
                // Black on white whatever the terminal's colours are, so that a camera can read it.
                let lines = qr ? QRCode(link.url)?.blocks(columns: 120) ?? [] : []
                for line in lines { StandardError.write(coloured: "\u{1B}[30;107m\(line)\u{1B}[0m\n") }
                return
            }
            if transaction.state.isSettled { return }
            try? await Task.sleep(for: .milliseconds(200))
        }
    }
}
