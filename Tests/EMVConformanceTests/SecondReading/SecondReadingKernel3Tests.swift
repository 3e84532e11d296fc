// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import EMV

/// Kernel 3 against two other readings of C-3 (Tests/Vectors/emv/second-reading.jsonl).
@Suite("Second reading: kernel 3")
struct SecondReadingKernel3Tests {
    private static let aid: [UInt8] = [0xA0, 0x00, 0x00, 0x00, 0x03, 0x10, 0x10]

    private func run(_ line: [String: Any], _ changes: [String: Any] = [:], refundsOnAAC: Bool = true) throws
        -> KernelRun
    {
        let members = try line.object("terminal").merging(changes) { $1 }
        var kernel = Kernel3(options: Kernel3Options(refundsOnAAC: refundsOnAAC))
        let card = try ScriptCard(line)
        let terminal = try ScriptTerminal(members.filter { $0.key != "manual_cash_check" })
        var activation = try terminal.activation(.visa, aid: Self.aid, selection: card.selection)
        activation.combination.riskManagement.checksCash = members["manual_cash_check"] as? Bool ?? false
        return try KernelRun.drive(&kernel, activation) { _, command in
            try KernelRun.Answer(card.answer(command) ?? "6700")
        }
    }

    @Test func `scripts lead to the ends that they name`() throws {
        for line in try SecondReading.lines("k3_script") where SecondReading.isFollowed(line) {
            let run = try run(line)
            try run.check(line.text("expect"), line.id)
            #expect(run.commands.first?.ins == 0xA8, "\(line.id)")
            if run.outcome.status == .onlineRequest { #expect(run.outcome.dataRecord != nil, "\(line.id)") }
        }
    }

    @Test func `a refund that is answered by an AAC is declined where the terminal says so`() throws {
        let line = try #require(
            try SecondReading.lines("k3_script").first { $0["name"] as? String == "AAC refund" })
        #expect(try run(line).outcome.status == .onlineRequest)
        #expect(try run(line, refundsOnAAC: false).outcome.status == .declined)
    }

    @Test func `extended options are coded as another implementation codes them`() throws {
        for line in try SecondReading.lines("k3_egpo") {
            let command = ExtendedGetProcessingOptions.command(
                pdolData: try line.bytes("pdol_data"), template: try line.bytes("update_template"))
            #expect(Hex.string(try #require(command).bytes) == (try line.text("expect")), "\(line.id)")
        }
        #expect(ExtendedGetProcessingOptions.command(pdolData: [UInt8](repeating: 0, count: 250), template: []) == nil)
    }
}
