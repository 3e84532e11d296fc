// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Answers from a transcript, to the byte. The first deviation is kept in `mismatch`; from then on every command is
/// answered by `.cardLost`, so that a machine ends instead of going on with answers that do not belong to it.
public final class ReplayReader: CardReader {
    public let identity: ReaderIdentity
    public private(set) var mismatch: ReplayMismatch?
    private let transcript: Transcript
    private var next = 0

    /// - Parameter transcript: one without any activation is played to a card of which nothing else is known.
    public init(_ transcript: Transcript) {
        self.transcript = transcript
        identity = ReaderIdentity(
            name: transcript["source"] ?? "transcript", model: transcript["reader"] ?? "transcript", driver: .replay)
    }

    /// Steps that nobody has asked for yet, releases not counted; 0 after a complete replay.
    public var remainingSteps: Int { transcript.steps.dropFirst(next).count { $0 != .released } }

    public func activate(
        until deadline: TapInstant, cancellation: TapCancellation
    ) throws(ReaderError) -> CardPresence {
        guard !cancellation.isCancelled else { throw .cancelled }
        skipReleases()
        switch step {
        case .activated(let card):
            next += 1
            return .card(card)
        case .collided:
            next += 1
            return .collision
        case .emptied:
            next += 1
            return .emptied
        case .exchanged where next == 0:
            return .card(CardActivation())
        case nil where mismatch == nil:
            // No further card was presented while the transcript was taken.
            throw .timedOut
        case .exchanged, .released, nil:
            note(.activate)
            throw .cardLost
        }
    }

    public func transmit(_ command: CommandAPDU, until deadline: TapInstant) throws(ReaderError) -> ResponseAPDU {
        guard mismatch == nil, case .exchanged(let expected, let answer) = step, expected == command else {
            note(.transmit(command))
            throw .cardLost
        }
        next += 1
        switch answer {
        case .response(let response): return response
        case .cardLost: throw .cardLost
        case .timedOut: throw .timedOut
        case .detached: throw .detached
        }
    }

    public func release() { skipReleases() }

    public func waitForRemoval(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) {
        guard !cancellation.isCancelled else { throw .cancelled }
    }

    public func check() {}

    public func show(_ feedback: ReaderFeedback) {}

    public func close() {}

    private var step: Transcript.Step? { next < transcript.steps.count ? transcript.steps[next] : nil }

    private func skipReleases() {
        while step == .released { next += 1 }
    }

    private func note(_ call: ReplayMismatch.Call) {
        guard mismatch == nil else { return }
        mismatch = ReplayMismatch(step: next, expected: step, actual: call)
    }
}
