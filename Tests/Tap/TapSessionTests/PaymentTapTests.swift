// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import ReaderCore
import ReaderVirtual
import Testing

@testable import Envelope
@testable import TapSession

struct PaymentTapTests {
    @Test(
        arguments: [
            ("visa", "Visa", 3), ("mastercard", "Mastercard", 2),
        ] as [(String, String, UInt32)])
    func `a card becomes an envelope, clear tags and a mask`(name: String, scheme: String, kernel: UInt32) throws {
        // Not an argument: the runner prints those.
        let pan = name == "visa" ? "4761739001010010" : "5413330089601034"
        let bench = try TapBench()
        try bench.present(name)
        let result = try #require(try bench.run())
        #expect(result.status == .onlineRequest)
        #expect(result.kernel?.rawValue == kernel)
        #expect(result.entryMode == .contactlessEMV)
        let read = try #require(result.read)
        #expect(read.keyID == "test-bench")
        #expect(read.isTest)
        #expect(read.account.scheme == scheme)
        #expect(read.account.lastFour == String(pan.suffix(4)))
        #expect(read.clearTags.value(of: 0x9F26)?.count == 8)
        #expect(read.clearTags.value(of: 0x9F02) == [0, 0, 0, 0, 0x12, 0x50])
        let plaintext = try bench.plaintext()
        #expect(plaintext.contains(#""pan":"\#(pan)""#))
        #expect(plaintext.contains(#""outcome":"onlineRequest""#))
        for text in [read.clearTags.hex, "\(result)", String(reflecting: result), read.account.masked] {
            #expect(!text.contains(pan))
        }
    }

    @Test func `the result is delivered before anything lights or beeps and before the card is let go`() throws {
        let bench = try TapBench()
        try bench.present("visa")
        try bench.run()
        let notes = bench.reader.notes
        let delivered = try #require(notes.firstIndex(of: "deliver"))
        let detected = try #require(notes.firstIndex(of: "detected"))
        #expect(detected < delivered)
        for late in ["beep", "show read", "release"] {
            let first = try #require(notes.firstIndex(of: late), "\(late)")
            #expect(first > delivered, "\(late)")
        }
        #expect(notes.last == "release")
    }

    @Test func `phases follow each other`() throws {
        let bench = try TapBench()
        try bench.present("visa")
        let phases = try #require(try bench.run()).phases
        let detected = try #require(phases.cardDetected)
        #expect(phases.armed <= detected)
        #expect(detected <= phases.cardRead)
        #expect(phases.cardRead <= phases.sealed)
        #expect(phases.air.microseconds > 1_000, "no command is shorter than twelve bytes")
    }

    @Test func `the five minutes of a record begin when its card was read`() throws {
        let bench = try TapBench()
        bench.jumpMilliseconds = 400_000
        try bench.present("visa")
        try bench.run()
        let plaintext = try bench.plaintext()
        #expect(plaintext.contains(#""iat":1700000400,"exp":1700000700"#))
    }

    @Test func `without a card in time there is an error and a released reader`() throws {
        let bench = try TapBench(milliseconds: 20)
        #expect(throws: PaymentTapError.reader(.timedOut)) { try bench.run() }
        #expect(bench.result == nil)
        #expect(bench.reader.notes.suffix(2) == ["show idle", "release"])
    }

    @Test func `a wish to stop ends the wait`() throws {
        let bench = try TapBench()
        bench.cancellation.cancel()
        #expect(throws: PaymentTapError.reader(.cancelled)) { try bench.run() }
        #expect(bench.reader.notes.last == "release")
    }

