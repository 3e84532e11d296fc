// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import EMVCrypto
import TerminalFile
import TestSupport
import Testing

@testable import TapSession

/// A gate: nobody verifies a holder, the card's genuineness counts, and whoever is on the list does not pass. The amount is
/// settled later by the operator's own system.
@Suite("Transit")
struct TransitTests {
    private static let key = [UInt8](repeating: 0x2A, count: 32)

    private func bench(_ name: String, amount: UInt64) throws -> TapBench {
        let bench = try TapBench()
        let file = try TerminalFile(json: Array(Checkout.text("docs/examples/terminal-transit.json").utf8))
        bench.tap.configuration = file.configuration
        bench.tap.authentication = file.authentication
        bench.tap.transaction.amount = amount
        try bench.present(name)
        return bench
    }

    /// Above what shops let pass without a holder's verification, below, and nothing at all.
    @Test(arguments: ["visa-afl", "mastercard", "amex", "jcb", "discover", "unionpay"], [0, 250, 9_900] as [UInt64])
    func `a card of each scheme passes without any verification of its holder`(name: String, amount: UInt64) throws {
        let bench = try bench(name, amount: amount)
        let result = try #require(try bench.run())
        #expect(result.status == .onlineRequest || result.status == .approved)
        #expect(result.cvm == .noCVM)
        #expect(!result.receipt)
        #expect(result.read != nil)
    }

    @Test func `the qualifiers say that nobody is verified, so that no card asks for it`() throws {
        let file = try TerminalFile(json: Array(Checkout.text("docs/examples/terminal-transit.json").utf8))
        for combination in file.configuration.combinations {
            #expect(combination.limits.cvmRequiredLimit == nil)
            #expect(combination.limits.ttq?.requiresCVM != true)
            // Genuineness is all that a gate has before it opens.
            #expect(combination.limits.ttq?.supportsODAForOnline != false)
        }
    }

    @Test(arguments: ["visa-afl", "mastercard", "amex", "jcb", "discover", "unionpay"])
    func `an account on the deny list is refused and nothing of it is sealed`(name: String) throws {
        let bench = try bench(name, amount: 250)
        let open = try #require(DenyList(key: SecretBytes(Self.key), entries: []))
        bench.tap.denied = open
        #expect(try bench.run()?.read != nil)
        let digits = try #require(try bench.plaintext().firstMatch(of: /"pan":"([0-9]+)"/)).1
        let entry = open.entry(pan: digits.utf8.map { $0 - 0x30 })
        let again = try self.bench(name, amount: 250)
        again.tap.denied = DenyList(key: SecretBytes(Self.key), entries: [entry])
        let refused = try #require(try again.run())
        #expect(refused.status == .declined)
        #expect(refused.read == nil)
        // Another key gives other entries: the list is worth nothing without it.
        let other = try self.bench(name, amount: 250)
        other.tap.denied = DenyList(key: SecretBytes([UInt8](repeating: 0x2B, count: 32)), entries: [entry])
        #expect(try other.run()?.read != nil)
    }

    @Test func `a list finds an account by its reference too, prints nothing, and needs a whole key`() throws {
        let reference = Array("V0010013821114563145612345678".utf8)
        let open = try #require(DenyList(key: SecretBytes(Self.key), entries: []))
        let list = try #require(DenyList(key: SecretBytes(Self.key), entries: [open.entry(reference: reference)]))
        #expect(list.contains([DataObject(0x9F24, reference)]))
        #expect(!list.contains([DataObject(0x9F24, Array(reference.reversed()))]))
        #expect(!list.contains([DataObject(0x5A, reference)]))
        #expect(list.contains(SampleOutcomes.visaRecord))
        let digits = SampleOutcomes.pan.utf8.map { $0 - 0x30 }
        #expect(!list.exceptionFile.contains(digits, nil))
        let byNumber = try #require(DenyList(key: SecretBytes(Self.key), entries: [open.entry(pan: digits)]))
        #expect(byNumber.exceptionFile.contains(digits, 1))
        // RFC 2104 with SHA-256, computed by OpenSSL:
        // printf 'P4761739001010010' | openssl dgst -sha256 -mac hmac -macopt hexkey:2A…2A
        #expect(
            Hex.string(open.entry(pan: digits)) == "EAB490719BFAB1FA44E7B4B15B35A299407188939131C9A21C7AC20CB2425B1C")
        #expect(DenyList(key: SecretBytes([UInt8](repeating: 1, count: 31)), entries: []) == nil)
        #expect("\(list)" == "deny list of 1 accounts")
    }
}
