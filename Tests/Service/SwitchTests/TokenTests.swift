// SPDX-License-Identifier: Apache-2.0
import Envelope
import Foundation
import PSPAPI
import PaymentValues
import TestSupport
import Testing

@testable import rig_tills

/// docs/service/keys-and-token.md, with SoftHSM2 as the token.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct TokenTests {
    @Test func `what a till seals to a key of the token is opened there, and by no other key`() async throws {
        try await SwitchRig.run(replicas: 1, hasToken: true) { rig in
            var till = TestTill(rig.sockets[0])
            let keys = try await till.keys().keys
            #expect(keys.map(\.keyID) == ["shop-1"])
            till.recipient = try #require(keys.first)
            let request = try await till.sale(900)
            let answer = try #require(try await till.post(request).answer)
            #expect(answer.outcome == .approved, "\(answer)")
            let token = try #require(answer.cardToken)
            // The same card by another tap has the same name, which is no number.
            let again = try #require(try await till.post(try await till.sale(800)).answer)
            #expect(again.cardToken == token && token.hasPrefix("ct_"))
            let other = TestTill(rig.sockets[0])
            let refused = try #require(try await other.post(try await other.sale(700)).answer)
            #expect(refused.outcome == .declined && refused.responseCode == "30")
            try CardNumbers.areNowhere(in: [rig.folder, rig.server.folder])
        }
    }
}
