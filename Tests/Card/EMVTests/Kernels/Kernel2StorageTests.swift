// SPDX-License-Identifier: Apache-2.0
import CardBytes
import TestSupport
import Testing

@testable import EMV

/// Integrated data storage by the steps of two public implementations that quote C-2. The digest is the known answer of
/// OWHF2, which `EMVCrypto` proves by its own vectors.
@Suite("Kernel 2: integrated data storage")
struct Kernel2StorageTests {
    private static let summary: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
    private static let written: [UInt8] = [8, 7, 6, 5, 4, 3, 2, 1]
    private static let operatorID: [UInt8] = [0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88]
    private static let input: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
    private static let digest: [UInt8] = [0xF9, 0x90, 0x23, 0xAE, 0x18, 0x03, 0x9B, 0xF9]
    private static let name: [UInt8] = [0x54, 0x13, 0x33, 0x00, 0x89, 0x60, 0x10, 0x34, 0x01]

    /// The kernel asks for an ARQC: the TVR says that no relay resistance was performed.
    private static let online = DataObject(0xDF8122, [0x00, 0x00, 0x00, 0x00, 0x01])

    /// A signing card with a slot of version 1; its DSDOL asks for the digest and for an operator's data of unknown length.
    private var card: PlainCard {
        var card = Kernel2Tests.signingCard()
        card.selection += [DataObject(0x9F5D, [0x01, 0x00, 0x00]), DataObject(0x9F5E, Self.name)]
        card.options += [
            DataObject(0x9F5F, [0x80]), DataObject(0x9F7D, Self.summary), DataObject(0x9F7F, [9, 9, 9, 9]),
            DataObject(0x9F6F, [0x00]),
        ]
        card.records[[0x02, 0x14]]?.append(DataObject(0x9F5B, [0xDF, 0x61, 0x08, 0xDF, 0x63, 0x10]))
        return card
    }

    /// The operator writes with an ARQC.
    private let storing = [
        DataObject(0xDF8108, [0x80]), DataObject(0xDF810A, [0x00]), DataObject(0xDF62, [0x00]),
        DataObject(0xDF8109, Self.input), DataObject(0xDF63, [0xAA, 0xBB]),
    ]

    private func authentication(_ summaries: [UInt8], owner: [UInt8] = Self.operatorID) -> OfflineAuthentication {
        var authentication = OfflineAuthentication(
            hasKey: { _, _ in true },
            verify: { _ in
                .verified(
                    AuthenticatedData(
                        iccDynamicNumber: [9, 9], cryptogram: [1, 2, 3, 4, 5, 6, 7, 8], extra: summaries))
            })
        authentication.oneWayHash.des = { identifier, name, input in
            identifier == Self.name && name == owner && input == Self.input ? Self.digest : nil
        }
        return authentication
    }

    private func run(
        _ card: PlainCard, _ objects: [DataObject], summaries: [UInt8] = summary + written,
        owner: [UInt8] = operatorID, told: @escaping @Sendable (DataExchange) -> Void = { _ in }, lost: Bool = false
    ) throws -> Outcome {
        try drive(card, objects, summaries: summaries, owner: owner, told: told, lost: lost).outcome.outcome
    }

    private func drive(
        _ card: PlainCard, _ objects: [DataObject], summaries: [UInt8] = summary + written,
        owner: [UInt8] = operatorID, told: @escaping @Sendable (DataExchange) -> Void = { _ in }, lost: Bool = false
    ) throws -> Run {
        let configured = [Self.online, DataObject(0xDF810D, [0x01]), DataObject(0x9F5C, Self.operatorID)] + objects
        var entryPoint = EntryPoint(
            configuration: Terminals.mastercard(configured), transaction: .test(500),
            unpredictableNumbers: .fixed([0x1234_5678]),
            authentication: authentication(summaries, owner: owner))
        entryPoint.dataExchange = { question in
            told(question)
            return .objects([])
        }
        return try Run.drive(&entryPoint) { lost && $1.ins == 0xAE ? nil : card.answer($1) }
    }

