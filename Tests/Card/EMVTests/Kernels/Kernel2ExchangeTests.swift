// SPDX-License-Identifier: Apache-2.0
import CardBytes
import TestSupport
import Testing

@testable import EMV

/// Data exchange with the terminal and standalone data storage (C-2 §6.3 and §6.5, by a second public source).
@Suite("Kernel 2: data exchange and data storage")
struct Kernel2ExchangeTests {
    private func run(
        _ card: PlainCard, _ changes: DataObject...,
        answer: @escaping @Sendable (DataExchange) -> TerminalAnswer = { _ in .timedOut }
    ) throws -> Run {
        var entryPoint = EntryPoint(
            configuration: Terminals.mastercard(changes), transaction: .test(500),
            unpredictableNumbers: .fixed([0x1234_5678]))
        entryPoint.dataExchange = answer
        return try Run.drive(&entryPoint) { card.answer($1) }
    }

    @Test func `a question is coded as data to send and data needed`() {
        let question = DataExchange(dataToSend: [DataObject(0x9F5D, [1, 2, 3])], dataNeeded: [0xDF8110, 0x9F53])
        #expect(Hex.string(question.encoded) == "FF8104069F5D03010203DF810605DF81109F53")
        #expect(Hex.string(DataExchange(dataToSend: [DataObject(0x9F70, [])]).encoded) == "FF8104039F7000")
    }

    @Test func `what the card's list asks for and the terminal left empty is asked of it`() throws {
        var card = Kernel2Tests.card()
        card.records[[0x01, 0x14]]?.removeAll { $0.tag == 0x8C }
        card.records[[0x01, 0x14]]?.append(DataObject(0x8C, [0x9F, 0x02, 0x06, 0x9F, 0x7C, 0x14]))
        let empty = DataObject(0x9F7C, [])
        let answered = try run(card, empty) { question in
            #expect(question.dataNeeded == [0x9F7C])
            return .objects([DataObject(0x9F7C, [UInt8](repeating: 7, count: 20))])
        }
        #expect(answered.commands.last == "80AE80001A000000000500" + String(repeating: "07", count: 20) + "00")
        #expect(answered.outcome.outcome.status == .onlineRequest)
        let silent = try run(card, empty)
        #expect(silent.outcome.outcome.status == .endApplication)
        #expect(silent.outcome.outcome.error.l3 == .timeOut)
        #expect(silent.outcome.outcome.uiOnOutcome == nil)
        // What a terminal may not set, or in another length, answers nothing.
        let wrong = try run(card, empty) { _ in .objects([DataObject(0x9F7C, [1]), DataObject(0x95, [0, 0, 0, 0, 0])]) }
        #expect(wrong.outcome.outcome.error.l3 == .timeOut)
    }

    @Test func `tags to read are read before the records and told, empty where the card has none`() throws {
        var card = Kernel2Tests.card()
        card.data[[0x9F, 0x70]] = [0x9F, 0x70, 0x02, 0xAB, 0xCD]
        let told = Told()
        let run = try run(card, DataObject(0xDF8112, [0x9F, 0x70, 0x9F, 0x71, 0x5F, 0x34])) { question in
            told.objects.append(contentsOf: question.dataToSend)
            return .objects([])
        }
        #expect(run.commands.firstIndex(of: "80CA9F7000") ?? 99 < run.commands.firstIndex(of: "00B2011400") ?? 0)
        #expect(
            told.objects == [DataObject(0x9F70, [0xAB, 0xCD]), DataObject(0x9F71, []), DataObject(0x5F34, [0x01])])
        #expect(run.outcome.outcome.status == .onlineRequest)
    }

    private final class Told: @unchecked Sendable {
        var objects: [DataObject] = []
    }

    @Test(arguments: [true, false])
    func `objects are written before and after the cryptogram, and the status says whether all were`(takes: Bool) throws
    {
        var card = Kernel2Tests.card()
        if takes { card.answers[0xDA] = [] } else { card.statuses[0xDA] = 0x6A81 }
        let run = try run(
            card, DataObject(0xFF8102, [0x9F, 0x75, 0x01, 0x11, 0x9F, 0x76, 0x01, 0x22]),
            DataObject(0xFF8103, [0x9F, 0x77, 0x01, 0x33]))
        let written = run.commands.filter { $0.hasPrefix("80DA") }
        #expect(
            written == (takes ? ["80DA9F750111", "80DA9F760122", "80DA9F770133"] : ["80DA9F750111", "80DA9F770133"]))
        let cryptogram = try #require(run.commands.firstIndex { $0.hasPrefix("80AE") })
        #expect(run.commands.firstIndex(of: "80DA9F750111") ?? 99 < cryptogram)
        #expect(run.commands.firstIndex(of: "80DA9F770133") ?? 0 > cryptogram)
        let data = run.outcome.outcome.discretionaryData
        #expect(data?.value(of: 0xDF810F) == [takes ? 0x80 : 0x00])
        #expect(data?.value(of: 0xDF810E) == [takes ? 0x80 : 0x00])
        #expect(run.outcome.outcome.status == .onlineRequest)
        #expect(run.messages == ["15/02", "1E/04", "1B/00"])
    }

    @Test func `a list of the terminal that cannot be read ends the application`() throws {
        #expect(try run(Kernel2Tests.card(), DataObject(0xFF8102, [0x9F])).outcome.outcome.error.l2 == .parsingError)
    }
}