    @Test func `a key that is not valid is refused before any card is asked for`() throws {
        let bench = try TapBench()
        try bench.present("visa")
        let jwk = bench.tap.recipient.jwk.replacing("{", with: #"{"exp":1699999999,"#)
        bench.tap.recipient = try RecipientKey(jwk: Array(jwk.utf8))
        #expect(throws: PaymentTapError.recipient(.expired(1_699_999_999))) { try bench.run() }
        #expect(bench.reader.notes == [])
    }

    @Test func `a key to which nothing can be sealed is refused before any card is asked for`() throws {
        let bench = try TapBench()
        try bench.present("visa")
        bench.tap.recipient = RecipientKey(
            algorithm: .ecdhES, keyID: "zero", material: .x25519([UInt8](repeating: 0, count: 32)))
        #expect(throws: PaymentTapError.sealing(.unusableKey)) { try bench.run() }
        #expect(bench.reader.notes == [])
    }

    @Test func `a reader that vanishes is an error, not an outcome`() throws {
        let bench = try TapBench()
        try bench.control.obey("detach")
        #expect(throws: PaymentTapError.reader(.detached)) { try bench.run() }
        #expect(bench.reader.notes.suffix(2) == ["show error", "release"])
    }

    @Test func `two cards at once are told, and one of them is read once the other has gone`() throws {
        let bench = try TapBench()
        try bench.present("visa")
        try bench.control.obey("collide")
        bench.onCollision = {
            _ = try? bench.control.obey("remove")
            try? bench.present("visa")
        }
        #expect(try bench.run()?.status == .onlineRequest)
        #expect(bench.reader.notes.contains("collision"))
    }

    @Test func `when both cards have gone, one card is asked for before another comes`() throws {
        let bench = try TapBench(milliseconds: 1_000)
        try bench.present("visa")
        try bench.control.obey("collide")
        bench.onCollision = { _ = try? bench.control.obey("remove") }
        #expect(throws: PaymentTapError.reader(.timedOut)) { try bench.run() }
        #expect(
            bench.shown.suffix(2) == [
                UIRequest(.presentOneCardOnly, .processingError), UIRequest(.presentOneCardOnly, .readyToRead),
            ])
    }

    @Test func `a card torn out before the end gives nothing away`() throws {
        let bench = try TapBench(milliseconds: 100)
        try bench.present("visa")
        try bench.control.obey("fault card-gone after 2")
        #expect(throws: PaymentTapError.reader(.timedOut)) { try bench.run() }
        #expect(bench.result == nil)
        #expect(!bench.reader.notes.contains("beep"))
    }

    @Test(arguments: CardCatalogue.names)
    func `every card of the catalogue comes to an end and shows no number of its own`(name: String) throws {
        let bench = try TapBench(milliseconds: 300)
        try bench.present(name)
        var error: PaymentTapError?
        do throws(PaymentTapError) {
            try bench.run()
        } catch let thrown {
            error = thrown
        }
        #expect(bench.reader.notes.last == "release")
        guard let result = bench.result else {
            #expect([.reader(.timedOut), .incompleteRecord].contains(error))
            return
        }
        let told = "\(result.read?.clearTags.hex ?? "") \(result.label ?? "") \(result.read?.account.masked ?? "")"
        for number in ["4761739001010010", "5413330089601034"] { #expect(!told.contains(number)) }
        if result.status == .onlineRequest { #expect(result.read != nil) }
    }

    @Test func `a card without a payment application ends without a read`() throws {
        let bench = try TapBench()
        try bench.present("smoke")
        let result = try #require(try bench.run())
        #expect(result.read == nil)
        #expect(result.phases.sealed == result.phases.cardRead)
        #expect([.endApplication, .tryAnotherInterface].contains(result.status))
    }

    @Test func `two taps of one card share no number and no envelope`() throws {
        let first = try TapBench()
        try first.present("visa")
        let second = try TapBench()
        try second.present("visa")
        let one = try #require(try first.run()?.read)
        let other = try #require(try second.run()?.read)
        #expect(one.clearTags.value(of: 0x9F37) != other.clearTags.value(of: 0x9F37))
        #expect(one.envelope != other.envelope)
    }

    @Test(
        arguments: [
            ("VISA DEBIT", "VISA DEBIT"), ("", nil), ("1234567890123452", nil), ("PAN 4761739", nil),
            ("Carte\u{1}", nil),
            ("BANK 24", "BANK 24"), ("0123456789ABCDEFG", nil),
        ] as [(String, String?)])
    func `a label is shown when it is plain text without a long number`(label: String, shown: String?) {
        let final = SampleOutcomes.final(nil, .endApplication, label: label)
        let phases = TapPhases(
            armed: TapInstant(nanoseconds: 0), cardRead: TapInstant(nanoseconds: 0), sealed: TapInstant(nanoseconds: 0))
        #expect(
            PaymentTapResult(final, read: nil, unsealed: nil, issuerUpdate: nil, choice: .only, phases: phases).label
                == shown)
    }
}
