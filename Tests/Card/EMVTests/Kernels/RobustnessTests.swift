// SPDX-License-Identifier: Apache-2.0
import CardBytes
import TestSupport
import Testing

@testable import EMV

/// Every recorded transaction, disturbed at every step: whatever happens, there is an outcome.
@Suite("Disturbed transactions")
struct RobustnessTests {
    private func configuration(_ id: String) -> (TerminalConfiguration, Transaction) {
        switch id {
        case "cppemv_mock-visa-online": (Terminals.visa(), .test(9_000))
        case "cppemv_mock-visa-offline": (Terminals.visa(), .test(200, date: EMVDate(year: 2019, month: 8, day: 19)))
        case "bertlv_contactless-msd": (Terminals.mastercard([DataObject(0xDF812C, [0x00])]), .test(900))
        case _: (Terminals.mastercard(), .test(9_000, country: 56))
        }
    }

    private func card(_ id: String) throws -> ScriptedCard {
        var card = ScriptedCard(try Vectors.exchanges(id))
        let directory = "00A404000E325041592E5359532E444446303100"
        if card.answers[directory] == nil {
            card.answers[directory] = Hex.string(DirectoryTests.ppse([[DataObject(0x4F, AID.mastercard)]])) + "9000"
        }
        return card
    }

    /// Runs a transaction whose step `step` is answered by `disturb`.
    private func run(
        _ id: String, step: Int, _ card: ScriptedCard, _ disturb: (ResponseAPDU) throws -> ResponseAPDU?
    ) throws -> Run {
        let (configuration, transaction) = configuration(id)
        var entryPoint = EntryPoint(
            configuration: configuration, transaction: transaction,
            unpredictableNumbers: Terminals.unpredictableNumbers, authentication: .accepting)
        let run = try Run.drive(&entryPoint) { number, command in
            let answer = card.answer(command)
            return number == step ? try disturb(answer) : answer
        }
        let outcome = run.outcome.outcome
        if outcome.status != .approved, outcome.status != .onlineRequest {
            #expect(outcome.endedAt != nil, "step \(step): \(outcome.status) names no step")
        }
        return run
    }

    private func steps(_ id: String, _ card: ScriptedCard) throws -> Int {
        try run(id, step: -1, card) { $0 }.sent.count
    }

    /// Data bytes of each answer of the undisturbed transaction.
    private func sizes(_ id: String, _ card: ScriptedCard) throws -> [Int] {
        var sizes: [Int] = []
        let (configuration, transaction) = configuration(id)
        var entryPoint = EntryPoint(
            configuration: configuration, transaction: transaction,
            unpredictableNumbers: Terminals.unpredictableNumbers, authentication: .accepting)
        _ = try Run.drive(&entryPoint) { _, command in
            let answer = card.answer(command)
            sizes.append(answer.data.count)
            return answer
        }
        return sizes
    }

    private static let ids = [
        "cppemv_mock-visa-online", "cppemv_mock-visa-offline", "cppemv_mock-msc-online", "bertlv_contactless-msd",
    ]

    @Test(arguments: ids)
    func `a card lost after any step leads to an outcome`(id: String) throws {
        let card = try card(id)
        let count = try steps(id, card)
        #expect(count >= 3)
        for step in 0..<count {
            let run = try run(id, step: step, card) { _ in nil }
            #expect(run.sent.count > step, "step \(step)")
            #expect(run.outcome.outcome.status != .selectNext && run.outcome.outcome.status != .tryAgain)
        }
    }

    @Test(arguments: ids)
    func `an answer cut off anywhere leads to an outcome`(id: String) throws {
        let card = try card(id)
        for (step, size) in try sizes(id, card).enumerated() {
            for length in 0..<size {
                let run = try run(id, step: step, card) { answer in
                    ResponseAPDU(data: Array(answer.data.prefix(length)), status: answer.status)
                }
                #expect(run.outcome.outcome.status != .tryAgain)
            }
        }
    }

    @Test(arguments: ids)
    func `an answer that is too long leads to an outcome`(id: String) throws {
        let card = try card(id)
        for step in 0..<(try steps(id, card)) {
            for tail: [UInt8] in [
                [0x01], [0x00], [0xFF, 0xFF], [0x5F], [0x9F, 0x26], [UInt8](repeating: 0x70, count: 300),
            ] {
                let run = try run(id, step: step, card) { answer in
                    ResponseAPDU(data: answer.data + tail, status: answer.status)
                }
                #expect(run.outcome.outcome.status != .tryAgain)
            }
        }
    }

    @Test(arguments: ids)
    func `a flipped byte anywhere leads to an outcome`(id: String) throws {
        let card = try card(id)
        var generator = SeededGenerator(seed: 7)
        for step in 0..<(try steps(id, card)) {
            for _ in 0..<200 {
                let run = try run(id, step: step, card) { answer in
                    guard !answer.data.isEmpty else { return answer }
                    var data = answer.data
                    data[Int.random(in: 0..<data.count, using: &generator)] = .random(in: 0...255, using: &generator)
                    return ResponseAPDU(data: data, status: answer.status)
                }
                #expect(run.outcome.outcome.status != .tryAgain)
            }
        }
    }

    @Test(arguments: ids)
    func `a random answer of any status leads to an outcome`(id: String) throws {
        let card = try card(id)
        var generator = SeededGenerator(seed: 11)
        let heads: [[UInt8]] = [[], [0x6F], [0x70], [0x77], [0x80], [0x70, 0x81, 0xFF], [0x77, 0x20]]
        for step in 0..<(try steps(id, card)) {
            for _ in 0..<200 {
                let status: UInt16 =
                    Bool.random(using: &generator) ? 0x9000 : .random(in: 0x6000...0x6FFF, using: &generator)
                let count = Int.random(in: 0...256, using: &generator)
                let body =
                    (heads.randomElement(using: &generator) ?? [])
                    + (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
                let run = try run(id, step: step, card) { _ in ResponseAPDU(data: body, status: StatusWord(status)) }
                #expect(run.outcome.outcome.status != .tryAgain)
            }
        }
    }

    @Test func `a card that answers everything at random never traps a kernel`() throws {
        var generator = SeededGenerator(seed: 13)
        for round in 0..<2_000 {
            let base = round.isMultiple(of: 2) ? Kernel2Tests.signingCard() : Kernel2Tests.card()
            var entryPoint = EntryPoint(
                configuration: Terminals.mastercard([DataObject(0xDF811B, [0x30]), DataObject(0xDF811D, [2])]),
                transaction: .test(500), unpredictableNumbers: .fixed([1]), authentication: .accepting)
            let run = try Run.drive(&entryPoint) { number, command in
                var data = base.answer(command).data
                guard number > 1, !data.isEmpty, Int.random(in: 0..<4, using: &generator) == 0 else {
                    return base.answer(command)
                }
                let place = Int.random(in: 0..<data.count, using: &generator)
                data.insert(.random(in: 0...255, using: &generator), at: place)
                return ResponseAPDU(data: data, status: .success)
            }
            #expect(run.outcome.outcome.status != .selectNext)
        }
    }
}
