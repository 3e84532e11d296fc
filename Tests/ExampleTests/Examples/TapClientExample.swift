// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import TapClient

/// Charges an amount and says whether it is paid. The key is the sale's own: repeated, it never charges twice.
func charge(_ cents: Int64, saleID: String) async throws(TapClientError) -> Bool {
    guard let euro = Currency("EUR") else { return false }
    var request = TransactionRequest(type: .purchase, amount: Money(value: cents, currency: euro))
    request.order = saleID
    let tap = try await TapClient().start(request, idempotencyKey: saleID)
    let transaction = try await tap.settled()
    return transaction.state == .approved && transaction.mode == .live
}
