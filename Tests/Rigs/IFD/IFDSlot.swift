// SPDX-License-Identifier: Apache-2.0
import CardSim

/// One slot of a reader that is played: the card there, and what is wrong with the next calls.
struct IFDSlot {
    /// What a call comes to.
    struct Answer: Equatable {
        var code: IFDCode
        var bytes: [UInt8] = []
        var milliseconds: UInt64 = 0
        /// No answer before the card has gone.
        var isSilence = false
    }

    private struct Rule {
        let moment: IFDMoment
        let action: IFDAction
        /// `nil` without end.
        var times: Int?
    }

    private var card: (any VirtualCard)?
    private var rules: [Rule] = []
    /// Commands that the card has had.
    private var commands = 0
    /// Counts what came and went: a call that waits for the card's end is known by it.
    private(set) var changes = 0

    var hasCard: Bool { card != nil }
    /// How many faults wait for a moment of theirs, those without end left out.
    var faultsToCome: Int { rules.count { $0.times != nil } }

    mutating func insert(_ new: any VirtualCard) {
        card = new
        commands = 0
        changes += 1
    }

    mutating func remove() {
        guard card != nil else { return }
        card = nil
        changes += 1
    }

    mutating func add(_ action: IFDAction, at moment: IFDMoment, times: Int?) {
        rules.append(Rule(moment: moment, action: action, times: times))
    }

    mutating func forgetFaults() { rules = [] }

    /// Power-up or reset.
    mutating func powerUp() -> Answer {
        guard hasCard else { return Answer(code: .iccNotPresent) }
        return reply(at: .powerUp) { slot in
            slot.card?.powerOn()
            return Answer(code: .success, bytes: slot.card.map { SyntheticATR.bytes(for: $0.activation) } ?? [])
        }
    }

    mutating func transmit(_ command: [UInt8]) -> Answer {
        guard hasCard else { return Answer(code: .iccNotPresent) }
        if ReaderPart.isIndicator(command) { return Answer(code: .success, bytes: [0x90, 0x00]) }
        if command.starts(with: [0xFF, 0xCA]), command.count == 5 {
            return reply(at: .getData(command[2])) { $0.ask(command) }
        }
        commands += 1
        return reply(at: .command(commands)) { $0.ask(command) }
    }

    mutating func escape(takesEscapes: Bool) -> Answer {
        reply(at: .escape) { _ in Answer(code: takesEscapes ? .success : .controlNotSupported) }
    }

    private mutating func ask(_ command: [UInt8]) -> Answer {
        guard var card else { return Answer(code: .iccNotPresent) }
        defer { if hasCard { self.card = card } }
        switch ReaderPart.answer(command, by: &card) {
        case .answer(let bytes): return Answer(code: .success, bytes: bytes)
        case .late(let bytes, let milliseconds):
            return Answer(code: .success, bytes: bytes, milliseconds: milliseconds)
        case .gone:
            remove()
            return Answer(code: .iccNotPresent)
        }
    }

    private mutating func reply(at moment: IFDMoment, _ right: (inout IFDSlot) -> Answer) -> Answer {
        switch take(moment) {
        case .code(let code): return Answer(code: code)
        case .answer(let bytes): return Answer(code: .success, bytes: bytes)
        case .late(let milliseconds):
            var answer = right(&self)
            answer.milliseconds += milliseconds
            return answer
        case .cardLeaves:
            remove()
            return Answer(code: .iccNotPresent)
        case .silence: return Answer(code: .iccNotPresent, isSilence: true)
        case nil: return right(&self)
        }
    }

    private mutating func take(_ moment: IFDMoment) -> IFDAction? {
        guard let index = rules.firstIndex(where: { $0.moment == moment }) else { return nil }
        let action = rules[index].action
        if let times = rules[index].times { rules[index].times = times - 1 }
        if let times = rules[index].times, times <= 0 { rules.remove(at: index) }
        return action
    }
}
