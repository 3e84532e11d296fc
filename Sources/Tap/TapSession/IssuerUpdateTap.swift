// SPDX-License-Identifier: Apache-2.0
public import CardBytes
public import EMV
public import Envelope
public import ReaderCore

/// The second presentation of a card that wants the issuer's answer (issuer authentication data 91, scripts 71 and 72).
///
/// The payment is decided before it and whatever happens here changes nothing of it. Only the card that was read gets the
/// answer: it is known by a keyed digest of what its application says of itself when it is selected. Its number cannot be
/// read again without another cryptogram, which would make the issuer's answer worthless; a card of the same kind that is
/// taken for it refuses the issuer's cryptogram, which is over the first card's.
public struct IssuerUpdateTap: Equatable, Sendable {
    /// How long the card is waited for, in seconds, unless the caller says otherwise.
    public static let seconds: UInt64 = 10

    private let configuration: TerminalConfiguration
    private let transaction: Transaction
    private let application: SelectedApplication
    private let message: UIRequest?
    /// Digest of the answer to SELECT.
    private let mark: [UInt8]

    /// - Parameter marker: made the digest and makes it again; `nil` results without one.
    init?(
        _ final: FinalOutcome, _ configuration: TerminalConfiguration, _ transaction: Transaction,
        _ marker: CardFingerprinter?
    ) {
        guard final.outcome.status == .onlineRequest, final.wantsRestart, final.outcome.onlineResponseData != nil,
            var application = final.application, let marker
        else { return nil }
        mark = marker.mark(of: application.fci)
        application.fci = []
        self.application = application
        self.configuration = configuration
        self.transaction = transaction
        message = final.outcome.uiOnRestart
    }

    /// Whether the card is to be presented again for `response`: it has something for the card, all of it can be
    /// brought there.
    public func isDue(after response: OnlineResponse) -> Bool {
        // A kernel that wants any answer gets none without data for the card either: Entry Point would begin a payment of its
        // own.
        response.hasCardData && response.isWellFormed
    }

    /// Waits for the card and brings the answer to it. Runs on the reader's own thread, which it blocks; the reader is
    /// released at the end.
    ///
    /// - Parameters:
    ///   - marker: the one of the `PaymentTap`.
    ///   - deadlines: until when the card must have been presented, and how long a command may take.
    public func run(
        _ response: OnlineResponse, on reader: any CardReader, marker: CardFingerprinter, deadlines: TapDeadlines,
        cancellation: TapCancellation, unpredictableNumbers: UnpredictableNumbers = .system,
        clock: @escaping () -> TapInstant = monotonicNow, onSignal: @escaping (TapSignal) -> Void
    ) -> IssuerUpdateOutcome {
        guard isDue(after: response) else { return .skipped }
        defer { reader.release() }
        let display = TapDisplay(reader: reader, clock: clock, onSignal: onSignal)
        let observed = display.observed()
        let mark = mark
        var machine = EntryPoint(
            resuming: application, with: response, message: message, configuration: configuration,
            transaction: transaction, unpredictableNumbers: unpredictableNumbers,
            isSameCard: { marker.mark(of: $0.data) == mark })
        do throws(ReaderError) {
            let final = try drive(
                &machine, on: observed, deadlines: deadlines, cancellation: cancellation, clock: clock
            ) { display.show($0) }
            let outcome = IssuerUpdateOutcome(final.outcome, of: response.commandCount)
            display.settle(outcome.state == .done ? .onlineRequest : .endApplication, isSealed: false)
            return outcome
        } catch {
            reader.show(.idle)
            return .skipped
        }
    }
}

extension IssuerUpdateTap: CustomStringConvertible, CustomReflectable {
    public var description: String { "issuer update of \(application)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What the second presentation came to.
public struct IssuerUpdateOutcome: Equatable, Sendable {
    public enum State: String, Sendable, CaseIterable {
        /// The card has taken every command.
        case done
        /// The card left, refused a command, or was another card.
        case failed
        /// No card came, or there was nothing to bring.
        case skipped
    }

    public let state: State
    /// Issuer Script Results (9F5B): the card's status words in the order of the commands.
    public let scriptResults: [UInt8]

    static let skipped = IssuerUpdateOutcome(state: .skipped, scriptResults: [])

    private init(state: State, scriptResults: [UInt8]) {
        self.state = state
        self.scriptResults = scriptResults
    }

    /// - Parameter count: of the commands that the card was to get.
    init(_ outcome: Outcome, of count: Int) {
        let results = outcome.discretionaryData?.value(of: 0x9F5B) ?? []
        let isTaken = stride(from: 0, to: results.count - 1, by: 2).allSatisfy { results[$0] == 0x90 }
        scriptResults = results
        state = isTaken && results.count == 2 * count ? .done : .failed
    }
}
