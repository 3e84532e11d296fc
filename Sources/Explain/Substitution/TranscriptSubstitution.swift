// SPDX-License-Identifier: Apache-2.0
public import CardBytes
public import ReaderCore

/// A transcript whose account and holder are replaced by test values, so that it can be kept and shared.
///
/// Card number, tracks, names and what else names account or holder become test values of the same length. Cryptograms,
/// signatures and certificates depend on the card number and on keys that only the issuer has: they become zero bytes,
/// and the header says so (`unreplaced`). The header notes the result that offline data authentication had, so that a
/// replay still takes the same decisions.
public struct TranscriptSubstitution: Sendable {
    public let transcript: Transcript
    /// The tags that were given test values, and those that were filled with zeros.
    public let replaced: [Tag]
    public let zeroed: [Tag]

    /// - Throws: where the card number is still found after the replacement.
    public init(_ original: Transcript) throws(SubstitutionError) {
        var worker = CardDataReplacement(original)
        var steps: [Transcript.Step] = []
        for step in original.steps { steps.append(try worker.replace(step)) }
        transcript = Transcript(header: original.header + worker.notes, steps: steps)
        replaced = worker.replacedTags
        zeroed = worker.zeroedTags
        // A public test number may stand for itself.
        for pan in worker.originals where !TestAccount.publicNumbers.contains(pan) {
            let text = transcript.text
            for trace in TestAccount.traces(of: pan) where text.contains(trace) { throw .numberLeft }
        }
    }

    /// Whether every card number in `transcript` is a public test number, so that it may be kept as it is. `false` where
    /// there is none.
    public static func isPublicTestCard(_ transcript: Transcript) -> Bool {
        let numbers = CardDataReplacement(transcript).originals
        return !numbers.isEmpty && numbers.allSatisfy { TestAccount.publicNumbers.contains($0) }
    }
}

/// Why a transcript cannot be made safe.
public enum SubstitutionError: Error, Equatable, Sendable {
    /// The card number stands somewhere outside the data objects that hold it.
    case numberLeft
    /// An answer that is not made of data objects; its step counts from 1.
    case unreadableAnswer(step: Int)
}

extension SubstitutionError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .numberLeft: "the card number stands outside the data objects that should hold it"
        case .unreadableAnswer(let step): "answer \(step) is not made of data objects, so nothing in it can be replaced"
        }
    }
}
