// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import POSAPI
import PaymentValues
import TapClient

/// What is asked of a sale that is paid elsewhere: by a link, or at another terminal.
struct SaleElsewhere: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The amount, as in 12.50 EUR; with --retry-of that of the sale before where it is missing.",
            valueName: "amount currency"))
    var amount: [String] = []

    @Option(help: ArgumentHelp("The sale that ended without money, whose order is paid this way.", valueName: "id"))
    var retryOf: String?

    @Option(help: ArgumentHelp("Your reference for the sale.", valueName: "text"))
    var order: String?

    @Flag(help: "Take the payment although the order is paid.")
    var allowRepeat = false

    func validate() throws {
        if let retryOf { _ = try PaymentName(retryOf) }
        if retryOf == nil || !amount.isEmpty {
            do { _ = try AmountText.parse(amount) } catch { throw ValidationError("\(error).") }
        }
    }

    func request(_ type: TransactionType, with client: TapClient) async throws -> TransactionRequest {
        var request = TransactionRequest(type: type, amount: amount.isEmpty ? Money.none : try parsedMoney(amount))
        if let retryOf { request.retryOf = try await PaymentName(retryOf).id(with: client) }
        request.order = order
        request.allowRepeat = allowRepeat ? true : nil
        return request
    }
}
