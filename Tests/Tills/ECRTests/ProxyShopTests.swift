// SPDX-License-Identifier: Apache-2.0
import Codes
import Testing

@testable import ECR

struct ProxyShopTests {
    @Test(
        "M1, M2: in 10,000 random orders nobody pays for the other, and nothing abandoned is confirmed",
        arguments: 0..<UInt64(10))
    func randomOrders(thousand: UInt64) throws {
        let currency = try #require(CurrencyCode("EUR"))
        var (paid, cards, untold) = (0, 0, 0)
        for seed in thousand * 1_000..<(thousand + 1) * 1_000 {
            var shop = ProxyShop(seed: seed, currency: currency)
            do throws(ProxyShop.Wrong) { try shop.run(steps: 10) } catch {
                Issue.record("seed \(seed): \(error)")
                return
            }
            (paid, cards, untold) = (paid + shop.paid, cards + shop.cards, untold + shop.untold)
        }
        // A page that gives up in the very seconds in which its card is approved cannot always be told from one that asks on.
        #expect(paid > 400 && paid * 2 > cards && untold * 8 < paid)
    }
}
