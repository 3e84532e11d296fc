// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import EMV

@Suite("The merchant's preference among a card's applications")
struct PreferenceTests {
    private func candidates(_ names: [UInt8]...) -> [Candidate] {
        names.enumerated().map { Candidate(entry: PPSEEntry(adfName: $0.element), combination: $0.offset) }
    }

    private func order(_ preferred: [[UInt8]], _ candidates: [Candidate]) -> [Int] {
        Candidate.preferring(preferred, candidates).map(\.combination)
    }

    @Test("Without a preference the card's order stands")
    func none() { #expect(order([], candidates(AID.visa, AID.mastercard)) == [0, 1]) }

    @Test("A preferred AID comes first, an RID stands for all of its applications")
    func first() {
        let both = candidates(AID.visa, AID.mastercard)
        #expect(order([AID.mastercard], both) == [1, 0])
        #expect(order([Array(AID.mastercard.prefix(5))], both) == [1, 0])
        #expect(order([Array(AID.mastercard.prefix(5)), AID.visa], both) == [1, 0])
        #expect(order([AID.visa, AID.mastercard], both) == [0, 1])
    }

    @Test("What the card does not have is passed over, and nothing is lost")
    func absent() {
        let both = candidates(AID.visa, AID.mastercard)
        #expect(order([[0xA0, 0, 0, 0, 0x25]], both) == [0, 1])
        #expect(order([AID.visa + [0x01]], both) == [0, 1])
    }

    @Test("Candidates of the same preference keep the card's order")
    func stable() {
        let many = candidates(AID.visa, AID.mastercard, AID.visa + [0x01], AID.mastercard + [0x01])
        #expect(order([Array(AID.mastercard.prefix(5))], many) == [1, 3, 0, 2])
    }
}
