// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import Testing

@testable import Hub

@Suite("What may leave")
struct HubRuleTests {
    private func verdict(
        _ member: String?, _ carrier: LoyaltyResult.Pass.Carrier = .uid, status: LoyaltyResult.Status = .delivered,
        _ change: (inout HubRule) -> Void = { _ in }
    ) -> HubRule.Verdict {
        var rule = HubRule()
        change(&rule)
        var pass = LoyaltyResult.Pass(carrier: carrier, isAuthentic: carrier == .apple)
        pass.member = member
        let entry = LoyaltyResult.Entry(id: "club", displayName: "Club", status: status, pass: pass)
        return rule.judge(entry, id: "t1", lane: "door", time: .now)
    }

    private func leaves(_ verdict: HubRule.Verdict) -> Bool { if case .leaves = verdict { true } else { false } }

    @Test("H4: a fixed identifier leaves; one that changes, or that other cards may have, does not")
    func identifiers() {
        #expect(leaves(verdict("04A1B2C3D4E580")))
        #expect(leaves(verdict("04A1B2C3D4E5F6070809")))
        // In decimal too.
        #expect(leaves(verdict("1304276482221440")) == !HubRule.holdsCardNumber("1304276482221440"))
        #expect(verdict("08010203") == .stays(.random))
        #expect(verdict("88A1B2C3") == .stays(.random))
        #expect(verdict("0088A1B2C3") == .stays(.random))
        #expect(verdict("DEADBEEF") == .stays(.mayRepeat))
        #expect(verdict("3735928559") == .stays(.mayRepeat))
        #expect(leaves(verdict("DEADBEEF", .uid, { $0.takesRepeating = true })))
        #expect(verdict("08010203", .uid, { $0.takesRepeating = true }) == .stays(.random))
        // Short numbers of passes are no identifiers.
        #expect(leaves(verdict("4711", .tag)))
    }

    @Test("H4: a card number in a pass of any kind stays", arguments: LoyaltyResult.Pass.Carrier.allCases)
    func cardNumbers(carrier: LoyaltyResult.Pass.Carrier) {
        #expect(verdict("4111 1111 1111 1111", carrier) == .stays(.looksLikeCard))
    }

    @Test("H4: what is sealed, stale, unwanted or no number stays")
    func others() {
        #expect(verdict(nil, .apple) == .stays(.noNumber))
        #expect(verdict("", .apple) == .stays(.noNumber))
        #expect(verdict("a\nb", .tag) == .stays(.noNumber))
        #expect(verdict(String(repeating: "a", count: 1_025), .tag) == .stays(.noNumber))
        for status in LoyaltyResult.Status.allCases where status != .delivered {
            #expect(!leaves(verdict("M-1", .apple, status: status)), "\(status)")
        }
        #expect(verdict("M-1", .apple, { $0.programmes = ["other"] }) == .stays(.notWanted))
        #expect(verdict("M-1", .apple, { $0.kinds = [.uid] }) == .stays(.notWanted))
    }

    @Test("H2: the body of a webhook says what was read, and of a wallet whether that was proven")
    func bodies() throws {
        guard case .leaves(let tap) = verdict("Käse \"☕\"", .apple) else {
            Issue.record("stays")
            return
        }
        #expect(tap.id == "t1-club")
        #expect(
            tap.body
                == "{\"type\":\"pass.read\",\"timestamp\":\"\(tap.time)\",\"data\":{\"id\":\"t1-club\",\"lane\":\"door\","
                + "\"kind\":\"apple\",\"programme\":\"club\",\"member\":\"Käse \\\"☕\\\"\",\"authentic\":true}}")
        guard case .leaves(let card) = verdict("04A1B2C3D4E580") else {
            Issue.record("stays")
            return
        }
        #expect(card.body.contains("\"type\":\"tag.read\"") && card.body.contains("\"tag\":\"04A1B2C3D4E580\""))
    }
}
