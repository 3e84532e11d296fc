// SPDX-License-Identifier: Apache-2.0
import CardBytes
package import EMV

/// A recorded tap as a script: its card, in the transaction that it was recorded in (docs/internals/kernel-diff.md).
package enum RecordedScript {
    /// One line of JSON.
    ///
    /// A command that selects or reads is matched by all of its bytes, any other by its header: another kernel may send other data.
    ///
    /// - Parameters:
    ///   - id: name of the script; control characters, quotes and backslashes become `_`.
    ///   - exchanges: commands and answers in their order; a loss ends what the card says.
    package static func line(
        id: String, _ transaction: Transaction, unpredictableNumbers: [UInt32],
        _ exchanges: [(command: [UInt8], answer: CardScript.Rule.Answer)]
    ) -> String {
        let name = String(
            String.UnicodeScalarView(id.unicodeScalars.map { $0.value < 0x20 || $0 == "\"" || $0 == "\\" ? "_" : $0 }))
        var terminal: [(Tag, [UInt8])] = [
            (0x9F02, digits(transaction.amount, 6)), (0x5F2A, digits(UInt64(transaction.currency), 2)),
            (0x5F36, digits(UInt64(transaction.exponent), 1)), (0x9F1A, digits(UInt64(transaction.country), 2)),
            (0x9C, [transaction.type.rawValue]), (0x9F41, digits(UInt64(transaction.sequenceCounter), 4)),
        ]
        if let other = transaction.otherAmount { terminal.append((0x9F03, digits(other, 6))) }
        let objects = terminal.map { tag, value in "\"\(tag)\":\"\(Hex.string(value))\"" }
        let numbers = unpredictableNumbers.map { number in
            "\"\(Hex.string([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }))\""
        }
        let patterns = exchanges.map { pattern($0.command) }
        let rules = exchanges.indices.map { index in
            let answer =
                switch exchanges[index].answer {
                case .response(let response): #""respond":"\#(Hex.string(response.bytes))""#
                case .lost(let loss): #""lose":"\#(CardScript.losses.first { $0.loss == loss }?.word ?? "timeout")""#
                }
            // The last of those that look alike answers whatever comes after it.
            let once = patterns[(index + 1)...].contains(patterns[index]) ? #","times":1"# : ""
            return #"{"match":"\#(patterns[index])",\#(answer)\#(once)}"#
        }
        return #"{"id":"\#(name)","terminal":{\#(objects.joined(separator: ","))},"clock":"\#(clock(transaction))","#
            + #""un":[\#(numbers.joined(separator: ","))],"card":[\#(rules.joined(separator: ","))]}"#
    }

    private static func pattern(_ command: [UInt8]) -> String {
        let selectsOrReads = command.count > 1 && (command[1] == 0xA4 || command[1] == 0xB2)
        let kept = KernelTrace.withoutLe(command)
        return selectsOrReads ? Hex.string(kept) : Hex.string(command.prefix(4)) + "*"
    }

    private static func digits(_ number: UInt64, _ count: Int) -> [UInt8] {
        BCD.encode(number, count: count) ?? [UInt8](repeating: 0x99, count: count)
    }

    private static func clock(_ transaction: Transaction) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let (date, time) = (transaction.date, transaction.time)
        return
            "\(date.year)-\(two(date.month))-\(two(date.day))T\(two(time.hour)):\(two(time.minute)):\(two(time.second))"
    }
}
