// SPDX-License-Identifier: Apache-2.0
import TestSupport

@testable import MDB

/// A vending machine's controller, from what the specification says of its side: it repeats what is not answered, then resets; it
/// shares no line with the peripheral but the words. Faults meet every word in either direction.
struct VendingMachine {
    enum Step {
        case reset, awaitReset, setUp(Int), idle, approval(polls: Int), goods(polls: Int, isGood: Bool), complete,
            ending(polls: Int)
    }

    enum Fault: CaseIterable {
        /// The command loses a word, or has one changed.
        case commandLost, commandGarbled
        /// The peripheral's answer is lost, or changed: the machine hears nothing, or says NAK.
        case answerLost, answerGarbled
        /// It has heard the block and wants it again at once.
        case again
        /// It has heard the block, and its acknowledgement is lost.
        case acknowledgementLost
        /// The machine is switched off and on.
        case reset
        /// The peripheral's program ends, and begins again from what it has written down.
        case restart
    }

    private(set) var step: Step = .reset
    private(set) var successes = 0
    private(set) var failures = 0
    /// Approvals of which nobody can know whether they count: the machine has heard it, its word of that was lost, and it was reset.
    private(set) var doubts = 0
    private(set) var faults = 0
    private(set) var finished = 0
    private(set) var met: Set<String> = []
    private var tries = 0
    private var random: SeededGenerator
    /// It has heard an approval and has not said yet what became of the goods.
    private var isApproved = false
    /// The peripheral has heard that it has.
    private var isKnown = false

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// - Parameter rate: faults in a thousand exchanges.
    /// - Returns: whether the peripheral's program ends now.
    mutating func turn(_ world: inout VendingWorld, rate: Int) -> Bool {
        let fault =
            Int.random(in: 0..<1_000, using: &random) < rate ? Fault.allCases.randomElement(using: &random) : nil
        if let fault {
            faults += 1
            met.insert("\(fault)")
        }
        if fault == .restart { return true }
        // One that has a failure to tell is not switched off before it is heard: by 7.4.7 it would count as sold.
        if fault == .reset, !hasFailure { reset() }
        let command = command()
        if let answer = exchange(command, fault, &world) {
            tries = 0
            heard(answer, &world)
        } else {
            tries += 1
            if tries > 8, !hasFailure { reset() }
        }
        return false
    }

    /// It has heard an approval, and nothing is told of the goods yet.
    var isAtGoods: Bool { isApproved }

    private var hasFailure: Bool {
        if case .goods(_, isGood: false) = step { true } else { false }
    }

    private mutating func reset() {
        if isApproved {
            // A reset after an approval counts as a success (7.4.7).
            if isKnown { successes += 1 } else { doubts += 1 }
        }
        (isApproved, isKnown, tries, step) = (false, false, 0, .reset)
    }

    private func command() -> [UInt8] {
        switch step {
        case .reset: [0x10]
        case .awaitReset, .approval, .ending: [0x12]
        case .setUp(0): [0x11, 0x00, 0x03, 0x10, 0x02, 0x01]
        case .setUp(1): [0x11, 0x01, 0x01, 0xF4, 0x00, 0x32]
        case .setUp(2): [0x17, 0x04, 0x00, 0x00, 0x00, 0x20]
        case .setUp: [0x14, 0x01]
        case .idle: [0x13, 0x00, 0x00, 0x96, 0x00, 0x07]
        case .goods(let polls, _) where polls > 0: [0x12]
        case .goods(_, let isGood): isGood ? [0x13, 0x02, 0x00, 0x07] : [0x13, 0x03]
        case .complete: [0x13, 0x04]
        }
    }

    /// - Returns: data, nothing for an acknowledgement; `nil` where nothing was heard that could be used.
    private mutating func exchange(_ command: [UInt8], _ fault: Fault?, _ world: inout VendingWorld) -> [UInt8]? {
        var words = command.map(UInt16.init) + [UInt16(command.reduce(0) { $0 &+ $1 })]
        words[0] |= 0x100
        if fault == .commandLost { words.remove(at: Int.random(in: 0..<words.count, using: &random)) }
        if fault == .commandGarbled {
            words[Int.random(in: 0..<words.count, using: &random)] ^= 1 << Int.random(in: 0..<8, using: &random)
        }
        var answer = world.say(words)
        if fault == .answerLost || answer.isEmpty {
            world.fallSilent()
            return nil
        }
        if fault == .answerGarbled { answer[0] ^= 0x04 }
        // An acknowledgement is one word, its mode bit set; noise is none.
        if answer.count == 1 { return answer == [0x100] ? [] : nil }
        let bytes = answer.map { UInt8(truncatingIfNeeded: $0) }
        let isWhole = answer.last.map { $0 & 0x100 != 0 } ?? false
        guard isWhole, bytes.dropLast().reduce(0, { $0 &+ $1 }) == bytes.last else {
            _ = world.say([0xFF])
            return nil
        }
        if fault == .again {
            guard world.say([0xAA]) == answer else { return nil }
        }
        let isHeard = fault != .acknowledgementLost
        if isHeard { _ = world.say([0x00]) } else { world.fallSilent() }
        if bytes.first == 0x05 { isKnown = isKnown || isHeard }
        return Array(bytes.dropLast())
    }

