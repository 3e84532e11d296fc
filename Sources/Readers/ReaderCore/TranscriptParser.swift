// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension Transcript {
    /// Reads the `.tap` form. Line ends may be LF or CR LF.
    ///
    /// - Throws: `TranscriptError` with the line.
    public init(parsing text: String) throws(TranscriptError) {
        var parser = TranscriptParser()
        // "\r\n" is one Character, and a newline.
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            try parser.read(line)
        }
        self = try parser.finish()
    }
}

private struct TranscriptParser {
    private var transcript = Transcript()
    private var pending: CommandAPDU?
    private var line = 0
    private var commandLine = 0

    mutating func read(_ text: Substring) throws(TranscriptError) {
        line += 1
        let text = text.trimmed
        guard let first = text.first else { return }
        let rest = text.dropFirst().trimmed
        switch first {
        case "#": return
        case "+":
            try noPendingCommand()
            switch rest {
            case "collision": transcript.steps.append(.collided)
            case "empty": transcript.steps.append(.emptied)
            default: transcript.steps.append(.activated(try activation(rest)))
            }
        case "-":
            try noPendingCommand()
            guard rest.isEmpty else { throw error(.unknownLine) }
            transcript.steps.append(.released)
        case ">":
            try noPendingCommand()
            pending = try command(rest)
            commandLine = line
        case "<": try answer(.response(try response(rest)))
        case "!": try answer(try fault(rest))
        default: try field(text)
        }
    }

    mutating func finish() throws(TranscriptError) -> Transcript {
        try noPendingCommand()
        return transcript
    }

    private mutating func answer(_ answer: Transcript.Answer) throws(TranscriptError) {
        guard let command = pending else { throw error(.answerWithoutCommand) }
        transcript.steps.append(.exchanged(command, answer))
        pending = nil
    }

    private mutating func field(_ text: Substring) throws(TranscriptError) {
        guard let colon = text.firstIndex(of: ":") else { throw error(.unknownLine) }
        let key = text[..<colon].trimmed
        guard !key.isEmpty, transcript.steps.isEmpty, pending == nil else { throw error(.misplacedHeader) }
        let value = text[text.index(after: colon)...].trimmed
        transcript.header.append(Transcript.Field(key: String(key), value: String(value)))
    }

    private func noPendingCommand() throws(TranscriptError) {
        guard pending == nil else { throw TranscriptError(line: commandLine, reason: .commandWithoutAnswer) }
    }

    private func command(_ text: Substring) throws(TranscriptError) -> CommandAPDU {
        let bytes = try hex(text)
        do throws(APDUError) { return try CommandAPDU(bytes) } catch { throw self.error(.notACommand) }
    }

    private func response(_ text: Substring) throws(TranscriptError) -> ResponseAPDU {
        let bytes = try hex(text)
        do throws(APDUError) { return try ResponseAPDU(bytes) } catch { throw self.error(.notAResponse) }
    }

    private func fault(_ text: Substring) throws(TranscriptError) -> Transcript.Answer {
        switch text {
        case "cardLost": .cardLost
        case "timedOut": .timedOut
        case "detached": .detached
        default: throw error(.unknownFault(String(text)))
        }
    }

    private func activation(_ text: Substring) throws(TranscriptError) -> CardActivation {
        var card = CardActivation()
        var seen: Set<Substring> = []
        for word in text.split(whereSeparator: \.isWhitespace) {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, seen.insert(parts[0]).inserted else { throw error(.unknownFact(String(word))) }
            switch parts[0] {
            case "technology":
                guard let technology = CardActivation.Technology(rawValue: String(parts[1])) else {
                    throw error(.unknownFact(String(word)))
                }
                card.technology = technology
            case "uid": card.uid = try hex(parts[1])
            case "ats": card.answerToSelect = try hex(parts[1])
            case "atr": card.atr = try hex(parts[1])
            case "sak":
                let bytes = try hex(parts[1])
                guard bytes.count == 1 else { throw error(.unknownFact(String(word))) }
                card.sak = bytes[0]
            default: throw error(.unknownFact(String(word)))
            }
        }
        return card
    }

    private func hex(_ text: Substring) throws(TranscriptError) -> [UInt8] {
        do throws(HexError) { return try Hex.bytes(String(text)) } catch { throw self.error(.notHexadecimal) }
    }

    private func error(_ reason: TranscriptError.Reason) -> TranscriptError {
        TranscriptError(line: line, reason: reason)
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        let start = drop(while: \.isWhitespace)
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return start }
        return start[...last]
    }
}
