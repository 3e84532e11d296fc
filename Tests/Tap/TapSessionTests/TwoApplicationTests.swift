// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import TerminalFile
import TestSupport
import Testing

@testable import TapSession

/// Cards and wallets with one account under two applications, and the merchant's choice between them.
@Suite("Two applications of one account")
struct TwoApplicationTests {
    private static let cards: [(name: String, own: String, common: String)] = [
        ("us-debit-visa", "A0000000031010", "A0000000980840"),
        ("us-debit-mastercard", "A0000000041010", "A0000000042203"),
        ("us-debit-discover", "A0000001523010", "A0000001524010"),
        ("us-debit-unionpay", "A000000333010101", "A000000333010108"),
    ]

    private func run(_ name: String, prefers: Bool = true) throws -> PaymentTapResult {
        let bench = try TapBench()
        let file = try TerminalFile(json: Array(Checkout.text("docs/examples/terminal-us.json").utf8))
        bench.tap.configuration = file.configuration
        if !prefers { bench.tap.configuration.preferredApplications = [] }
        try bench.present(name)
        return try #require(try bench.run())
    }

    @Test func `the merchant's preference takes the common application, the card's order its scheme's own`() throws {
        for card in Self.cards {
            let preferred = try run(card.name)
            #expect(Hex.string(preferred.aid) == card.common, "\(card.name)")
            #expect(preferred.choice == .merchantPreference, "\(card.name)")
            #expect(preferred.status == .onlineRequest, "\(card.name)")
            #expect(preferred.read?.account.scheme == "US common debit", "\(card.name)")
            let own = try run(card.name, prefers: false)
            #expect(Hex.string(own.aid) == card.own, "\(card.name)")
            #expect(own.choice == .cardPriority, "\(card.name)")
            #expect(own.read?.account.lastFour == preferred.read?.account.lastFour, "\(card.name)")
        }
    }

    @Test func `a wallet that puts the common application first gets it without a preference`() throws {
        let result = try run("us-debit-wallet", prefers: false)
        #expect(Hex.string(result.aid) == "A0000000980840")
        #expect(result.kernel == .visa)
        #expect(result.choice == .cardPriority)
        #expect(result.cvm == .confirmationCodeVerified || result.cvm == .noCVM)
    }

    @Test(arguments: ["visa", "mastercard", "discover", "unionpay"])
    func `a card with one application keeps it, whatever is preferred`(name: String) throws {
        let result = try run(name)
        #expect(result.status == .onlineRequest || result.status == .approved)
        #expect(result.choice == .only)
    }

    @Test func `a provider without a default kernel needs a combination that names one`() throws {
        let bench = try TapBench()
        // The test terminal has no combination for A000000098: the scheme's own application is left.
        try bench.present("us-debit-wallet")
        let result = try #require(try bench.run())
        #expect(Hex.string(result.aid) == "A0000000031010")
        #expect(result.choice == .only)
    }
}
