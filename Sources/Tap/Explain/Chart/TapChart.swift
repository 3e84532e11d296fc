// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
public import ReaderCore

/// The phases of a recorded tap, command by command: what the card took and what the terminal took, where the recording has times,
/// and how many bytes went over the air where it has none. Shows no data of cards, only lengths and status words.
public struct TapChart: Equatable, Sendable {
    public enum Phase: String, CaseIterable, Sendable {
        case detection = "Detection"
        case directory = "PPSE"
        case selection = "SELECT"
        case options = "GPO"
        case relay = "Relay resistance"
        case records = "Records"
        case cryptogram = "Cryptogram"
        case crypto = "Crypto"
        case other = "Other"
        case end = "End"
    }

    public struct Row: Equatable, Sendable {
        public let phase: Phase
        public let text: String
        /// Bytes of the command; `nil` for anything else.
        public let sent: Int?
        /// Bytes of the answer with its status word; `nil` where none came.
        public let received: Int?
        /// Status word with its meaning, or why no answer came.
        public let result: String?
        /// `nil` without times, and for the terminal's own work, which lies between two steps.
        public let span: TranscriptTimes.Span?
        /// Microseconds of the terminal, or of waiting for a card, since the step before.
        public let before: UInt64?

        /// Microseconds that command and answer are on the air at least; `nil` for anything else.
        public var air: UInt64? { sent == nil ? nil : TapChart.air([self]) }
    }

    public let transaction: String
    public let outcome: String
    public let rows: [Row]
    /// Microseconds of the whole recording; `nil` without times.
    public let total: UInt64?

    /// - Throws: where the header's `times` do not fit its steps.
    public init(_ transcript: Transcript, _ run: ReplayRun) throws(TranscriptHeaderError) {
        var times: TranscriptTimes?
        if let text = transcript[TranscriptTimes.key] {
            times = TranscriptTimes(text, steps: transcript.steps)
            guard times != nil else {
                throw .unreadable(
                    TranscriptTimes.key, expected: "one time for each step, none before the one before it")
            }
        }
        let verified = TapChart.verified(run.trace)
        var rows: [Row] = []
        var latest: UInt64 = 0
        for (index, step) in transcript.steps.enumerated() {
            let span = times.flatMap { index < $0.spans.count ? $0.spans[index] : nil }
            let before = span.map { $0.begin > latest ? $0.begin - latest : 0 }
            rows.append(TapChart.row(step, span, before))
            latest = span?.end ?? latest
            for text in verified[index] ?? [] {
                rows.append(
                    Row(phase: .crypto, text: text, sent: nil, received: nil, result: nil, span: nil, before: nil))
            }
        }
        self.rows = rows
        transaction = Phrase.transaction(run.trace.transaction)
        outcome = "\(run.trace.outcome.outcome.status)"
        total = times.map { _ in latest }
    }

    public var hasTimes: Bool { total != nil }

    /// Microseconds that the card took over all commands, the way over the air included.
    public var cardTime: UInt64 { rows.reduce(0) { $0 + ($1.span?.duration ?? 0) } }

    /// Microseconds that all commands and answers are on the air at least, at the 106 kbit/s of a card's beginning.
    public var airTime: UInt64 { TapChart.air(rows) }

    private static func air(_ rows: [Row]) -> UInt64 {
        var air = AirTime()
        for case let count? in rows.flatMap({ [$0.sent, $0.received] }) { air.add(count) }
        return air.microseconds
    }

    /// What the terminal verified, by the step after which it did. A replay that differs from the recording says nothing of what
    /// comes after that.
    private static func verified(_ trace: TapTrace) -> [Int: [String]] {
        var found: [Int: [String]] = [:]
        var step = -1
        for event in trace.events {
            switch event {
            case .activated, .collided, .emptied, .exchanged: step += 1
            case .authenticated(let authentication):
                found[step, default: []].append(Phrase.authentication(authentication))
            case .signal, .fieldOff, .tapLimit, .interrupted, .finished: break
            }
        }
        return found
    }

    private static func row(_ step: Transcript.Step, _ span: TranscriptTimes.Span?, _ before: UInt64?) -> Row {
        switch step {
        case .activated(let card):
            Row(
                phase: .detection, text: "Card found, \(Phrase.card(card))", sent: nil, received: nil, result: nil,
                span: span,
                before: before)
        case .collided:
            Row(
                phase: .detection, text: "More than one card", sent: nil, received: nil, result: nil, span: span,
                before: before)
        case .emptied:
            Row(
                phase: .detection, text: "No card any more", sent: nil, received: nil, result: nil, span: span,
                before: before)
        case .released:
            Row(phase: .end, text: "Card released", sent: nil, received: nil, result: nil, span: span, before: before)
        case .exchanged(let command, let answer):
            exchange(command, answer, span, before)
        }
    }

    private static func exchange(
        _ command: CommandAPDU, _ answer: Transcript.Answer, _ span: TranscriptTimes.Span?, _ before: UInt64?
    ) -> Row {
        var received: Int?
        var result = Phrase.fault(answer)
        if case .response(let response) = answer {
            received = response.bytes.count
            result = "\(response.status) \(CodeNames.statusWord(response.status))"
        }
        let (phase, text) = meaning(command)
        return Row(
            phase: phase, text: text, sent: command.bytes.count, received: received, result: result, span: span,
            before: before)
    }

    /// EMV Book B 3.3 and Book 3 6.5; kernels' own commands by CodeNames.
    private static func meaning(_ command: CommandAPDU) -> (Phase, String) {
        let name = CodeNames.command(command) ?? "Command \(Hex.string([command.cla, command.ins]))"
        switch (command.cla, command.ins) {
        case (0x00, 0xA4) where Array("2PAY.SYS.DDF01".utf8) == command.data: return (.directory, "SELECT PPSE")
        case (0x00, 0xA4): return (.selection, CodeNames.scheme(command.data).map { "SELECT \($0)" } ?? name)
        case (0x80, 0xA8): return (.options, name)
        case (0x00, 0xB2): return (.records, "READ RECORD \(command.p1) of SFI \(command.p2 >> 3)")
        case (0x84, 0x32): return (.records, name)
        case (0x80, 0xEA): return (.relay, name)
        case (0x80, 0xAE), (0x80, 0x2A), (0x80, 0xD0): return (.cryptogram, name)
        case _: return (.other, name)
        }
    }
}
