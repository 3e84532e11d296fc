// SPDX-License-Identifier: Apache-2.0
/// Where and why a text is no transcript. Lines count from 1.
public struct TranscriptError: Error, Equatable, Sendable {
    public enum Reason: Equatable, Sendable {
        /// Neither a header line, a comment nor a step.
        case unknownLine
        /// A header line after the first step, or one without a key.
        case misplacedHeader
        case notHexadecimal
        /// The bytes after `>` are no short C-APDU.
        case notACommand
        /// Fewer than two bytes after `<`.
        case notAResponse
        /// `<` or `!` without a `>` before it.
        case answerWithoutCommand
        /// `>` without `<` or `!` after it.
        case commandWithoutAnswer
        /// A word after `+` that is no known fact of an activation, or one given twice.
        case unknownFact(String)
        /// A word after `!` that is no known fault.
        case unknownFault(String)
    }

    public var line: Int
    public var reason: Reason

    public init(line: Int, reason: Reason) {
        self.line = line
        self.reason = reason
    }
}

extension TranscriptError: CustomStringConvertible {
    public var description: String { "line \(line): \(reason.phrase)" }
}

extension TranscriptError.Reason {
    fileprivate var phrase: String {
        switch self {
        case .unknownLine: "neither a header line, a comment nor a step"
        case .misplacedHeader: "header line without a key or after the first step"
        case .notHexadecimal: "bytes are not hexadecimal"
        case .notACommand: "no short command APDU"
        case .notAResponse: "no response APDU"
        case .answerWithoutCommand: "answer without a command before it"
        case .commandWithoutAnswer: "command without an answer after it"
        case .unknownFact(let word): "unknown or repeated fact \(word)"
        case .unknownFault(let word): "unknown fault \(word)"
        }
    }
}
