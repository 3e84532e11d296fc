// SPDX-License-Identifier: Apache-2.0
import CardBytes
public import EMV
public import ReaderCore

/// A transcript played again to Entry Point: time, random numbers and answers are the recorded ones, so that the same
/// terminal configuration always gives the same run.
public struct ReplayRun: Sendable {
    /// An expectation of the header and what came of it.
    public struct Check: Equatable, Sendable, Encodable {
        public let key: String
        public let expected: String
        public let actual: String

        public var isMet: Bool { expected == actual }
    }

    public let trace: TapTrace
    /// The first command that differs from the recorded one.
    public let mismatch: ReplayMismatch?
    /// Recorded steps that nobody asked for.
    public let unusedSteps: Int
    public let checks: [Check]

    /// Every command was the recorded one, and every expectation of the header was met.
    public var isAsRecorded: Bool { mismatch == nil && checks.allSatisfy(\.isMet) }

    /// - Parameter authentication: used unless the header notes the result of the time.
    /// - Throws: `TranscriptHeaderError` for a header that a replay cannot use.
    public init(
        _ transcript: Transcript, configuration: TerminalConfiguration, authentication: OfflineAuthentication,
        kernels: KernelSet = .standard
    ) throws(TranscriptHeaderError) {
        let header = try TranscriptHeader(transcript)
        let reader = ReplayReader(transcript)
        let start = TapInstant(nanoseconds: 0)
        trace = TapTrace(
            on: reader, configuration: configuration, transaction: header.transaction,
            unpredictableNumbers: .fixed(header.unpredictableNumbers),
            authentication: header.authentication?.replayed ?? authentication, kernels: kernels,
            deadlines: TapDeadlines(card: start), clock: { start }, pause: { _ in },
            continues: { reader.remainingSteps > 0 && reader.mismatch == nil })
        mismatch = reader.mismatch
        unusedSteps = reader.remainingSteps
        let outcome = trace.outcome
        checks = header.expectations.map { kind, expected in
            Check(key: kind.rawValue, expected: expected, actual: ReplayRun.actual(kind, outcome))
        }
    }

    private static func actual(_ kind: TranscriptHeader.Expectation, _ final: FinalOutcome) -> String {
        switch kind {
        case .outcome: "\(final.outcome.status)"
        case .kernel: final.application.map { "C\(Hex.string(Tag($0.kernel.rawValue).bytes).trimmedZeros)" } ?? "none"
        case .cvm: final.outcome.cvm.map { "\($0)" } ?? "none"
        }
    }
}

extension String {
    fileprivate var trimmedZeros: String { String(drop { $0 == "0" }) }
}
