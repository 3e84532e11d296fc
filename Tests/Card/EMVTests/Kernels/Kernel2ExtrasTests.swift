// SPDX-License-Identifier: Apache-2.0
import CardBytes
import TestSupport
import Testing

@testable import EMV

@Suite("Kernel 2: torn transactions, relay resistance, mag-stripe")
struct Kernel2ExtrasTests {
    private func entryPoint(_ configuration: TerminalConfiguration, _ amount: UInt64 = 500) -> EntryPoint {
        EntryPoint(
            configuration: configuration, transaction: .test(amount), unpredictableNumbers: .fixed([0x1234_5678]))
    }

    private var tearable: PlainCard {
        var card = Kernel2Tests.card()
        card.records[[0x01, 0x14]]?.append(DataObject(0x9F51, [0x9F, 0x37, 0x04]))
        return card
    }

    @Test func `a torn cryptogram is recovered at the next tap with the old number`() throws {
        let card = tearable
        var entryPoint = entryPoint(Terminals.mastercard([DataObject(0xDF811D, [0x01])]))
        let torn = try Run.drive(&entryPoint) { number, command in command.ins == 0xAE ? nil : card.answer(command) }
        #expect(torn.outcome.outcome.status == .endApplication)
        #expect(entryPoint.tornTransactions.count == 1)
        let recovered = try Run.drive(&entryPoint) { card.answer($1) }
        #expect(recovered.commands.last == "80D00000041234567800")
        #expect(recovered.outcome.outcome.status == .onlineRequest)
        #expect(recovered.outcome.outcome.dataRecord?.value(of: 0x9F37) == [0x12, 0x34, 0x56, 0x78])
        #expect(entryPoint.tornTransactions.isEmpty)
    }

    @Test func `a card that cannot recover computes a new cryptogram`() throws {
        var card = tearable
        var entryPoint = entryPoint(Terminals.mastercard([DataObject(0xDF811D, [0x01])]))
        _ = try Run.drive(&entryPoint) { number, command in command.ins == 0xAE ? nil : card.answer(command) }
        card.statuses[0xD0] = 0x6985
        let run = try Run.drive(&entryPoint) { card.answer($1) }
        #expect(run.commands.suffix(2).map { $0.prefix(4) } == ["80D0", "80AE"])
        #expect(run.outcome.outcome.status == .onlineRequest)
        #expect(run.outcome.outcome.dataRecord?.value(of: 0x9F37) == [0x12, 0x34, 0x56, 0x79])
    }

    @Test func `nothing is kept where the configuration or the card does not recover`() throws {
        for (card, changes) in [
            (tearable, [] as [DataObject]), (Kernel2Tests.card(), [DataObject(0xDF811D, [0x01])]),
        ] {
            var entryPoint = entryPoint(Terminals.mastercard(changes))
            _ = try Run.drive(&entryPoint) { number, command in command.ins == 0xAE ? nil : card.answer(command) }
            #expect(entryPoint.tornTransactions.isEmpty)
        }
    }

    @Test func `a record older than its lifetime goes into the discretionary data`() throws {
        let old = TornTransaction(record: [DataObject(0x5A, [0x54])], tornAt: TapInstant(nanoseconds: 0))
        var store = DataStore(kernel: .mastercard)
        store.set(0xDF811D, [0x02])
        store.set(0xDF811C, [0x00, 0x05])
        let fresh = TornLog([old], store, now: TapInstant(nanoseconds: 5_000_000_000))
        #expect(fresh.removed == [])
        let aged = TornLog([old], store, now: TapInstant(nanoseconds: 5_000_000_001))
        #expect(aged.removed == [old])
        #expect(aged.changed == [])
    }

    private static func torn(_ last: UInt8, second: UInt64) -> TornTransaction {
        TornTransaction(
            record: [DataObject(0x5A, [0x54, last])], tornAt: TapInstant(nanoseconds: second * 1_000_000_000))
    }

    /// With a lifetime of nothing the first two are too old, and the third is not.
    private static let log = [torn(1, second: 0), torn(2, second: 0), torn(3, second: 60)]

    private func entryPoint(capacity: UInt8, lifetime: UInt8) -> EntryPoint {
        let terminal = Terminals.mastercard([DataObject(0xDF811D, [capacity]), DataObject(0xDF811C, [0, lifetime])])
        return EntryPoint(
            configuration: terminal, transaction: .test(500), unpredictableNumbers: .fixed([0x1234_5678]),
            tornTransactions: Self.log)
    }

