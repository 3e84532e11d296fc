// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Synchronization
import TestSupport
import Testing

@testable import EMV

/// Keeps what a kernel asked to have verified.
final class SeenRequests: Sendable {
    let all = Mutex<[AuthenticationRequest]>([])
}

@Suite("Recorded transactions")
struct TranscriptTests {
    private func authentication(_ seen: SeenRequests, _ data: AuthenticatedData) -> OfflineAuthentication {
        OfflineAuthentication(
            hasKey: { _, _ in true },
            verify: { request in
                seen.all.withLock { $0.append(request) }
                return .verified(data)
            })
    }

    private func expectation(_ id: String) throws -> [String: Any] {
        try #require(try Vectors.lines("kernel-outcomes.jsonl").first { $0["id"] as? String == id }).object("expected")
    }

    @Test func `a Visa card online sends the recorded commands and asks for an online PIN`() throws {
        let exchanges = try Vectors.exchanges("cppemv_mock-visa-online")
        let card = ScriptedCard(exchanges)
        var entryPoint = EntryPoint(
            configuration: Terminals.visa(), transaction: .test(9_000),
            unpredictableNumbers: Terminals.unpredictableNumbers)
        let run = try Run.drive(&entryPoint) { card.answer($1) }
        #expect(run.commands == exchanges.map { $0.command })
        #expect(run.outcome.outcome.status == .onlineRequest)
        #expect(run.outcome.outcome.cvm == .onlinePIN)
        #expect(run.outcome.application?.kernel == .visa)
        #expect(run.messages == ["15/02", "17/04", "1B/00"])
        let record = try #require(run.outcome.outcome.dataRecord)
        #expect(Hex.string(try #require(record.value(of: 0x9F26))) == "48325309BE82CBA2")
        #expect(record.value(of: 0x95) == [0, 0, 0, 0, 0])
    }

    @Test func `a Visa card offline is approved after fDDA with the recorded data record`() throws {
        let exchanges = try Vectors.exchanges("cppemv_mock-visa-offline")
        let expected = try expectation("cppemv_visa-offline")
        let card = ScriptedCard(exchanges)
        let seen = SeenRequests()
        var entryPoint = EntryPoint(
            configuration: Terminals.visa(),
            transaction: .test(200, date: EMVDate(year: 2019, month: 8, day: 19)),
            unpredictableNumbers: Terminals.unpredictableNumbers,
            authentication: authentication(seen, AuthenticatedData(iccDynamicNumber: [0x00, 0x15])))
        let run = try Run.drive(&entryPoint) { card.answer($1) }
        #expect(run.commands == expected["apdus_sent"] as? [String])
        #expect(run.outcome.outcome.status == .approved)
        #expect(run.outcome.outcome.cvm == .noCVM)
        #expect(run.messages == ["15/02", "17/04", "03/00"])
        #expect(Hex.string(try #require(run.outcome.outcome.dataRecord?.encoded)) == (try expected.text("data_record")))
        let request = try #require(seen.all.withLock { $0.first })
        #expect(Hex.string(request.staticData) == "5A0847617390010100105F24031912315F340101")
        #expect(request.rid == [0xA0, 0x00, 0x00, 0x00, 0x03])
        #expect(request.caIndex == 0x92)
        guard case .dda(let dynamicData) = request.method else { throw EndlessRun() }
        #expect(Hex.string(dynamicData) == "ABABABAB00000000020008400169C16C99")
    }

    @Test func `a Mastercard online with CDA gives the recorded commands and data record`() throws {
        let expected = try expectation("cppemv_msc-online")
        let card = ScriptedCard(try Vectors.exchanges("cppemv_mock-msc-online"))
        let seen = SeenRequests()
        let signed = AuthenticatedData(
            iccDynamicNumber: try Hex.bytes("B39C5522F9D77FAD"), cryptogram: try Hex.bytes("675B759BB5350F8C"))
        var entryPoint = EntryPoint(
            configuration: Terminals.mastercard(), transaction: .test(9_000, country: 56),
            unpredictableNumbers: Terminals.unpredictableNumbers, authentication: authentication(seen, signed),
            kernels: .maskingCVMCodes)
        let run = try Run.drive(&entryPoint) { card.answer($1) }
        #expect(run.commands == expected["apdus_sent"] as? [String])
        #expect(run.outcome.outcome.status == .onlineRequest)
        #expect(run.outcome.outcome.cvm == .onlinePIN)
        #expect(run.messages == ["15/02", "1E/04", "1B/00"])
        let outcome = run.outcome.outcome
        let sent = (outcome.dataRecord ?? []) + (outcome.discretionaryData ?? [])
        #expect(Hex.string(sent.encoded) == (try expected.text("data_record")))
        let request = try #require(seen.all.withLock { $0.first })
        #expect(Hex.string(request.staticData) == "5A0854133300896010345F3401015980")
        guard case .cda(let number, let data, let information) = request.method else { throw EndlessRun() }
        #expect(number == [0xAB, 0xAB, 0xAB, 0xAB])
        #expect(information == 0x80)
        #expect(
            Hex.string(data)
                == "00000000900000000000000000560000040001084020031600ABABABAB22000000000000000000000203009F2701809F360200529F10120110A040002C0000000000000000000007FF"
        )
    }

    @Test func `a card whose signature is wrong ends the Mastercard application with CAM failed`() throws {
        let card = ScriptedCard(try Vectors.exchanges("cppemv_mock-msc-online"))
        let authentication = OfflineAuthentication(
            hasKey: { _, _ in true }, verify: { _ in .failed(.transactionDataHash) })
        var entryPoint = EntryPoint(
            configuration: Terminals.mastercard(), transaction: .test(9_000, country: 56),
            unpredictableNumbers: Terminals.unpredictableNumbers, authentication: authentication,
            kernels: .maskingCVMCodes)
        let run = try Run.drive(&entryPoint) { card.answer($1) }
        #expect(run.outcome.outcome.status == .endApplication)
        #expect(run.outcome.outcome.error.l2 == .camFailed)
        #expect(run.outcome.outcome.uiOnOutcome?.message == .insertSwipeOrTryAnotherCard)
    }

    @Test func `a mag-stripe Mastercard fills its track with the recorded check value`() throws {
        var card = ScriptedCard(try Vectors.exchanges("bertlv_contactless-msd"))
        // The recording starts after the directory.
        card.answers["00A404000E325041592E5359532E444446303100"] =
            "6F23840E325041592E5359532E4444463031A511BF0C0E610C4F07A00000000410108701019000"
        var entryPoint = EntryPoint(
            configuration: Terminals.mastercard([DataObject(0xDF811E, [0x10]), DataObject(0xDF812C, [0x00])]),
            transaction: .test(900), unpredictableNumbers: Terminals.unpredictableNumbers)
        let run = try Run.drive(&entryPoint) { card.answer($1) }
        #expect(run.commands.last == "802A8E80040000000000")
        #expect(run.outcome.outcome.status == .onlineRequest)
        #expect(run.outcome.outcome.cvm == .noCVM)
        let record = try #require(run.outcome.outcome.dataRecord)
        #expect(Hex.string(try #require(record.value(of: 0x57))) == "5413330056003511D1412101067750500F")
    }
}

extension KernelSet {
    /// For recordings of a terminal that leaves bit 7 out of the CVM Results.
    static let maskingCVMCodes: KernelSet = {
        var kernels = KernelSet.standard
        kernels.register(.mastercard) { Kernel2(options: Kernel2Options(masksCVMCode: true)) }
        return kernels
    }()
}
