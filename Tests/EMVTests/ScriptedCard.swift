import CardBytes

@testable import EMV

/// A card that knows one answer for each command, as hexadecimal text; any other command gets 6700.
struct ScriptedCard {
    var answers: [String: String] = [:]

    init(_ answers: [String: String] = [:]) { self.answers = answers }

    init(_ exchanges: [(command: String, response: String)]) {
        for exchange in exchanges { answers[exchange.command] = exchange.response }
    }

    func answer(_ command: CommandAPDU) throws -> ResponseAPDU {
        try ResponseAPDU(Hex.bytes(answers[Hex.string(command.bytes)] ?? "6700"))
    }
}

/// What one run of a machine came to.
struct Run {
    var outcome: FinalOutcome
    var commands: [String]
    var messages: [String]
    var fieldOff: [UInt64]

    /// Runs `entryPoint` to its end; `answer` gets each command with its number and returns `nil` for a lost card.
    static func drive(
        _ entryPoint: inout EntryPoint, milliseconds: UInt64 = 1,
        answer: (Int, CommandAPDU) throws -> ResponseAPDU?
    ) throws -> Run {
        var commands: [String] = []
        var messages: [String] = []
        var fieldOff: [UInt64] = []
        var now = TapInstant(nanoseconds: 0)
        var step = entryPoint.start(now: now)
        for _ in 0..<500 {
            messages += step.signals.map { Run.text($0) }
            switch step.action {
            case .finished(let outcome):
                return Run(outcome: outcome, commands: commands, messages: messages, fieldOff: fieldOff)
            case .activate(let milliseconds):
                fieldOff.append(milliseconds)
                // A card that keeps failing is taken away.
                guard fieldOff.count < 20 else {
                    return Run(
                        outcome: entryPoint.stop(now: now), commands: commands, messages: messages, fieldOff: fieldOff)
                }
                step = entryPoint.activated(CardActivation(), now: now)
            case .transmit(let command):
                commands.append(Hex.string(command.bytes))
                now = now.advanced(byMilliseconds: milliseconds)
                if let response = try answer(commands.count - 1, command) {
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
