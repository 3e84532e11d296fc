// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import ReaderCore

/// A run in the order in which it happened, fit to be shown and the same every time. Commands are shown as sent, but with `*` for a
/// card number that the card's own lists asked for; answers by status word and length, values of data records where they name neither
/// account nor holder.
public struct ReplayReport: Equatable, Sendable, Encodable {
    public struct Event: Equatable, Sendable, Encodable {
        public enum Kind: String, Sendable, Encodable {
            case ui, fieldOff, card, response, noResponse, authentication, interruption, outcome
        }

        public let kind: Kind
        /// What happened, in words.
        public let text: String
        /// A command's bytes; `nil` for other events.
        public let command: String?
        /// A response's status word.
        public let status: String?
        /// A response's data bytes.
        public let length: Int?

        init(_ kind: Kind, _ text: String, command: String? = nil, status: String? = nil, length: Int? = nil) {
            self.kind = kind
            self.text = text
            self.command = command
            self.status = status
            self.length = length
        }
    }

    public struct Mismatch: Equatable, Sendable, Encodable {
        /// Counted from 1.
        public let step: Int
        /// The recorded command; `nil` where something else was recorded, or nothing.
        public let expected: String?
        /// The command that was sent; `nil` where a card was waited for.
        public let sent: String?
        public let text: String
    }

    public let transaction: String
    public let events: [Event]
    public let outcome: ReplayOutcome
    public let mismatch: Mismatch?
    public let unusedSteps: Int
    public let checks: [ReplayRun.Check]
    public let isAsRecorded: Bool

    public init(_ run: ReplayRun) {
        transaction = Phrase.transaction(run.trace.transaction)
        let mask = NumberMask(run.trace.events)
        events = run.trace.events.map { ReplayReport.event($0, mask) }
        outcome = ReplayOutcome(run.trace.outcome)
        mismatch = run.mismatch.map { Mismatch($0, mask) }
        unusedSteps = run.unusedSteps
        checks = run.checks
        isAsRecorded = run.isAsRecorded
    }

    private static func event(_ event: TapTrace.Event, _ mask: NumberMask) -> Event {
        switch event {
        case .signal(let request): Event(.ui, Phrase.signal(request))
        case .fieldOff(let milliseconds): Event(.fieldOff, "field off for \(milliseconds) ms")
        case .activated(let card): Event(.card, Phrase.card(card))
        case .collided: Event(.card, "more than one card")
        case .emptied: Event(.card, "no card any more")
        case .exchanged(let command, .response(let response)):
            Event(
                .response, "\(CodeNames.statusWord(response.status)), \(Phrase.bytes(response.data.count))",
                command: mask.text(command), status: response.status.description, length: response.data.count)
        case .exchanged(let command, let answer):
            Event(.noResponse, Phrase.fault(answer), command: mask.text(command))
        case .authenticated(let authentication): Event(.authentication, Phrase.authentication(authentication))
        case .tapLimit(let count): Event(.interruption, "no further tap after \(count)")
        case .interrupted(.timedOut): Event(.interruption, "no further card")
        case .interrupted(let error): Event(.interruption, error.description)
        case .finished(let final): Event(.outcome, "\(final.outcome.status)")
        }
    }
}

/// The numbers that a card said in this run, which a command repeats where the card's list asks for them.
struct NumberMask {
    private let numbers: [String]

    init(_ events: [TapTrace.Event]) {
        let responses = events.compactMap { event in
            if case .exchanged(_, .response(let response)) = event { response } else { nil }
        }
        numbers = CardDataReplacement.numbers(in: responses).map { $0.map(String.init).joined() }
    }

    func text(_ command: CommandAPDU) -> String {
        numbers.reduce(Hex.string(command.bytes)) { text, number in
            text.replacing(number, with: String(repeating: "*", count: number.count))
        }
    }
}

extension ReplayReport.Mismatch {
    fileprivate init(_ mismatch: ReplayMismatch, _ mask: NumberMask) {
        step = mismatch.step + 1
        if case .exchanged(let command, _) = mismatch.expected {
            expected = mask.text(command)
        } else {
            expected = nil
        }
        if case .transmit(let command) = mismatch.actual { sent = mask.text(command) } else { sent = nil }
        text = mismatch.description
    }
}

extension ReplayReport {
    /// The report line by line, `>` what was sent and `<` what came back.
    public var lines: [String] {
        var lines = ["transaction: \(transaction)", ""]
        for event in events { lines += ReplayReport.lines(event) }
        lines.append("")
        lines += outcome.lines
        for check in checks {
            let verdict = check.isMet ? "as expected" : "expected \(check.expected), was \(check.actual)"
            lines.append("\(check.key): \(verdict)")
        }
        if let mismatch {
            lines.append("step \(mismatch.step) differs")
            lines.append("  expected: \(mismatch.expected ?? "something else")")
            lines.append("  sent:     \(mismatch.sent ?? "nothing, waited for a card")")
        }
        if unusedSteps > 0 { lines.append("recorded steps not used: \(unusedSteps)") }
        return lines
    }

    private static func lines(_ event: Event) -> [String] {
        switch event.kind {
        case .ui: ["ui    \(event.text)"]
        case .card: ["card  \(event.text)"]
        case .fieldOff, .interruption: ["      \(event.text)"]
        case .authentication: ["oda   \(event.text)"]
        case .response: [">     \(event.command ?? "")", "<     \(event.status ?? "") \(event.text)"]
        case .noResponse: [">     \(event.command ?? "")", "!     \(event.text)"]
        case .outcome: ["end   \(event.text)"]
        }
    }
}
