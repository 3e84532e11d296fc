// SPDX-License-Identifier: Apache-2.0
import Codes
import ECR
import POSAPI
import PaymentValues
import Testing

@testable import TillBridge

/// What the daemon is asked for where a till reads a card ahead.
struct ReadAheadTests {
    private func order(_ kind: TillOrder.Kind, identity: String? = nil) throws -> TillOrder {
        TillOrder(kind: kind, amount: 2_500, currency: try #require(CurrencyCode("EUR")), identity: identity)
    }

    @Test func `a card that is read ahead is asked for as a hold`() throws {
        let euro = try #require(Currency("EUR"))
        for kind in [TillOrder.Kind.read, .reservation] {
            let request = TillPayments.request(for: try order(kind), in: euro)
            #expect(request.type == .purchase && request.amountStatus == .preauthorized)
        }
        let sale = TillPayments.request(for: try order(.sale), in: euro)
        #expect(sale.type == .purchase && sale.amountStatus == nil)
        #expect(TillPayments.request(for: try order(.refund), in: euro).type == .refund)
    }

    @Test func `a charger's token names no order of the daemon: it may be used again when its hold has ended`() throws {
        #expect(TillPayments.name(of: try order(.reservation, identity: "544F4B"), at: "charger") == nil)
    }
}
