// SPDX-License-Identifier: Apache-2.0
import CardBytes

@testable import EMV

/// A card that knows one answer for each command, as hexadecimal text; any other command gets 6700.
struct ScriptedCard {
    /// Commands and answers with their status words.
    var answers: [String: String] { didSet { parse() } }
    private var parsed: [[UInt8]: ResponseAPDU] = [:]

    init(_ answers: [String: String] = [:]) {
        self.answers = answers
        parse()
    }

    init(_ exchanges: [(command: String, response: String)]) {
        self.init(Dictionary(exchanges.map { ($0.command, $0.response) }) { first, _ in first })
    }

    private mutating func parse() {
        parsed = [:]
        for (command, answer) in answers {
            guard let bytes = try? Hex.bytes(command), let response = try? ResponseAPDU(Hex.bytes(answer)) else {
                preconditionFailure("the script has an exchange that is not hexadecimal")
            }
            parsed[bytes] = response
        }
    }

    func answer(_ command: CommandAPDU) -> ResponseAPDU {
        parsed[command.bytes] ?? ResponseAPDU(status: .wrongLength)
    }
}

/// What one run of a machine came to.
struct Run {
    var outcome: FinalOutcome
    var sent: [[UInt8]]
    var messages: [String]
    var fieldOff: [UInt64]

    var commands: [String] { sent.map { Hex.string($0) } }

    /// Runs `entryPoint` to its end; `answer` gets each command with its number and returns `nil` for a lost card.
    static func drive(
        _ entryPoint: inout EntryPoint, milliseconds: UInt64 = 1,
        answer: (Int, CommandAPDU) throws -> ResponseAPDU?
    ) throws -> Run {
        var sent: [[UInt8]] = []
        var messages: [String] = []
        var fieldOff: [UInt64] = []
        var now = TapInstant(nanoseconds: 0)
        var step = entryPoint.start(now: now)
        for _ in 0..<500 {
            messages += step.signals.map { Run.text($0) }
            switch step.action {
            case .finished(let outcome):
                return Run(outcome: outcome, sent: sent, messages: messages, fieldOff: fieldOff)
            case .activate(let milliseconds):
                fieldOff.append(milliseconds)
                // A card that keeps failing is taken away.
                guard fieldOff.count < 20 else {
                    return Run(
                        outcome: entryPoint.stop(now: now), sent: sent, messages: messages, fieldOff: fieldOff)
                }
                step = entryPoint.activated(CardActivation(), now: now)
            case .transmit(let command):
                sent.append(command.bytes)
                now = now.advanced(byMilliseconds: milliseconds)
                if let response = try answer(sent.count - 1, command) {
                    step = entryPoint.received(response, now: now)
                } else {
                    step = entryPoint.cardLost(now: now)
                }
            }
        }
        throw EndlessRun()
    }

    /// A request as message and status: `15/02`.
    static func text(_ request: UIRequest) -> String {
        Hex.string([request.message.rawValue]) + "/" + Hex.string([request.status.rawValue])
    }
}

struct EndlessRun: Error {}
