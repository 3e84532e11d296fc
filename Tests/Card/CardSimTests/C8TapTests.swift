// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import EMVCrypto
import Testing

@testable import CardSim

/// Kernel 8 and its test card: whole transactions with real cryptography on both sides.
@Suite struct C8TapTests {
    private func options(_ change: (inout CommonKernelOptions) -> Void) -> CommonKernelApplication {
        var options = CommonKernelOptions()
        change(&options)
        return .personalised(options: options)
    }

    @Test(arguments: ["c8", "c8-phone"])
    func `a card of the catalogue goes online with a cryptogram that its issuer knows`(_ name: String) throws {
        var tap = C8Tap(try #require(CardCatalogue.card(named: name)))
        let run = try tap.run()
        #expect(run.outcome.outcome.status == .onlineRequest)
        #expect(run.error == ErrorIndication())
        #expect(run.verdict == .verified)
        #expect(run.outcome.application?.kernel == .c8)
        #expect(run.record.value(of: 0x5A) == (try hex("9999990000000014")))
        #expect(run.record.value(of: 0x9F27) == [0x80])
        #expect(run.outcome.outcome.cvm == (name == "c8" ? .noCVM : .confirmationCodeVerified))
        // Kernel 8 format, relay resistance not performed, floor limit exceeded; local authentication done and good.
        #expect(run.record.value(of: 0x95) == [0x00, 0x00, 0x00, 0x80, 0x81])
    }

    @Test func `nothing of the account goes over the air in the clear`() throws {
        var tap = C8Tap()
        let run = try tap.run()
        let pan = try hex("9999990000000014")
        #expect(run.record.value(of: 0x5A) == pan)
        for answer in run.answers {
            let starts = answer.indices.filter { answer[$0...].starts(with: pan) }
            #expect(starts.isEmpty)
        }
        #expect(run.answers.contains { $0.first == 0xDA })
    }

    @Test func `the issuer gets the IAD-MAC inside its own data`() throws {
        var tap = C8Tap()
        let run = try tap.run()
        let mac = try #require(run.record.value(of: 0x9F8109))
        #expect(mac.count == 8)
        #expect(run.record.value(of: 0x9F10)?.suffix(8) == mac[...])
    }

    @Test func `the same random numbers make the same transaction, others another one`() throws {
        var taps = [C8Tap(), C8Tap(), C8Tap()]
        taps[2].number = 0x0102_0305
        let runs = try taps.indices.map { try taps[$0].run() }
        #expect(runs[0] == runs[1])
        #expect(runs[0].commands != runs[2].commands)
        #expect(runs[0].record.value(of: 0x9F26) != runs[2].record.value(of: 0x9F26))
    }

    @Test func `the card blinds its key anew in every transaction`() throws {
        var tap = C8Tap()
        let first = try tap.run()
        let second = try tap.run()
        #expect(second.verdict == .verified)
        let keys = try [first, second].map { run in
            let answer = try #require(run.answers.first { $0.first == 0x77 })
            return try TLV.first(0x9F8103, answer.dropLast(2)).map { Array(answer[$0.value]) }
        }
        #expect(keys[0]?.count == 64 && keys[0] != keys[1])
    }

    @Test func `a terminal that may decide offline gets an approval`() throws {
        var tap = C8Tap()
        tap.terminalType = 0x22
        tap.kernelData = [DataObject(0x9F820D, [0, 0, 0, 1, 0, 0])]
        let run = try tap.run()
        #expect(run.outcome.outcome.status == .approved)
        #expect(run.record.value(of: 0x9F27) == [0x40])
        #expect(run.verdict == .verified)
    }

    @Test(
        arguments: [
            (1_250, 0x24, Outcome.CVM.noCVM, "1F0002"), (6_000, 0x24, .obtainSignature, "1E0000"),
            (6_000, 0x40, .onlinePIN, "020000"),
        ] as [(UInt64, UInt8, Outcome.CVM, String)])
    func `card and kernel agree on cardholder verification`(
        amount: UInt64, methods: UInt8, cvm: Outcome.CVM, results: String
    ) throws {
        var tap = C8Tap()
        tap.amount = amount
        tap.kernelData = [DataObject(0x9F8207, [methods])]
        let run = try tap.run()
        #expect(run.outcome.outcome.cvm == cvm)
        #expect(run.record.value(of: 0x9F34) == (try hex(results)))
        #expect(run.outcome.outcome.receipt == (amount > 5_000))
        #expect(run.verdict == .verified)
    }

    @Test func `where no method is left verification has failed`() throws {
        var tap = C8Tap()
        tap.amount = 6_000
        tap.kernelData = [DataObject(0x9F8207, [0x00])]
        let run = try tap.run()
        #expect(run.outcome.outcome.cvm == nil)
        #expect(run.record.value(of: 0x9F34) == [0x3F, 0x00, 0x01])
        #expect(run.record.value(of: 0x95)?[2] == 0x80)
        #expect(run.verdict == .verified)
    }

    @Test func `relay resistance is off until the configuration asks for it, and enters the MACs then`() throws {
        var off = C8Tap()
        #expect(try off.run().commands.contains { $0.starts(with: [0x80, 0xEA]) } == false)
        var on = C8Tap()
        on.kernelData = [DataObject(0x9F8209, [0x10, 0x00])]
        let run = try on.run()
        #expect(run.commands.contains { $0.starts(with: [0x80, 0xEA, 0x00, 0x00, 0x04, 0x01, 0x02, 0x03, 0x04]) })
        #expect(run.record.value(of: 0x95)?.last == 0x82)
        #expect(run.outcome.outcome.status == .onlineRequest)
    }

    @Test func `data envelopes are read and written under the session keys`() throws {
        let written = [DataObject(0x9F8112, [1, 2, 3]), DataObject(0x9F8113, [4])]
        var tap = C8Tap()
        tap.kernelData = [
            DataObject(0x9F8203, try hex("9F8111 9F8112")), DataObject(0xBF8104, written.encoded),
        ]
        let first = try tap.run()
        #expect(first.told.value(of: 0x9F8111) == Array("TEST ENVELOPE".utf8))
        // 9F8112 is not there yet.
        #expect(first.told.value(of: 0x9F821C) == [0x00])
        #expect(first.told.value(of: 0x9F821B) == [0x80])
        #expect(first.verdict == .verified)
        tap.kernelData = [DataObject(0x9F8203, try hex("9F8112 9F8113"))]
        let second = try tap.run()
        #expect(second.told.value(of: 0x9F8112) == [1, 2, 3])
        #expect(second.told.value(of: 0x9F8113) == [4])
        #expect(second.told.value(of: 0x9F821C) == [0x80])
        #expect(second.told.value(of: 0x9F821B) == [0x00])
    }

    @Test func `a card that leaves during WRITE DATA has still made its cryptogram`() throws {
        var tap = C8Tap()
        tap.kernelData = [DataObject(0xBF8104, [DataObject(0x9F8112, [1])].encoded)]
        let run = try tap.run { _, answer in answer.data.count == 8 ? nil : answer }
        #expect(run.outcome.outcome.status == .onlineRequest)
        #expect(run.told.value(of: 0x9F821B) == [0x00])
        #expect(run.verdict == .verified)
    }

    @Test func `without local authentication the TVR says so`() throws {
        var tap = C8Tap(options { $0.authenticatesLocally = false })
        let run = try tap.run()
        #expect(run.record.value(of: 0x95)?[0] == 0x80)
        #expect(run.outcome.outcome.status == .onlineRequest)
        #expect(run.verdict == .verified)
    }

    @Test func `records may come in the clear`() throws {
        var tap = C8Tap(options { $0.encryptsRecords = false })
        let run = try tap.run()
        #expect(run.answers.contains { $0.first == 0xDA } == false)
        #expect(run.record.value(of: 0x95)?[0] == 0x00)
        #expect(run.verdict == .verified)
    }

    @Test func `the card's TVR enters under the mask only`() throws {
        var tap = C8Tap(options { $0.cardTVR = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF] })
        tap.terminalType = 0x22
        let run = try tap.run()
        #expect(run.record.value(of: 0x95) == [0x7B, 0xFF, 0x7B, 0xFF, 0xB1])
    }

    @Test func `a card that declines is declined, a refund ends without a word`() throws {
        var declining = C8Tap(.personalised(disposition: .alwaysDeclines))
        let declined = try declining.run()
        #expect(declined.outcome.outcome.status == .declined)
        #expect(declined.record.value(of: 0x9F27) == [0x00])
        declining.type = .refund
        let refund = try declining.run()
        #expect(refund.outcome.outcome.status == .endApplication)
        #expect(refund.outcome.outcome.uiOnOutcome?.message == .clearDisplay)
        #expect(refund.record.value(of: 0x9F27) == [0x00])
    }
}
