// SPDX-License-Identifier: Apache-2.0
import TestSupport

@testable import ISO8583

/// An acquirer with books of its own, and a network to it that loses, repeats, delays and overtakes.
///
/// What it says first of a payment is true, and what it says it has taken back it has taken back and takes no more: without
/// that nobody could end a doubt. It is slow, forgets to answer, answers twice, changes its answers and mixes up amounts.
struct ModelAcquirer {
    struct Booking: Equatable {
        var amount: [UInt8]
        var isReversed: Bool
    }

    struct Letter {
        var at: UInt64
        var message: ISOMessage
        var isToHost: Bool
    }

    private(set) var books: [[UInt8]: Booking] = [:]
    /// What was reversed before it came.
    private var stopped: Set<[UInt8]> = []
    private var declined: Set<[UInt8]> = []
    private var letters: [Letter] = []
    private(set) var reconciled = 0
    private(set) var advices: Set<[UInt8]> = []
    /// From 0, all is as it should be, to 100.
    var wickedness: Int

    init(wickedness: Int) { self.wickedness = wickedness }

    /// A payment's name at the host: its reference.
    static func name(_ message: ISOMessage) -> [UInt8] { message[37] ?? [] }

    /// When the last copy arrives; `nil` if all are lost.
    @discardableResult
    mutating func post(
        _ message: ISOMessage, toHost: Bool, at now: UInt64, _ random: inout SeededGenerator
    ) -> UInt64? {
        let copies = isWicked(10, &random) ? 2 : 1
        var last: UInt64?
        for _ in 0..<copies where !isWicked(15, &random) {
            let delay = isWicked(20, &random) ? UInt64.random(in: 0...60_000, using: &random) : 5
            letters.append(Letter(at: now + delay, message: message, isToHost: toHost))
            last = max(last ?? 0, now + delay)
        }
        return last
    }

    /// One in a hundred times `chance`, of what wickedness allows.
    private func isWicked(_ chance: Int, _ random: inout SeededGenerator) -> Bool {
        Int.random(in: 0..<10_000, using: &random) < chance * wickedness
    }

    var nextLetter: UInt64? { letters.map(\.at).min() }

    /// A connection that breaks takes with it what was on its way to this side, and half of what went to the host.
    mutating func breakLine(_ random: inout SeededGenerator) {
        var draw = random
        letters.removeAll { !$0.isToHost || Bool.random(using: &draw) }
        random = draw
    }

    /// Carries what has arrived by now; gives what has come back to the link.
    mutating func carry(_ now: UInt64, _ random: inout SeededGenerator) -> [ISOMessage] {
        var back: [ISOMessage] = []
        while let index = letters.indices.filter({ letters[$0].at <= now }).min(by: { letters[$0].at < letters[$1].at })
        {
            let letter = letters.remove(at: index)
            guard letter.isToHost else {
                back.append(letter.message)
                continue
            }
            guard let answer = answer(letter.message, &random) else { continue }
            let arrival = post(answer, toHost: false, at: max(now, letter.at), &random)
            // A second answer says something else. It comes after the first, which is true.
            guard let arrival, answer.type.kind == 1, isWicked(5, &random) else { continue }
            var other = answer
            other.set(39, answer.text(39) == "05" ? "00" : "05")
            letters.append(Letter(at: arrival + 1_000, message: other, isToHost: false))
        }
        return back
    }

    // MARK: - The host

    private mutating func answer(_ message: ISOMessage, _ random: inout SeededGenerator) -> ISOMessage? {
        var answer = message.keeping([3, 4, 7, 11, 12, 24, 32, 37, 41, 42, 49, 70])
        guard let type = message.type.answer else { return nil }
        answer.type = type
        switch message.type.kind {
        case 1, 2:
            if message.type.function == 2 {
                advices.insert(Self.name(message))
                answer.set(39, isWicked(10, &random) ? "91" : "00")
            } else {
                pay(message, &answer, &random)
            }
        case 4: takeBack(message, &answer, &random)
        case 5:
            reconciled += 1
            answer.set(39, "00")
            answer.set(66, "1")
        default: answer.set(39, "00")
        }
        return answer
    }

    private mutating func pay(_ message: ISOMessage, _ answer: inout ISOMessage, _ random: inout SeededGenerator) {
        let name = Self.name(message)
        if stopped.contains(name) || declined.contains(name) { return answer.set(39, "94") }
        if let booking = books[name] {
            // The same request once more, by a network that doubles.
            answer[4] = booking.amount
            let code = booking.amount == message[4] ? "00" : "10"
            return answer.set(39, booking.isReversed || isWicked(30, &random) ? "94" : code)
        }
        guard Int.random(in: 0..<10, using: &random) > 1 else {
            declined.insert(name)
            return answer.set(39, Bool.random(using: &random) ? "05" : "91")
        }
        let isPart = Int.random(in: 0..<10, using: &random) == 0
        let amount = isPart ? Array("000000000007".utf8) : message[4] ?? []
        books[name] = Booking(amount: amount, isReversed: false)
        answer[4] = amount
        answer.set(39, isPart ? "10" : "00")
        answer.set(38, "A1B2C3")
        // Booked, and badly answered.
        if isWicked(5, &random) { answer.set(39, "96") }
        if isWicked(5, &random) { answer[39] = nil }
        if isWicked(5, &random) { answer.set(4, "000000009999") }
        if isWicked(5, &random) { answer.set(49, "840") }
        if isWicked(5, &random) { answer.set(41, "OTHER001") }
    }

    private mutating func takeBack(_ message: ISOMessage, _ answer: inout ISOMessage, _ random: inout SeededGenerator) {
        if isWicked(10, &random) { return answer.set(39, "91") }
        let name = Self.name(message)
        guard books[name] != nil else {
            stopped.insert(name)
            return answer.set(39, "25")
        }
        answer.set(39, books[name]?.isReversed == true ? "94" : "00")
        books[name]?.isReversed = true
    }
}
