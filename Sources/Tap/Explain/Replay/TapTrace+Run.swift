// SPDX-License-Identifier: Apache-2.0
public import CardBytes
public import EMV
public import ReaderCore
import Synchronization

extension TapTrace {
    /// Runs Entry Point on a reader and notes everything.
    ///
    /// - Parameters:
    ///   - pause: leaves the field off for so many milliseconds; a replay need not wait.
    ///   - continues: whether a kernel's wish for a second tap (End Application with a start point) is followed.
    ///   - onSignal: what a person at the reader is to see, while it happens.
    public init(
        on reader: any CardReader, configuration: TerminalConfiguration, transaction: Transaction,
        unpredictableNumbers: UnpredictableNumbers, authentication: OfflineAuthentication,
        kernels: KernelSet = .standard, deadlines: TapDeadlines, cancellation: TapCancellation = TapCancellation(),
        clock: () -> TapInstant = monotonicNow, pause: (UInt64) -> Void = leaveFieldOff,
        continues: () -> Bool = { false },
        onSignal: (UIRequest) -> Void = { _ in }
    ) {
        let notes = TraceNotes()
        let noting = NotingReader(reader, notes)
        var entryPoint = EntryPoint(
            configuration: configuration, transaction: transaction, unpredictableNumbers: unpredictableNumbers,
            authentication: notes.observing(authentication), kernels: kernels)
        var outcome: FinalOutcome
        repeat {
            do throws(ReaderError) {
                outcome = try drive(
                    &entryPoint, on: noting, deadlines: deadlines, cancellation: cancellation, clock: clock,
                    pause: { milliseconds in
                        notes.add(.fieldOff(milliseconds: milliseconds))
                        pause(milliseconds)
                    },
                    onSignal: { request in
                        notes.add(.signal(request))
                        onSignal(request)
                    })
            } catch {
                notes.add(.interrupted(error))
                outcome = entryPoint.stop(now: clock())
            }
            notes.add(.finished(outcome))
        } while outcome.wantsRestart && outcome.outcome.status == .endApplication && continues()
        self.init(
            configuration: configuration, transaction: transaction, events: notes.taken, outcome: outcome)
    }
}

/// Events in their order, from the reader, the machine and the verifier.
private final class TraceNotes: Sendable {
    private let events = Mutex<[TapTrace.Event]>([])

    var taken: [TapTrace.Event] { events.withLock { $0 } }

    func add(_ event: TapTrace.Event) { events.withLock { $0.append(event) } }

    func observing(_ authentication: OfflineAuthentication) -> OfflineAuthentication {
        // A copy: without its secure channel kernel 8 would end before its first command.
        var observed = authentication
        observed.verify = { request in
            let result = authentication.verify(request)
            self.add(.authenticated(TapTrace.Authentication(request, result)))
            return result
        }
        return observed
    }
}

extension TapTrace.Authentication {
    fileprivate init(_ request: AuthenticationRequest, _ result: AuthenticationResult) {
        method =
            switch request.method {
            case .sda: .sda
            case .dda: .dda
            case .cda: .cda
            }
        caIndex = request.caIndex
        signedBytes = request.staticData.count
        failure =
            switch result {
            case .verified: nil
            case .failed(let failure): failure
            }
    }
}

/// Passes everything on to another reader and notes it.
private final class NotingReader: ForwardingReader {
    /// A phone that never stops asking for another tap must not hold the reader.
    private static let mostTaps = 10

    let reader: any CardReader
    private let notes: TraceNotes
    private var taps = 0

    init(_ reader: any CardReader, _ notes: TraceNotes) {
        self.reader = reader
        self.notes = notes
    }

    func activate(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) -> CardPresence {
        guard taps < NotingReader.mostTaps else {
            notes.add(.tapLimit(taps))
            throw .timedOut
        }
        taps += 1
        let presence = try reader.activate(until: deadline, cancellation: cancellation)
        switch presence {
        case .card(let card): notes.add(.activated(card))
        case .collision: notes.add(.collided)
        case .emptied: notes.add(.emptied)
        case .unreadable: break
        }
        return presence
    }

    func transmit(_ command: CommandAPDU, until deadline: TapInstant) throws(ReaderError) -> ResponseAPDU {
        do throws(ReaderError) {
            let response = try reader.transmit(command, until: deadline)
            notes.add(.exchanged(command, .response(response)))
            return response
        } catch {
            notes.add(.exchanged(command, error == .timedOut ? .timedOut : .cardLost))
            throw error
        }
    }
}