    private mutating func heard(_ answer: [UInt8], _ world: inout VendingWorld) {
        // It says that it was reset, or that something does not belong there: all begins anew.
        if answer.first == 0x00 {
            if case .awaitReset = step { step = .setUp(0) } else { reset() }
            return
        }
        if answer.first == 0x0B { return reset() }
        switch step {
        case .reset: step = .awaitReset
        case .awaitReset: break
        case .setUp(let number): if number > 0 || !answer.isEmpty { step = number == 3 ? .idle : .setUp(number + 1) }
        case .idle: step = .approval(polls: 0)
        case .approval(let polls):
            if answer.first == 0x05 {
                isApproved = true
                step = .goods(
                    polls: Int.random(in: 0...3, using: &random), isGood: Int.random(in: 0..<5, using: &random) > 0)
            } else if answer.first == 0x06 {
                step = .complete
            } else {
                step = polls > 400 ? .reset : .approval(polls: polls + 1)
            }
        case .goods(let polls, let isGood) where polls > 0:
            // The approval again, since its acknowledgement was lost: nothing new.
            step = .goods(polls: polls - 1, isGood: isGood)
        case .goods(_, let isGood):
            if isGood { successes += 1 } else { failures += 1 }
            (isApproved, isKnown) = (false, false)
            step = .complete
        case .complete: step = .ending(polls: 0)
        case .ending(let polls):
            if answer.first == 0x07 {
                finished += 1
                step = .idle
            } else if polls > 20 {
                reset()
            } else {
                step = .ending(polls: polls + 1)
            }
        }
    }
}

/// The peripheral, its host and the daemon behind it.
struct VendingWorld {
    enum Money { case asked, approved, captured, back, no }

    private(set) var peripheral: MDBPeripheral
    private(set) var money: [UInt64: Money] = [:]
    private(set) var starts = 0
    private(set) var wrong: [String] = []
    private var written: MDBSale?
    private var highest: UInt64 = 0
    private var pending: [(turn: Int, input: MDBInput)] = []
    private var timers: [MDBTimer: Int] = [:]
    private var turn = 0
    private var random: SeededGenerator
    private let settings: MDBPeripheral.Settings

    init(_ settings: MDBPeripheral.Settings, seed: UInt64) {
        self.settings = settings
        random = SeededGenerator(seed: seed)
        peripheral = MDBPeripheral(settings)
    }

    /// The answer to these words, which is there when they are.
    mutating func say(_ words: [UInt16]) -> [UInt16] {
        var answer: [UInt16] = []
        for word in words { carryOut(peripheral.receive(word), &answer) }
        return answer
    }

    mutating func fallSilent() { take(.silence) }

    /// A poll's time passes, some 50 ms.
    mutating func pass() {
        turn += 1
        for (timer, end) in timers where end <= turn {
            timers[timer] = nil
            take(.timer(timer))
        }
        let due = pending.filter { $0.turn <= turn }
        pending.removeAll { $0.turn <= turn }
        for (_, input) in due {
            switch input {
            case .approved(let number):
                guard money[number] == .asked else { continue }
                money[number] = .approved
            case .denied(let number):
                guard money[number] == .asked else { continue }
                money[number] = .no
            default: break
            }
            take(input)
        }
    }

    mutating func restart() {
        timers = [:]
        peripheral = MDBPeripheral(settings, counter: highest)
        take(.restored(written))
    }

    private mutating func take(_ input: MDBInput) {
        var answer: [UInt16] = []
        carryOut(peripheral.handle(input), &answer)
        if !answer.isEmpty { wrong.append("spoke without being asked") }
    }

    private mutating func later(_ input: MDBInput, _ most: Int) {
        pending.append((turn + Int.random(in: 0...most, using: &random), input))
    }

    private mutating func carryOut(_ effects: [MDBEffect], _ answer: inout [UInt16]) {
        for effect in effects {
            switch effect {
            case .send(let words):
                if !answer.isEmpty { wrong.append("two answers to one command") }
                answer += words
            case .record(let sale):
                written = sale
                highest = max(highest, sale?.number ?? 0)
            case .start(let sale, _):
                starts += 1
                if money[sale.number] != nil { wrong.append("\(sale.number) begun twice") }
                if written?.number != sale.number { wrong.append("begun before it was written down") }
                money[sale.number] = .asked
                let isApproved = Int.random(in: 0..<10, using: &random) < 8
                later(isApproved ? .approved(sale.number) : .denied(sale.number), 30)
            case .ask, .release: wrong.append("no card holds anything")
            case .cancel(let number):
                // Too late now and then: it is approved all the same, and the host hears of it.
                if money[number] == .asked, Int.random(in: 0..<3, using: &random) > 0 { money[number] = .no }
            case .confirm(let number):
                if money[number] != .approved {
                    wrong.append("\(number) confirmed, and is \(String(describing: money[number]))")
                }
                money[number] = .captured
            case .reverse(let number):
                if money[number] != nil { money[number] = .back }
                later(.reversed(number), 5)
            case .arm(let timer, let time): timers[timer] = turn + Int(time / 50)
            }
        }
    }

    /// All that was begun has come to its end.
    mutating func rest() {
        for _ in 0..<20_000 where !pending.isEmpty || !timers.isEmpty { pass() }
    }
}
