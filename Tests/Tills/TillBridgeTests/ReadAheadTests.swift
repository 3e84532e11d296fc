// SPDX-License-Identifier: Apache-2.0
import Codes
import ECR
import Testing
import Wire

@testable import TillBridge

/// What the daemon is asked for where a till reads a card ahead, and what the till hears of the card.
struct ReadAheadTests {
    private func order(_ kind: TillOrder.Kind, identity: String? = nil) throws -> TillOrder {
        TillOrder(kind: kind, amount: 2_500, currency: try #require(CurrencyCode("EUR")), identity: identity)
    }

    @Test func `a card that is read ahead is asked for as a hold, with the members' programme where there is one`()
        throws
    {
        let euro = try #require(Currency("EUR"))
        let plain = TillPayments.request(for: try order(.read), in: euro, memberProgramme: nil)
        #expect(plain.type == .purchase && plain.amountStatus == .preauthorized && plain.loyalty == nil)
        let members = TillPayments.request(for: try order(.read), in: euro, memberProgramme: "club")
        #expect(members.loyalty == LoyaltyWish(programmes: ["club"]))
        let hold = TillPayments.request(for: try order(.reservation), in: euro, memberProgramme: "club")
        #expect(hold.loyalty == nil && hold.amountStatus == .preauthorized)
        let sale = TillPayments.request(for: try order(.sale), in: euro, memberProgramme: "club")
        #expect(sale.loyalty == nil && sale.amountStatus == nil)
    }

    @Test func `a charger's token names no order of the daemon: it may be used again when its hold has ended`() throws {
        #expect(TillPayments.name(of: try order(.reservation, identity: "544F4B"), at: "charger") == nil)
    }

    @Test(arguments: [
        ("04A1B2C3D4E580", [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80] as [UInt8]?),
        ("DEADBEEF", [0xDE, 0xAD, 0xBE, 0xEF]), ("+A+B+C+D", nil), ("3735928559", nil), ("", nil),
    ])
    func `a member's card is told by its UID, and nothing else of a pass is`(member: String, uid: [UInt8]?) {
        var pass = LoyaltyResult.Pass(carrier: .uid, isAuthentic: false)
        pass.member = member
        let entry = LoyaltyResult.Entry(id: "club", displayName: "Club", status: .delivered, pass: pass)
        #expect(LoyaltyResult(customerAction: .nothing, programmes: [entry]).presentedUID == uid)
        pass.carrier = .tag
        let tag = LoyaltyResult.Entry(id: "club", displayName: "Club", status: .delivered, pass: pass)
        #expect(LoyaltyResult(customerAction: .nothing, programmes: [tag]).presentedUID == nil)
    }
}
