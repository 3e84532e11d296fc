// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Codes
import EMV
import Testing

@testable import TapSession

@Suite("Cards whose kernel is not public")
struct UnsupportedApplicationTests {
    private func choice(_ entries: [DirectoryEntry]) throws -> ApplicationChoice {
        var card = PaymentCard(CardProfile(directory: entries, applications: []))
        card.powerOn()
        let select: [UInt8] = [0x00, 0xA4, 0x04, 0x00, 0x0E] + Array("2PAY.SYS.DDF01".utf8) + [0x00]
        guard case .answer(let bytes) = card.answer(select) else { throw CardIsGone() }
        let final = FinalOutcome(outcome: Outcome(.endApplication, error: ErrorIndication(l2: .emptyCandidateList)))
        return ApplicationChoice(
            final, try ResponseAPDU(bytes), .test,
            Transaction(
                amount: 100, currency: 978, exponent: 2, country: 276, date: EMVDate(year: 2026, month: 1, day: 1),
                time: EMVTime(hour: 0, minute: 0, second: 0), sequenceCounter: 1))
    }

    private struct CardIsGone: Error {}

    /// RIDs of public lists, with kernel identifiers in the forms of EMV Contactless Book B Table 3-6.
    @Test(
        arguments: [
            ("A0000002771010", "Interac", "", "Interac, AID A0000002771010, no kernel named"),
            ("A0000005241010", "RuPay", "0D", "RuPay, AID A0000005241010, kernel 0D"),
            ("A0000006581010", "Mir", "81643A", "Mir, AID A0000006581010, kernel 81643A"),
            ("A00000038410", "eftpos", "", "eftpos, AID A00000038410, no kernel named"),
            ("A0000006510101", "Elo", "", "Elo, AID A0000006510101, no kernel named"),
            ("A0000002281010", "mada", "", "mada, AID A0000002281010, no kernel named"),
            ("A0000000421010", "CB", "2C", "CB, AID A0000000421010, kernel 2C"),
            ("D27600002547410100", "girocard", "2C", "girocard, AID D2760000254741, kernel 2C"),
            ("F0000000015055424C", nil, "2C", "unknown scheme, AID F000000001, kernel 2C"),
        ] as [(String, String?, String, String)])
    func `scheme, application and kernel are named`(aid: String, scheme: String?, kernel: String, text: String) throws {
        let entry = DirectoryEntry(
            name: try Hex.bytes(aid), label: "CARD", priority: 1, kernel: kernel.isEmpty ? nil : try Hex.bytes(kernel))
        guard case .unsupported(let application) = try choice([entry]) else {
            Issue.record("supported: \(aid)")
            return
        }
        #expect(application.scheme == scheme)
        #expect(application.description == text)
    }

    @Test func `of several the card's first choice is named, and a supported one beside them is no refusal`() throws {
        let interac = DirectoryEntry(name: try Hex.bytes("A0000002771010"), priority: 2)
        let mir = DirectoryEntry(name: try Hex.bytes("A0000006581010"), priority: 1)
        guard case .unsupported(let first) = try choice([interac, mir]) else {
            Issue.record("supported")
            return
        }
        #expect(first.scheme == "Mir")
        let visa = DirectoryEntry(name: try Hex.bytes("A0000000031010"), priority: 3)
        #expect(try choice([interac, mir, visa]) == .only)
        #expect(try choice([]) == .nothingListed)
    }

    @Test func `an identifier that spells a card number is not told whole`() throws {
        let entry = DirectoryEntry(name: try Hex.bytes("54133300896010345413330089601034"), priority: 1)
        guard case .unsupported(let application) = try choice([entry]) else {
            Issue.record("supported")
            return
        }
        #expect(!application.description.contains("54133300896"))
    }

    @Test func `a tap of such a card ends with the application that nobody here can read`() throws {
        let bench = try TapBench()
        try bench.present("interac")
        let result = try #require(try bench.run())
        #expect(result.status == .endApplication)
        guard case .unsupported(let application) = result.choice else {
            Issue.record("supported")
            return
        }
        #expect(application.scheme == "Interac")
        #expect(result.read == nil)
    }
}
