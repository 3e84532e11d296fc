// SPDX-License-Identifier: Apache-2.0
package import CardBytes
import Codes
package import EMV
package import TerminalFile

/// A card that answers by rules, and the transaction it is tapped in: one line of JSON (docs/internals/kernel-diff.md).
package struct CardScript: Sendable {
    package let id: String
    /// The line as it was read; other programs get it unchanged.
    package let line: [UInt8]
    package let transaction: Transaction
    /// Objects of the terminal; they win over those of a combination.
    package let terminal: [DataObject]
    /// `nil` for those of the test terminal.
    package let combinations: [Combination]?
    package let unpredictableNumbers: [UInt32]
    package let rules: [Rule]
    /// Tags whose values are not compared.
    package let ignored: Set<Tag>

    /// What the card does with a command.
    package struct Rule: Sendable {
        package enum Answer: Equatable, Sendable {
            case response(ResponseAPDU)
            case lost(CardLoss)
        }

        package let pattern: CommandPattern
        package let answer: Answer
        /// How often it applies; `nil` for always.
        package let times: Int?
        package let afterMilliseconds: UInt64
    }

    /// - Throws: the first member that is missing or that cannot be read.
    package init(line: [UInt8]) throws(TerminalFileError) {
        let file = try TerminalFileValue(file: line)
        try file.object([
            "id", "terminal", "clock", "un", "card", "ignore", "expect", "host", "source", "licence", "note",
        ])
        self.line = line
        id = try file.member("id").text()
        var objects: [DataObject] = []
        var combinations: [Combination]?
        for member in try file.member("terminal").members() {
            if member.name == "combinations" {
                var list: [Combination] = []
                for element in try member.value.elements() {
                    list.append(try TerminalFile.combination(element, .replay))
                }
                combinations = list
                continue
            }
            guard let tag = TerminalFile.tag(member.name) else { throw .unknown(member.value.path) }
            objects.append(DataObject(tag, try member.value.hexadecimal(0...252)))
        }
        self.combinations = combinations
        let ofTransaction: Set<Tag> = [0x9F02, 0x9F03, 0x5F2A, 0x5F36, 0x9F1A, 0x9C, 0x9A, 0x9F21, 0x9F41, 0x9F37]
        terminal = objects.filter { !ofTransaction.contains($0.tag) }
        transaction = try CardScript.transaction(
            objects, clock: file.member("clock"), terminal: file.member("terminal"))
        var numbers: [UInt32] = []
        for element in try file.member("un").elements() {
            numbers.append(try element.hexadecimal(4...4).reduce(0) { $0 << 8 | UInt32($1) })
        }
        unpredictableNumbers = numbers
        var rules: [Rule] = []
        for element in try file.member("card").elements() { rules.append(try CardScript.rule(element)) }
        self.rules = rules
        var ignored: Set<Tag> = []
        for element in try file.optional("ignore")?.elements() ?? [] {
            guard let tag = TerminalFile.tag(try element.text()) else { throw .unknown(element.path) }
            ignored.insert(tag)
        }
        self.ignored = ignored
    }

    private static func transaction(
        _ objects: [DataObject], clock: TerminalFileValue, terminal: TerminalFileValue
    ) throws(TerminalFileError) -> Transaction {
        let parts = try clock.text().split(separator: "T", omittingEmptySubsequences: false)
        let day = parts.first.map { $0.split(separator: "-").compactMap { Int($0) } } ?? []
        let time = parts.last.map { $0.split(separator: ":").compactMap { Int($0) } } ?? []
        guard parts.count == 2, day.count == 3, time.count == 3, (1...12).contains(day[1]), (1...31).contains(day[2]),
            (1950...2049).contains(day[0]), (0...23).contains(time[0]), (0...59).contains(time[1]),
            (0...59).contains(time[2])
        else { throw .notOneOf(clock.path, ["YYYY-MM-DDTHH:MM:SS"]) }
        func number(_ tag: Tag, or default: UInt64) throws(TerminalFileError) -> UInt64 {
            guard let value = objects.value(of: tag) else { return `default` }
            let most = UInt64(CurrencyCode.largestAmount)
            guard let number = BCD.decode(value), number <= most else {
                throw .outOfRange("\(terminal.path).\(tag)", 0...most)
            }
            return number
        }
        return Transaction(
            amount: try number(0x9F02, or: 0),
            otherAmount: objects.value(of: 0x9F03) == nil ? nil : try number(0x9F03, or: 0),
            currency: UInt16(truncatingIfNeeded: try number(0x5F2A, or: 978)),
            exponent: UInt8(truncatingIfNeeded: try number(0x5F36, or: 2)),
            country: UInt16(truncatingIfNeeded: try number(0x9F1A, or: 276)),
            type: TransactionType(rawValue: objects.value(of: 0x9C)?.first ?? 0),
            date: EMVDate(year: day[0], month: day[1], day: day[2]),
            time: EMVTime(hour: time[0], minute: time[1], second: time[2]),
            sequenceCounter: UInt32(truncatingIfNeeded: try number(0x9F41, or: 1)))
    }

    /// The kinds of `lose`, and what they are to a kernel.
    package static let losses: [(word: String, loss: CardLoss)] = [
        ("timeout", .timeOut), ("transmission", .transmission), ("protocol", .protocolError),
    ]

    private static func rule(_ value: TerminalFileValue) throws(TerminalFileError) -> Rule {
        try value.object(["match", "respond", "lose", "afterMs", "times"])
        let match = try value.member("match")
        guard let pattern = CommandPattern(try match.text()) else {
            throw .notOneOf(match.path, ["hexadecimal with ? for any digit, and * at the end for any rest"])
        }
        let answer: Rule.Answer
        if let lose = try value.optional("lose") {
            let word = try lose.word(of: CardScript.losses.map(\.word))
            answer = .lost(CardScript.losses.first { $0.word == word }?.loss ?? .timeOut)
        } else {
            // Longer than a short answer can be: some collected scripts do not cut their records.
            let respond = try value.member("respond")
            let bytes = try respond.hexadecimal(2...4_096)
            guard let response = try? ResponseAPDU(bytes) else { throw .hexadecimal(respond.path, bytes: 2...4_096) }
            answer = .response(response)
        }
        return Rule(
            pattern: pattern, answer: answer,
            times: try value.optional("times").map { times throws(TerminalFileError) in
                Int(truncatingIfNeeded: try times.number(in: 1...1_000))
            },
            afterMilliseconds: try value.optional("afterMs")?.number(in: 0...60_000) ?? 0)
    }
}

/// Which commands a rule is for: hexadecimal digits, `?` for any digit, `*` at the end for any rest. The Le byte of a
/// command may be left out.
package struct CommandPattern: Equatable, Sendable {
    private let digits: [UInt8]
    private let isOpen: Bool

    package init?(_ text: String) {
        var digits = Array(text.uppercased().utf8)
        isOpen = digits.last == 0x2A
        if isOpen { digits.removeLast() }
        let isHexadecimal = digits.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x46).contains($0) || $0 == 0x3F }
        guard isHexadecimal, isOpen || digits.count >= 8 else { return nil }
        self.digits = digits
    }

    package func matches(_ command: [UInt8]) -> Bool {
        let full = Array(Hex.string(command).utf8)
        return fits(full) || fits(Array(Hex.string(KernelTrace.withoutLe(command)).utf8))
    }

    private func fits(_ command: [UInt8]) -> Bool {
        guard isOpen ? command.count >= digits.count : command.count == digits.count else { return false }
        return zip(digits, command).allSatisfy { $0 == 0x3F || $0 == $1 }
    }
}