    private func told(_ run: Run) -> [[UInt8]] {
        (run.outcome.outcome.discretionaryData ?? []).filter { $0.tag == 0xFF8101 }.map(\.value)
    }

    /// C-2 S1.5 gives each an outcome of its own at a request without a tap; here they go with the next one that is told.
    @Test func `every record that gets too old is told, the newest first`() throws {
        var entryPoint = entryPoint(capacity: 3, lifetime: 0)
        let card = tearable
        let run = try Run.drive(&entryPoint) { card.answer($1) }
        #expect(told(run) == [Self.log[1], Self.log[0]].map { $0.record.encoded })
        #expect(entryPoint.tornTransactions == [Self.log[2]])
    }

    @Test func `a record stays in the log until an outcome tells it`() throws {
        var entryPoint = entryPoint(capacity: 3, lifetime: 0)
        var card = tearable
        // Select Next is shown to nobody, and Try Again says its error alone (C-2 S3.5).
        card.statuses[0xA8] = 0x6985
        #expect(told(try Run.drive(&entryPoint) { card.answer($1) }).isEmpty)
        #expect(entryPoint.tornTransactions == Self.log)
        card.statuses = [:]
        var lost = 0
        let run = try Run.drive(&entryPoint) { _, command in
            guard command.ins == 0xA8, lost == 0 else { return card.answer(command) }
            lost += 1
            return nil
        }
        #expect(lost == 1)
        #expect(told(run) == [Self.log[1], Self.log[0]].map { $0.record.encoded })
        #expect(entryPoint.tornTransactions == [Self.log[2]])
    }

    @Test func `a log that has room for fewer tells every record that makes room`() throws {
        var entryPoint = entryPoint(capacity: 1, lifetime: 200)
        let card = tearable
        let run = try Run.drive(&entryPoint) { $1.ins == 0xAE ? nil : card.answer($1) }
        #expect(told(run) == Self.log.reversed().map { $0.record.encoded })
        #expect(entryPoint.tornTransactions.count == 1)
        #expect(entryPoint.tornTransactions.first?.record.value(of: 0x9F37) == [0x12, 0x34, 0x56, 0x78])
    }

    private var relaying: PlainCard {
        var card = Kernel2Tests.card()
        card.setOptions(DataObject(0x82, [0x10, 0x81]))
        card.answers[0xEA] = [0x80, 0x0A, 1, 2, 3, 4, 0x00, 0x00, 0x00, 0x10, 0x00, 0x18]
        return card
    }

    private func relay(_ milliseconds: UInt64) throws -> Run {
        let card = relaying
        var entryPoint = entryPoint(Terminals.mastercard([DataObject(0xDF811B, [0x30])]))
        return try Run.drive(&entryPoint, milliseconds: milliseconds) { card.answer($1) }
    }

    private func results(_ run: Run) -> String? {
        run.outcome.outcome.dataRecord?.value(of: 0x95).map { Hex.string($0) }
    }

    @Test func `a near card passes relay resistance at once and leaves its evidence in track 2`() throws {
        let run = try relay(5)
        #expect(run.commands.filter { $0.hasPrefix("80EA") } == ["80EA0000041234567900"])
        #expect(results(run) == "8000000002")
        let track = try #require(run.outcome.outcome.dataRecord?.value(of: 0x57))
        // Key index 0, no repetition, 0x0304, 0x02, and (50 − 18 − 24) × 100 µs as 0 ms.
        #expect(Hex.string(track) == "5413330089601034D29122010000772002000F")
        #expect(Track2Equivalent(track)?.discretionary.count == 13)
    }

    /// C-2 S910.38: of a TC and an ARQC only.
    @Test func `an AAC leaves track 2 as the card sent it`() throws {
        var card = relaying
        card.cryptogram = Kernel2Tests.card(cid: 0x00).cryptogram
        var entryPoint = entryPoint(Terminals.mastercard([DataObject(0xDF811B, [0x30])]))
        let run = try Run.drive(&entryPoint, milliseconds: 5) { card.answer($1) }
        let track = try #require(run.outcome.outcome.dataRecord?.value(of: 0x57))
        #expect(Hex.string(track) == "5413330089601034D2912201900F")
    }

    @Test func `a far card is asked three times with new entropy and marked`() throws {
        let run = try relay(500)
        let exchanges = run.commands.filter { $0.hasPrefix("80EA") }
        #expect(exchanges == ["80EA0000041234567900", "80EA0000041234567A00", "80EA0000041234567B00"])
        #expect(results(run) == "800000000E")
    }

