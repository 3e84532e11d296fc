// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import POSAPI
import PaymentValues
import TapClient

/// Takes a payment. The command has a stored property for each option.
struct Pay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Takes a payment through the daemon.",
        discussion: """
            Prints progress while it waits, and the result at the end. Interrupting the command before the card has been \
            read cancels the payment. Exit codes: 0 approved, 10 declined, 11 partially approved, 12 unknown, 13 not completed.
            """)

    @Argument(
        help: ArgumentHelp(
            "The amount, as in 12.50 EUR. With --retry-of, leave it out to ask for the amount of the earlier sale.",
            valueName: "amount currency"))
    var amount: [String] = []

    @Option(
        help: ArgumentHelp("Repeat this sale, which ended without money, under the same order.", valueName: "id"))
    var retryOf: String?

    @Option(help: ArgumentHelp("Print the customer's receipt at the end: text, json or qr.", valueName: "form"))
    var receipt: ReceiptForm?

    @Option(
        help: ArgumentHelp(
            "Read this programme's pass in the same tap, before the card; may be repeated. Use all for every programme.",
            valueName: "programme"))
    var loyalty: [String] = []

    @Flag(
        help:
            "With --loyalty: end the tap with the pass or the card, whichever comes first. A pass charges nothing: exit code 13."
    )
    var stopOnPass = false

    @Option(
        help: ArgumentHelp(
            "Reverse the payment unless nfc-tap confirm confirms it within this many seconds.",
            valueName: "seconds"))
    var confirmWithin: Int?

    @Option(
        help: ArgumentHelp(
            "The same, only if the same card has just paid the same amount on the same lane.", valueName: "seconds"))
    var confirmRepeatWithin: Int?

    @Flag(help: "Only hold the amount, and capture it later with nfc-tap capture.")
    var manualCapture = false

    @Option(
        help: ArgumentHelp(
            "With --manual-capture: hold it at least until then, if the payment service does so, as in 2026-11-29T12:00:00.000Z.",
            valueName: "time"))
    var holdUntil: String?

    @Flag(help: "With --manual-capture: the amount will be adjusted.")
    var incremental = false

    @Flag(help: "Store the card with the payment, as --agreement and --text say.")
    var storeCard = false

    @OptionGroup var agreement: AgreementOptions

    @Flag(help: "Charge the order even if it is already paid.")
    var allowRepeat = false

    @Flag(help: "Give the customer all of the time for a PIN, and ask for a device that speaks and writes large.")
    var accessible = false

    @OptionGroup var daemon: DaemonChoice
    @OptionGroup var options: TransactionOptions

    func validate() throws {
        if let retryOf { _ = try PaymentName(retryOf) }
        if retryOf == nil || !amount.isEmpty {
            do { _ = try AmountText.parse(amount) } catch { throw ValidationError("\(error).") }
        }
        if let confirmWithin, !Limits.confirmSeconds.contains(confirmWithin) {
            throw ValidationError("--confirm-within takes 1 to 600 seconds.")
        }
        if let confirmRepeatWithin, !Limits.confirmSeconds.contains(confirmRepeatWithin) {
            throw ValidationError("--confirm-repeat-within takes 1 to 600 seconds.")
        }
        if !manualCapture, holdUntil != nil || incremental {
            throw ValidationError("--hold-until and --incremental need --manual-capture.")
        }
        if let holdUntil, Timestamp(holdUntil) == nil {
            throw ValidationError("--hold-until takes a time such as 2026-11-29T12:00:00.000Z.")
        }
        guard storeCard == (agreement.text != nil) else {
            throw ValidationError("Give --store-card with --text, a file with what the customer was shown.")
        }
        if stopOnPass, loyalty.isEmpty { throw ValidationError("--stop-on-pass needs --loyalty.") }
    }

    /// The wish for passes in the same tap; `nil` for none.
    private var wish: LoyaltyOptions? {
        guard !loyalty.isEmpty else { return nil }
        return LoyaltyOptions(programmes: loyalty.contains("all") ? nil : loyalty, stopOnPass: stopOnPass)
    }

    func run() async throws {
        var money = Money.none
        if !amount.isEmpty {
            do throws(AmountText.Problem) { money = try AmountText.parse(amount) } catch {
                throw ValidationError("\(error).")
            }
        }
        var request = TransactionRequest(type: .purchase, amount: money)
        if let retryOf { request.retryOf = try await PaymentName(retryOf).id(with: daemon.client) }
        request.loyalty = wish
        request.confirmWithin = confirmWithin
        request.confirmRepeatWithin = confirmRepeatWithin
        request.allowRepeat = allowRepeat ? true : nil
        request.accessible = accessible ? true : nil
        if storeCard {
            request.store = true
            request.agreement = try agreement.terms(options.language)
        }
        if manualCapture {
            request.capture = CaptureOptions(
                .manual, before: holdUntil.flatMap { Timestamp($0) }, incremental: incremental ? true : nil)
        }
        try await options.run(request, receipt: receipt, with: daemon.client)
    }
}
