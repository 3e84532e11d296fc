// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Passes every call to another reader and notes what cards were asked and what they answered.
///
/// The notes are card data in the clear: they stay in memory until the caller takes them, and only the caller
/// writes them anywhere.
public final class RecordingReader: ForwardingReader {
    public let reader: any CardReader
    private var steps: [Transcript.Step] = []
    private var isActive = false

    public init(_ reader: any CardReader) { self.reader = reader }

    /// What was noted so far, under `header`; forgets it here.
    public func takeTranscript(header: [Transcript.Field] = []) -> Transcript {
        let taken = steps
        steps = []
        return Transcript(header: header, steps: taken)
    }

    public func activate(
        until deadline: TapInstant, cancellation: TapCancellation
    ) throws(ReaderError) -> CardPresence {
        let presence = try reader.activate(until: deadline, cancellation: cancellation)
        switch presence {
        case .card(let card):
            steps.append(.activated(card))
            isActive = true
        case .collision: steps.append(.collided)
        }
        return presence
    }

    public func transmit(_ command: CommandAPDU, until deadline: TapInstant) throws(ReaderError) -> ResponseAPDU {
        do throws(ReaderError) {
            let response = try reader.transmit(command, until: deadline)
            steps.append(.exchanged(command, .response(response)))
            return response
        } catch {
            steps.append(.exchanged(command, answer(error)))
            throw error
        }
    }

    public func release() {
        reader.release()
        // Releasing without a card is allowed and is no fact about any card.
        if isActive { steps.append(.released) }
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