    @Test func `an impossibly fast card ends the application`() throws {
        var card = relaying
        card.answers[0xEA] = [0x80, 0x0A, 1, 2, 3, 4, 0x01, 0x00, 0x02, 0x00, 0x00, 0x18]
        let run = try card.run(Terminals.mastercard([DataObject(0xDF811B, [0x30])]), .test(500))
        #expect(run.outcome.outcome.error.l2 == .cardDataError)
    }

    @Test func `relay resistance stays off where only the card wants it`() throws {
        let run = try relaying.run(Terminals.mastercard(), .test(500))
        #expect(!run.commands.contains { $0.hasPrefix("80EA") })
        #expect(results(run) == "8000000001")
    }

    @Test func `estimates of zero divide nothing`() throws {
        var store = DataStore(kernel: .mastercard)
        store.setDefaults(Kernel2Defaults.objects)
        store.set(0xDF8135, [0x00, 0x00])
        var relay = try #require(RelayResistance(store))
        _ = relay.command(entropy: [1, 2, 3, 4])
        let verdict = relay.answered([1, 2, 3, 4, 0, 0, 0, 0x10, 0, 0], nanoseconds: 2_000_000)
        #expect(verdict == .done([.relayResistancePerformed, .relayResistanceThresholdExceeded]))
        #expect(relay.answered([1, 2, 3], nanoseconds: 0) == nil)
    }

    @Test func `check value, number and counter go to their digits from the right`() {
        let track = MagStripeTrack(cvc3Positions: 0x01C0, numberPositions: 0x003E, counterDigits: 3)
        let digits: [UInt8] = [4, 7, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        #expect(track.numberDigits == 2)
        func filled(_ last: UInt8) -> String {
            track.filled(digits, cvc3: 12_345, counter: 255, number: 42, lastDigit: last).map { String($0) }.joined()
        }
        #expect(filled(2) == "4711345255422")
        #expect(filled(7) == "4711345255427")
    }

    @Test func `masks at both ends and no digits at all are filled without a trap`() {
        let ends = MagStripeTrack(cvc3Positions: 1 << 12 | 1 << 63, numberPositions: 1 | 1 << 40, counterDigits: 0)
        #expect(ends.numberDigits == 2)
        let digits = [UInt8](repeating: 0, count: 13)
        #expect(ends.filled(digits, cvc3: 65_535, counter: 65_535, number: 99, lastDigit: 3).first == 5)
        #expect(ends.filled([], cvc3: 1, counter: 1, number: 1, lastDigit: 1).isEmpty)
        let eight = MagStripeTrack(cvc3Positions: 0, numberPositions: 0x1FE, counterDigits: 0)
        #expect(eight.numberDigits == 8)
        #expect(
            eight.filled(digits, cvc3: 0, counter: 0, number: 12_345_678, lastDigit: 8)
                == [0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8])
    }

    @Test func `more than eight or fewer than no digits of the number are a card data error`() {
        #expect(MagStripeTrack(cvc3Positions: 0, numberPositions: 0x3FE, counterDigits: 0).numberDigits == nil)
        #expect(MagStripeTrack(cvc3Positions: 0, numberPositions: 0, counterDigits: 1).numberDigits == nil)
    }

    static var magStripeCard: PlainCard {
        var card = PlainCard(
            aid: AID.mastercard,
            options: [DataObject(0x82, [0x00, 0x00]), DataObject(0x94, [0x08, 0x01, 0x01, 0x00])],
            cryptogram: [
                DataObject(0x9F36, [0x00, 0xFF]), DataObject(0x9F61, [0x30, 0x39]), DataObject(0x9F60, [0, 1]),
            ])
        card.records[[0x01, 0x0C]] = [
            DataObject(
                0x9F6B,
                [0x54, 0x13, 0x33, 0x00, 0x89, 0x60, 0x10, 0x34, 0xD2, 0x91, 0x22, 0x01, 0x47, 0x11, 0, 0, 0, 0, 0x0F]),
            DataObject(0x9F65, [0x01, 0xC0]), DataObject(0x9F66, [0x00, 0x3E]), DataObject(0x9F67, [0x03]),
            DataObject(0x56, Array("B5413330089601034^TEST/CARD^29122010000000000".utf8)),
            DataObject(0x9F62, [0, 0, 0, 0, 0, 0x0E]), DataObject(0x9F63, [0, 0, 0, 0, 0, 0x30]),
            DataObject(0x9F64, [0x00]),
        ]
        return card
    }

