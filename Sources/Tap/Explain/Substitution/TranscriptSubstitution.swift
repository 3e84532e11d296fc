// SPDX-License-Identifier: Apache-2.0
public import CardBytes
public import ReaderCore

/// A transcript whose account and holder are replaced by test values, so that it can be kept and shared.
///
/// Card number, tracks, names and what else names account or holder become test values of the same length. Cryptograms,
/// signatures and certificates depend on the card number and on keys that only the issuer has: they become zero bytes,
/// and the header says so (`unreplaced`). The header notes the result that offline data authentication had, so that a
/// replay still takes the same decisions.
///
/// An answer that is not made of data objects may hold anything: it is blanked as a whole, and the header names its step
/// (`blanked`). So is an answer in which a card number is still found after the replacement.
public struct TranscriptSubstitution: Sendable {
    public let transcript: Transcript
    /// The tags that were given test values, and those that were filled with zeros.
    public let replaced: [Tag]
    public let zeroed: [Tag]
    /// Steps whose answers were blanked, from 1.
    public let blanked: [Int]

    /// - Throws: where the card number is still found after the replacement, outside the answers.
    public init(_ original: Transcript) throws(SubstitutionError) {
        var worker = CardDataReplacement(original)
        var steps: [Transcript.Step] = []
        for step in original.steps { steps.append(worker.replace(step)) }
        transcript = Transcript(header: original.header + worker.notes, steps: steps)
        replaced = worker.replacedTags
        zeroed = worker.zeroedTags
        blanked = worker.blankedSteps
        // A public test number may stand for itself.
        for pan in worker.originals where !TestAccount.publicNumbers.contains(pan) {
            let text = transcript.text
            for trace in TestAccount.traces(of: pan) where text.contains(trace) { throw .numberLeft }
        }
    }

    /// The kind of card, as far as it may be kept unchanged.
    public enum Card: Equatable, Sendable {
        /// Every card number in it is a public test number.
        case publicTest
        case other
        /// No card number is in it, neither in a data object nor in an answer that cannot be read.
        case unknown
    }

    public static func card(in transcript: Transcript) -> Card {
        let numbers = CardDataReplacement(transcript).originals
        guard numbers.isEmpty else {
            return numbers.allSatisfy { TestAccount.publicNumbers.contains($0) } ? .publicTest : .other
        }
        let isTest = transcript.steps.contains { step in
            guard case .exchanged(_, .response(let response)) = step else { return false }
            let text = Hex.string(response.data)
            return TestAccount.publicNumbers.contains { TestAccount.traces(of: $0).contains { text.contains($0) } }
        }
        return isTest ? .publicTest : .unknown
    }
}

/// Why a transcript cannot be made safe.
public enum SubstitutionError: Error, Equatable, Sendable {
    /// The card number stands somewhere outside the data objects that hold it.
    case numberLeft
}

extension SubstitutionError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .numberLeft: "the card number stands in the header or in a command, where nothing can replace it"
        }
    }
}
