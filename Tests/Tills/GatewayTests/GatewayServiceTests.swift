// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import Gateway

@Suite struct GatewayServiceTests {
    @Test("A6: the gateway's unit has descriptors for all that it lets in at six addresses")
    func unit() throws {
        let most = try #require(try Checkout.number("LimitNOFILE", ofUnit: "nfc-tap-gateway.service"))
        // An address: one listens, 256 connections of which half are refused, 64 strangers, 96 streams.
        #expect(GatewayService.descriptors(addresses: 3) - GatewayService.descriptors(addresses: 2) == 417)
        #expect(GatewayService.descriptors(addresses: GatewayFile().listen.count) <= most)
        #expect(GatewayService.descriptors(addresses: 6) <= most)
    }
}