    @Test func `both tracks are filled and go into the data record`() throws {
        let run = try Kernel2ExtrasTests.magStripeCard.run(
            Terminals.mastercard([DataObject(0xDF811E, [0x20]), DataObject(0xDF812C, [0x10])]), .test(500))
        // 12345678 hexadecimal is 305419896: its two low digits are 96.
        #expect(run.commands.last == "802A8E80040000009600")
        let outcome = run.outcome.outcome
        #expect(outcome.status == .onlineRequest)
        #expect(outcome.cvm == .obtainSignature)
        #expect(Hex.string(outcome.dataRecord?.value(of: 0x57) ?? []) == "5413330089601034D29122014711345255962F")
        let track1 = String(decoding: outcome.dataRecord?.value(of: 0x56) ?? [], as: UTF8.self)
        #expect(track1 == "B5413330089601034^TEST/CARD^29122010000960012")
        #expect(Hex.string(outcome.discretionaryData?.value(of: 0xDF812B) ?? []) == "4711000000000F")
    }

    @Test func `above the CVM limit the other capability counts and a receipt is due`() throws {
        let outcome = try Kernel2ExtrasTests.magStripeCard.run(
            Terminals.mastercard([DataObject(0xDF811E, [0x20]), DataObject(0xDF812C, [0x10])]), .test(1_001)
        ).outcome.outcome
        #expect(outcome.cvm == .onlinePIN)
        #expect(outcome.receipt)
    }

    /// A mag-stripe device that verifies its holder.
    private func magStripePhone(_ interaction: [UInt8]?) -> PlainCard {
        var card = Kernel2ExtrasTests.magStripeCard
        card.setOptions(DataObject(0x82, [0x02, 0x00]))
        if let interaction { card.cryptogram.append(DataObject(0xDF4B, interaction)) }
        return card
    }

    /// C-2 S14.20 to S14.34.
    @Test(arguments: [(500, Outcome.CVM.noCVM), (1_001, .confirmationCodeVerified)] as [(UInt64, Outcome.CVM)])
    func `a phone that verified its holder moves the last digit, below the limit too`(
        amount: UInt64, cvm: Outcome.CVM
    ) throws {
        let outcome = try magStripePhone([0x00, 0x10, 0x00]).run(Terminals.mastercard(), .test(amount)).outcome.outcome
        #expect(outcome.status == .onlineRequest)
        #expect(outcome.cvm == cvm)
        #expect(try #require(outcome.dataRecord?.value(of: 0x57)).last == 0x7F)
    }

    /// C-2 S14.21: it used to go online with the reader's own verification.
    @Test func `a phone that did not verify its holder goes online below the limit only`() throws {
        let terminal = Terminals.mastercard([DataObject(0xDF811E, [0x10]), DataObject(0xDF812C, [0x10])])
        let phone = magStripePhone([0x00, 0x00, 0x00])
        let below = try phone.run(terminal, .test(500)).outcome.outcome
        #expect(below.status == .onlineRequest)
        #expect(below.cvm == .noCVM)
        let above = try phone.run(terminal, .test(1_001)).outcome.outcome
        #expect(above.status == .endApplication)
        #expect(above.error.l2 == .cardDataError)
        #expect(above.penaltyMilliseconds == 300)
    }

    @Test func `a phone that does not say whether it verified its holder lacks card data`() throws {
        let outcome = try magStripePhone(nil).run(Terminals.mastercard(), .test(500)).outcome.outcome
        #expect(outcome.error.l2 == .cardDataMissing)
    }

    @Test func `without a check value the phone is presented again or the card declined`() throws {
        for (interaction, status) in [
            ([0x00, 0x01, 0x00], Outcome.Status.endApplication), ([0x00, 0x00, 0x00], .declined),
        ] as [([UInt8], Outcome.Status)] {
            var card = Kernel2ExtrasTests.magStripeCard
            card.cryptogram = [DataObject(0x9F36, [0x00, 0xFF]), DataObject(0xDF4B, interaction)]
            let outcome = try card.run(Terminals.mastercard(), .test(500)).outcome.outcome
            #expect(outcome.status == status)
            // S13, S14: both leave a record and cost the wait of a wrong answer.
            #expect(outcome.dataRecord?.value(of: 0x57) != nil)
            #expect(outcome.penaltyMilliseconds == 300)
        }
    }

    @Test func `tracks whose number of digits differs are a card data error`() throws {
        var card = Kernel2ExtrasTests.magStripeCard
        card.records[[0x01, 0x0C]]?.removeAll { $0.tag == 0x9F64 }
        card.records[[0x01, 0x0C]]?.append(DataObject(0x9F64, [0x01]))
        #expect(try card.run(Terminals.mastercard(), .test(500)).outcome.outcome.error.l2 == .cardDataError)
    }
}
