// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Passes every call to another reader and notes what cards were asked and what they answered.
///
/// The notes are card data in the clear: they stay in memory until the caller takes them, and only the caller
/// writes them anywhere.
public final class RecordingReader: ForwardingReader {
    public let reader: any CardReader
    private var steps: [Transcript.Step] = []
    private var spans: [TranscriptTimes.Span] = []
    private var isActive = false
    private var hasCollided = false
    private let clock: (() -> TapInstant)?
    private var first: TapInstant?

    /// - Parameter clock: notes when each step happened; without it the transcript has no times.
    public init(_ reader: any CardReader, clock: (() -> TapInstant)? = nil) {
        self.reader = reader
        self.clock = clock
    }

    /// What was noted so far, under `header` and the times; forgets it here.
    public func takeTranscript(header: [Transcript.Field] = []) -> Transcript {
        let times = TranscriptTimes(spans: spans).text
        let taken = Transcript(
            header: header + (clock == nil ? [] : [Transcript.Field(key: TranscriptTimes.key, value: times)]),
            steps: steps)
        steps = []
        spans = []
        first = nil
        return taken
    }

    private func note(_ step: Transcript.Step, since begin: TapInstant? = nil) {
        steps.append(step)
        guard let end = clock?() else { return }
        let begin = begin ?? end
        let first = first ?? begin
        self.first = first
        spans.append(
            TranscriptTimes.Span(
                begin: begin.nanoseconds(since: first) / 1_000, end: end.nanoseconds(since: first) / 1_000))
    }

    public func activate(
        until deadline: TapInstant, cancellation: TapCancellation
    ) throws(ReaderError) -> CardPresence {
        let presence = try reader.activate(until: deadline, cancellation: cancellation)
        switch presence {
        case .card(let card):
            note(.activated(card))
            (isActive, hasCollided) = (true, false)
        case .collision:
            note(.collided)
            hasCollided = true
        case .emptied:
            // That a card left is no step of a conversation; that two cards did ends their collision.
            if hasCollided { note(.emptied) }
            hasCollided = false
        // Nothing was said to it, nor by it.
        case .unreadable: break
        }
        return presence
    }

    public func transmit(_ command: CommandAPDU, until deadline: TapInstant) throws(ReaderError) -> ResponseAPDU {
        let begin = clock?()
        do throws(ReaderError) {
            let response = try reader.transmit(command, until: deadline)
            note(.exchanged(command, .response(response)), since: begin)
            return response
        } catch {
            note(.exchanged(command, answer(error)), since: begin)
            throw error
        }
    }

    public func release() {
        reader.release()
        // Releasing without a card is allowed and is no fact about any card.
        if isActive { note(.released) }
        isActive = false
    }

    /// What replay has to repeat: machines see a missing answer, whatever kept it away.
    private func answer(_ error: ReaderError) -> Transcript.Answer {
        switch error {
        case .cardLost, .cancelled: .cardLost
        case .timedOut: .timedOut
        case .detached, .inUse, .serviceUnavailable, .faulty: .detached
        }
    }
}