    @Test
    func `the terminal is told the slot, the digest and the data go behind the CDOL1's, and the writing is reported`()
        throws
    {
        let run = try drive(card, storing) { question in
            #expect(
                question.dataToSend.map(\.tag) == [
                    0x9F5E, 0x9F5D, 0x9F5F, 0x9F7D, 0x9F7F, 0x9F6F, 0x9F54, 0x9F37,
                ])
            #expect(question.dataToSend.value(of: 0x9F7D) == Self.summary)
            #expect(question.dataToSend.value(of: 0x9F54) == [])
        }
        // The last element keeps its two bytes where sixteen are asked for.
        let command = try #require(run.commands.last)
        #expect(command.hasPrefix("80AE900019000000000500"))
        #expect(command.hasSuffix("12345678" + Hex.string(Self.digest) + "AABB00"))
        let outcome = run.outcome.outcome
        #expect(outcome.status == .onlineRequest)
        #expect(outcome.discretionaryData?.value(of: 0xDF810B) == [0xC0])
        #expect(outcome.discretionaryData?.value(of: 0xDF8102) == Self.written)
    }

    @Test func `without an operator, or a version that the card has, nothing of it happens`() throws {
        let plain = try card.run(
            Terminals.mastercard(storing + [Self.online]), .test(500), authentication: .accepting)
        #expect(plain.commands.last == "80AE90000F00000000050000000000011234567800")
        var other = card
        other.selection.removeAll { $0.tag == 0x9F5D }
        other.selection.append(DataObject(0x9F5D, [0x03, 0x00, 0x00]))
        #expect(try drive(other, storing).commands.last == "80AE90000F00000000050000000000011234567800")
    }

    @Test func `a slot that the options do not give is not read`() throws {
        for tag: CardBytes.Tag in [0x9F5F, 0x9F7D, 0x9F7F] {
            var card = card
            card.options.removeAll { $0.tag == tag }
            #expect(try drive(card, storing).commands.last == "80AE90000F00000000050000000000011234567800")
        }
        // With the operator's data a summary is enough.
        var full = card
        full.options.removeAll { $0.tag == 0x9F5F || $0.tag == 0x9F7F }
        full.options.append(DataObject(0x9F54, [0x01]))
        #expect(try drive(full, storing).commands.last?.hasSuffix("AABB00") == true)
    }

    @Test func `a slot of another account is a card data error`() throws {
        var card = card
        card.selection.removeAll { $0.tag == 0x9F5E }
        card.selection.append(DataObject(0x9F5E, [0x54, 0x13, 0x33, 0x00, 0x89, 0x60, 0x10, 0x34, 0x02]))
        #expect(try run(card, storing).error.l2 == .cardDataError)
    }

    @Test func `a type of cryptogram that is not to be had ends the application or leaves the slot unwritten`() throws {
        func objects(_ type: UInt8, _ instructions: UInt8) -> [DataObject] {
            [DataObject(0xDF8108, [type]), DataObject(0xDF810A, [instructions])] + storing.dropFirst(2)
        }
        // Ours is an ARQC: the operator's AAC is taken over, its TC is not to be had.
        #expect(try drive(card, objects(0x00, 0x00)).commands.last?.hasPrefix("80AE10") == true)
        #expect(try drive(card, objects(0x40, 0x40)).commands.last?.hasSuffix("AABB00") == true)
        #expect(try run(card, objects(0x40, 0x04)).error.l2 == .idsNoMatchingAC)
        #expect(
            try drive(card, objects(0x40, 0x00)).commands.last == "80AE90000F00000000050000000000011234567800")
        // Where ours is a TC, the operator's ARQC is less.
        let less = objects(0x80, 0x00) + [DataObject(0xDF8122, [0x00, 0x00, 0x00, 0x00, 0x00])]
        #expect(try drive(card, less).commands.last?.hasPrefix("80AE90") == true)
        #expect(try drive(card, less).commands.last?.hasSuffix("AABB00") == true)
        let missing = try run(card, [DataObject(0xDF62, [0x00])])
        #expect(missing.error.l2 == .idsDataError)
        #expect(missing.uiOnOutcome?.message == .insertSwipeOrTryAnotherCard)
    }

    @Test func `the summaries in the signature tell a slot that was not read or not written`() throws {
        #expect(try run(card, storing, summaries: []).error.l2 == .cardDataMissing)
        #expect(try run(card, storing, summaries: Self.summary).error.l2 == .cardDataMissing)
        let unread = try run(card, storing, summaries: Self.written + Self.written)
        #expect(unread.error.l2 == .idsReadError)
        #expect(unread.dataRecord != nil)
        let unwritten = try run(card, storing, summaries: Self.summary + Self.summary)
        #expect(unwritten.status == .onlineRequest)
        #expect(unwritten.discretionaryData?.value(of: 0xDF810B) == [0x80])
        let stopping = [storing[0], DataObject(0xDF810A, [0x02])] + storing.dropFirst(2)
        let stopped = try run(card, stopping, summaries: Self.summary + Self.summary)
        #expect(stopped.error.l2 == .idsWriteError)
        #expect(stopped.dataRecord == nil)
    }

    @Test func `a card lost while it may have written leaves the record, and no second try`() throws {
        let outcome = try run(card, storing, lost: true)
        #expect(outcome.status == .endApplication)
        #expect(outcome.start == nil)
        #expect(outcome.error.l1 == .timeOut)
        #expect(outcome.dataRecord?.value(of: 0x5A) != nil)
    }

    @Test func `a permanent slot with volatile data belongs to no operator`() throws {
        var card = card
        card.options.removeAll { $0.tag == 0x9F6F }
        card.options.append(DataObject(0x9F6F, [0x80]))
        let objects = storing.filter { $0.tag != 0xDF62 } + [DataObject(0xDF62, [0x40])]
        let nobody = [UInt8](repeating: 0, count: 8)
        #expect(try run(card, objects, owner: nobody).status == .onlineRequest)
        #expect(try run(card, objects).error.l2 == .idsDataError)
    }

    // MARK: Torn while writing (S11)

    /// A card that recovers, by a list that asks for the old number.
    private var tearable: PlainCard {
        var card = card
        card.records[[0x02, 0x14]]?.append(DataObject(0x9F51, [0x9F, 0x37, 0x04]))
        return card
    }

    /// A first tap that is torn at GENERATE AC, and what a second one comes to, whose card cannot recover unless
    /// `recovered` says otherwise.
    private func tornTwice(
        _ objects: [DataObject], capacity: UInt8 = 2, recovered: ResponseAPDU = ResponseAPDU(status: 0x6985),
        second: (CommandAPDU) -> ResponseAPDU?
    ) throws -> (log: [TornTransaction], first: TornTransaction, outcome: Outcome) {
        let card = tearable
        let configured =
            [
                Self.online, DataObject(0xDF810D, [0x01]), DataObject(0x9F5C, Self.operatorID),
                DataObject(0xDF811D, [capacity]),
            ] + objects
        var entryPoint = EntryPoint(
            configuration: Terminals.mastercard(configured), transaction: .test(500),
            unpredictableNumbers: .fixed([0x1234_5678]), authentication: authentication(Self.summary + Self.written))
        _ = try Run.drive(&entryPoint) { $1.ins == 0xAE ? nil : card.answer($1) }
        try #require(entryPoint.tornTransactions.count == 1)
        let first = try #require(entryPoint.tornTransactions.first)
        let run = try Run.drive(&entryPoint) { _, command in
            switch command.ins {
            case 0xD0: recovered
            case 0xAE: second(command)
            case _: card.answer(command)
            }
        }
        #expect(run.commands.contains { $0.hasPrefix("80D0") })
        return (entryPoint.tornTransactions, first, run.outcome.outcome)
    }

    @Test func `a torn record of a card that may have written stays where the card is lost again`() throws {
        let writing = try tornTwice(storing) { _ in nil }
        #expect(writing.first.record.value(of: 0xDF8128) == [0xC0])
        #expect(writing.log.count == 2)
        #expect(writing.log.first == writing.first)
        // Without room for both the older one leaves, and is told.
        let full = try tornTwice(storing, capacity: 1) { _ in nil }
        #expect(full.log.count == 1)
        #expect(full.log.first != full.first)
        #expect(full.outcome.discretionaryData?.value(of: 0xFF8101) == full.first.record.encoded)
        // A slot that was only read is worth nothing the second time.
        let reading = try tornTwice([]) { _ in nil }
        #expect(reading.first.record.value(of: 0xDF8128) == [0x80])
        #expect(reading.log.count == 1)
        #expect(reading.log.first != reading.first)
        #expect(reading.outcome.discretionaryData?.value(of: 0xFF8101) == nil)
    }

    @Test func `a wrong answer after it tells the torn record of a card that may have written, and of no other`() throws
    {
        let writing = try tornTwice(storing) { _ in ResponseAPDU(status: 0x6985) }
        #expect(writing.outcome.discretionaryData?.value(of: 0xFF8101) == writing.first.record.encoded)
        #expect(writing.log.isEmpty)
        let reading = try tornTwice([]) { _ in ResponseAPDU(status: 0x6985) }
        #expect(reading.outcome.discretionaryData?.value(of: 0xFF8101) == nil)
        #expect(reading.log.isEmpty)
        // The right answer ends it.
        let card = tearable
        let answered = try tornTwice(storing) { card.answer($0) }
        #expect(answered.outcome.status == .onlineRequest)
        #expect(answered.outcome.discretionaryData?.value(of: 0xFF8101) == nil)
        #expect(answered.log.isEmpty)
    }

    /// C-2 S10.10 to S10.12, S910.50: the torn transaction's data are in force before its answer is judged.
    @Test func `an answer of format 1 to RECOVER AC is a wrong one, and what the card may have written is told`() throws
    {
        let short = try ResponseAPDU(Hex.bytes("800B80000101020304050607089000"))
        let writing = try tornTwice(storing, recovered: short) { _ in nil }
        #expect(writing.outcome.status == .endApplication)
        #expect(writing.outcome.error.l2 == .parsingError)
        #expect(writing.outcome.dataRecord?.value(of: 0x9F37) == [0x12, 0x34, 0x56, 0x78])
        #expect(writing.outcome.dataRecord?.value(of: 0x9F37) == writing.first.record.value(of: 0x9F37))
        #expect(writing.log.isEmpty)
        // A slot that was only read leaves nothing, as after any wrong answer.
        let reading = try tornTwice([], recovered: short) { _ in nil }
        #expect(reading.outcome.error.l2 == .parsingError)
        #expect(reading.outcome.dataRecord == nil)
        #expect(reading.log.isEmpty)
    }
}
