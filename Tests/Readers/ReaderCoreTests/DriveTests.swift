// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ReaderCore
import Testing

/// Sends SELECT until an answer comes, and tells what happened on the way.
private struct PatientMachine: TapMachine {
    typealias Signal = String
    typealias Outcome = [String]
    private var events: [String] = []
    private let fieldOff: UInt64

    init(fieldOffMilliseconds: UInt64 = 0) { fieldOff = fieldOffMilliseconds }

    mutating func start(now: TapInstant) -> Step { next("start", .activate(fieldOffMilliseconds: 0)) }
    mutating func activated(_ card: CardActivation, now: TapInstant) -> Step { next("activated", select) }
    mutating func collided(now: TapInstant) -> Step { next("collided", .activate(fieldOffMilliseconds: fieldOff)) }
    mutating func cardLost(now: TapInstant) -> Step { next("lost", .activate(fieldOffMilliseconds: fieldOff)) }
    mutating func stop(now: TapInstant) -> [String] { events }

    mutating func received(_ response: ResponseAPDU, now: TapInstant) -> Step {
        events.append("received \(response.status)")
        return Step(.finished(events), signals: ["done"])
    }

    private var select: Step.Action {
        guard let command = try? CommandAPDU.select([0xAA]) else { return .finished(["no command"]) }
        return .transmit(command)
    }

    private mutating func next(_ event: String, _ action: Step.Action) -> Step {
        events.append(event)
        return Step(action, signals: ["signal \(event)"])
    }
}

@Suite struct DriveTests {
    @Test func `a machine is driven through collision and loss to its outcome, its signals shown in order`() throws {
        let text = "+ collision\n+\n> 00A4040001AA00\n! timedOut\n-\n+\n> 00A4040001AA00\n< 6A82"
        var machine = PatientMachine(fieldOffMilliseconds: 1)
        var signals: [String] = []
        let outcome = try run(&machine, text) { signals.append($0) }
        #expect(outcome == ["start", "collided", "activated", "lost", "activated", "received 6A82"])
        #expect(
            signals == [
                "signal start", "signal collided", "signal activated", "signal lost", "signal activated", "done",
            ])
    }

    @Test func `what keeps a card from coming ends the drive`() {
        var machine = PatientMachine()
        #expect(throws: ReaderError.timedOut) { _ = try run(&machine, "+ collision") { _ in } }
    }

    @Test func `a wish to stop ends the wait for a card`() throws {
        var machine = PatientMachine()
        let cancellation = TapCancellation()
        cancellation.cancel()
        #expect(throws: ReaderError.cancelled) { _ = try run(&machine, "+", cancellation) { _ in } }
    }

    private func run(
        _ machine: inout PatientMachine, _ text: String, _ cancellation: TapCancellation = TapCancellation(),
        onSignal: (String) -> Void
    ) throws -> [String] {
        let reader = ReplayReader(try Transcript(parsing: text))
        return try drive(
            &machine, on: reader, deadlines: TapDeadlines(card: .distant), cancellation: cancellation,
            onSignal: onSignal)
    }
}

@Suite struct TapCancellationTests {
    @Test func `a waker is called once the wish comes, at once where it came before, and not after the wait`() {
        let cancellation = TapCancellation()
        let calls = Counter()
        cancellation.withWaker({ calls.add() }) {
            #expect(calls.value == 0)
            cancellation.cancel()
            #expect(calls.value == 1)
        }
        cancellation.cancel()
        #expect(calls.value == 1)
        cancellation.withWaker({ calls.add() }) { #expect(calls.value == 2) }
        #expect(cancellation.isCancelled)
    }
}
