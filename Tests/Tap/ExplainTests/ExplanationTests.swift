// SPDX-License-Identifier: Apache-2.0
import EMV
import Explain
import ReaderCore
import TestSupport
import Testing

@Suite("Explanations")
struct ExplanationTests {
    private func section(_ title: String, of name: String) throws -> [String] {
        let explanation = Explanation(try Recordings.run(name).trace)
        return try #require(explanation.sections.first { $0.title == title }).sentences
    }

    @Test func `Visa online: the limits set the TTQ, the card asks for a PIN and an authorisation`() throws {
        let name = "visa/online.tap"
        #expect(
            try section("Before the card", of: name) == [
                "A0000000031010 with kernel 3 (Visa): the amount is under the transaction limit of 200.00 USD, over the "
                    + "floor limit of 80.00 USD, at or over the CVM limit of 80.00 USD.",
                "So the terminal's TTQ 24C04000 demands an online cryptogram and a cardholder verification.",
            ])
        #expect(
            try section("Kernel", of: name).first
                == "Kernel 3 (Visa), because the entry names none and the AID is Visa's.")
        #expect(
            try section("Reading", of: name).last
                == "It names no files (no AFL): everything is in this answer, no record is read.")
        #expect(
            try section("Cardholder verification", of: name).suffix(2) == [
                "The card asks for an online PIN and the reader has it (TTQ byte 1 bit 3): online PIN, which also means "
                    + "going online.", "Result: online PIN.",
            ])
        #expect(try section("Decision", of: name).first?.contains("an ARQC (authorisation requested) (CID 80)") == true)
        #expect(
            try section("Offline data authentication", of: name) == [
                "Not made: the issuer checks an online cryptogram."
            ])
    }

    @Test func `Visa offline: fDDA is verified over the signed record and the card's approval stands`() throws {
        let name = "visa/offline-fdda.tap"
        #expect(
            try section("Reading", of: name).suffix(2) == [
                "AFL: SFI 3, record 1, 1 signed; SFI 2, record 1, none signed; SFI 2, record 3, none signed.",
                "3 records were read.",
            ])
        #expect(
            try section("Offline data authentication", of: name)
                == ["fDDA version 01: verified with CA key 92 over 20 bytes of signed records."])
        #expect(
            try section("Decision", of: name) == [
                "The card answered with a TC (approved offline) (issuer application data); it is the card's transaction 21.",
                "The terminal had not demanded an online cryptogram, so it may stand.",
                "The application has not expired.", "Its signature is right, so it is approved offline.",
            ])
        #expect(
            try section("Outcome", of: name).first == "Approved offline; the acquirer gets the data for clearing.")
    }

    @Test func `Mastercard with CDA: the CVM rule, the codes that hit and the cryptogram asked for`() throws {
        let name = "mastercard/online-cda.tap"
        let verification = try section("Cardholder verification", of: name)
        #expect(
            verification.contains(
                "Rule 1 (enciphered PIN verified online, if terminal supports the CVM) applies."))
        #expect(verification.last == "Result: online PIN.")
        #expect(
            try section("Offline data authentication", of: name)
                == ["CDA: verified with CA key FA over 16 bytes of signed records."])
        let decision = try section("Decision", of: name)
        #expect(
            decision.contains(
                "The terminal (9F35 22) is merchant, attended, offline with online capability; online codes (TAC, IAC) "
                    + "have bits in common with the TVR: online PIN entered."))
        #expect(
            decision.contains(
                "So the terminal asks for an ARQC (authorisation requested) with a CDA signature (P1 90)."))
        #expect(
            decision.last
                == "The card answered with an ARQC (authorisation requested), as asked; it is the card's transaction 82."
        )
    }

    @Test func `an application that the terminal does not know is skipped with the reason`() throws {
        #expect(
            try section("Card", of: "mastercard/simulated-co-badged.tap").contains(
                "A00000005945430100 \"GIROCARD\", priority 1: skipped, the terminal has no AID that it begins with; it is girocard's and its kernel is not public."
            ))
    }

    @Test func `a blocked application is passed over for the next candidate`() throws {
        #expect(
            try section("Application", of: "selection/blocked-first.tap") == [
                "Candidates by the card's priority, ties in the order of the directory: A0000000041010, A0000000043060.",
                "A0000000041010: refused with 6283 selected file deactivated (application blocked), so the next candidate.",
                "A0000000043060: selected, next in order.",
            ])
    }

    @Test func `an amount at the transaction limit leaves the combination out before the card is asked`() throws {
        var transcript = try Recordings.transcript("visa/online.tap")
        transcript.header = transcript.header.map { $0.key == "amount" ? .init(key: "amount", value: "20000") : $0 }
        let run = try ReplayRun(
            transcript, configuration: Terminals.visa(), authentication: Terminals.authentication)
        let lines = Explanation(run.trace).lines
        #expect(
            lines.contains(
                "  A0000000031010 with kernel 3 (Visa) is left out: the amount reaches the transaction limit of 200.00 USD."
            ))
        #expect(lines.contains("  No combination is left, so the transaction goes to another interface."))
        #expect(lines.contains("  No card was asked for."))
        #expect(lines.contains("  It ended at the limits before the card."))
    }

    @Test func `a missing CA key is the reason that is given`() throws {
        let transcript = try Recordings.transcript("visa/offline-fdda.tap")
        let run = try ReplayRun(transcript, configuration: Terminals.visa(), authentication: .unavailable)
        #expect(
            Explanation(run.trace).lines.contains(
                "  fDDA version 01: failed with CA key 92: the terminal does not have this key."))
        #expect(Explanation(run.trace).lines.contains("  It ended at offline data authentication."))
        #expect(run.trace.outcome.outcome.status == .declined)
    }

    @Test func `a success says nothing of a step`() throws {
        for name in ["visa/online.tap", "visa/offline-fdda.tap"] {
            #expect(
                try section("Outcome", of: name).allSatisfy {
                    !$0.hasPrefix("It ended at") && !$0.contains("failed at")
                })
        }
    }

    @Test func `a mag-stripe Mastercard is told from an EMV one`() throws {
        let name = "mastercard/mag-stripe.tap"
        #expect(try section("Offline data authentication", of: name) == ["Not made: mag-stripe mode has none."])
        #expect(
            try section("Decision", of: name).suffix(2) == [
                "Mag-stripe mode, because the card has no EMV mode (AIP byte 2 bit 8 is 0).",
                "The card gave a dynamic check value, which stands in the tracks for the issuer; it is the card's "
                    + "transaction 11.",
            ])
        #expect(
            try section("Cardholder verification", of: name).contains(
                "In mag-stripe mode the reader's configuration says what is verified (DF812C)."))
    }
}
