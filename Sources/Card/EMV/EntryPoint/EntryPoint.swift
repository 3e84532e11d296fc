// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Entry Point: pre-processing, protocol activation, combination selection, kernel activation and outcome processing
/// (EMV Contactless Book B), as a machine without I/O.
///
/// An outcome with a start point (`FinalOutcome.wantsRestart`) may be continued: do the terminal's part, hand over the
/// issuer's answer with `provide(_:)` where there is one, and call `start(now:)` again.
///
/// It has a stored property for whatever one of its steps leaves to a later one: a machine without I/O has nowhere else to
/// keep it.
public struct EntryPoint: TapMachine, ~Copyable {
    public typealias Signal = UIRequest
    public typealias Outcome = FinalOutcome

    enum State {
        case idle
        case awaitingCard(collision: Bool)
        case selectingDirectory
        case sendingPOIInformation
        case selectingApplication
        case runningKernel
        case finished
    }

    let configuration: TerminalConfiguration
    let transaction: Transaction
    let authentication: OfflineAuthentication
    let kernels: KernelSet
    var numbers: UnpredictableNumbers
    var state = State.idle
    /// Where the next `start` goes in.
    var nextStart: StartPoint
    let firstStart: StartPoint
    /// Where the pass that goes on now began.
    var passStart: StartPoint
    /// Whether the selected application is the one that an issuer's answer belongs to; `nil` where none waits.
    var isSameCard: (@Sendable (ResponseAPDU) -> Bool)?
    /// Indicators by combination, only for those of this transaction type whose kernel exists.
    var indicators: [(index: Int, value: PreProcessingIndicators)] = []
    /// The candidates still to be tried, the selected one first.
    var candidates: [Candidate] = []
    var kernel: (any Kernel)?
    var application: SelectedApplication?
    var selection: ResponseAPDU?
    /// A kernel asked for a restart of this transaction.
    var isRestart = false
    var restartMessage: UIRequest?
    var fieldOffMilliseconds: UInt64 = 0
    var onlineResponse: OnlineResponse?
    /// Transactions torn at earlier taps. Keep it from tap to tap where a kernel is configured to recover them.
    public var tornTransactions: [TornTransaction]
    /// Wrong answers in kernel 2's mag-stripe mode in a row, 0…5. Keep it from tap to tap where that mode is on.
    public var failedMagStripeReads: UInt8 = 0
    /// Answers a kernel's questions to the terminal while the card waits; without one every question times out.
    public var dataExchange: @Sendable (DataExchange) -> TerminalAnswer = { _ in .timedOut }
    private var preselected: PreselectedApplication?

    /// - Parameters:
    ///   - start: `.a` for a new amount; `.b` where the amount is fixed and pre-processing was left out; `.d` with
    ///     `preselected`.
    ///   - preselected: the application that the terminal itself selected on the card in the field; used once.
    public init(
        configuration: TerminalConfiguration, transaction: Transaction, unpredictableNumbers: UnpredictableNumbers,
        authentication: OfflineAuthentication = .unavailable, kernels: KernelSet = .standard,
        startingAt start: StartPoint = .a, preselected: PreselectedApplication? = nil,
        tornTransactions: [TornTransaction] = []
    ) {
        self.configuration = configuration
        self.transaction = transaction
        self.authentication = authentication
        self.kernels = kernels
        self.tornTransactions = tornTransactions
        self.preselected = preselected
        numbers = unpredictableNumbers
        nextStart = start
        firstStart = start
        passStart = start
    }

    /// Hands over what the issuer answered to an online request, before the restart that the outcome asked for.
    public mutating func provide(_ response: OnlineResponse) { onlineResponse = response }

    public mutating func start(now: TapInstant) -> Step {
        if case .finished = state, !isRestart { beginAnew() }
        passStart = nextStart
        switch nextStart {
        case .a: return preProcess()
        case .b: return enterStartB(signals: [])
        case .c: return selectApplication(signals: restartSignals, now: now)
        case .d:
            guard let preselected else { return activateKernel(signals: restartSignals, now: now) }
            self.preselected = nil
            return activate(preselected, now: now)
        }
    }

    public mutating func activated(_ card: CardActivation, now: TapInstant) -> Step {
        guard case .awaitingCard(let collision) = state else { return outOfOrder() }
        // Requirement 3.2.1.5: the collision is over.
        let signals = collision ? [UIRequest(.presentOneCardOnly, .readyToRead)] : []
        if isRestart, let onlineResponse, onlineResponse.hasCardData, !candidates.isEmpty {
            // The card is wanted for its issuer update only: the application is the one selected before. Unverified.
            return selectApplication(signals: signals, now: now)
        }
        state = .selectingDirectory
        return transmit(SelectCommand.directory, signals)
    }

    private var restartSignals: [UIRequest] {
        mutating get { isRestart ? [invitation()] : [] }
    }

    /// Requirement 3.2.1.5: the collision is over.
    public mutating func fieldEmptied(now: TapInstant) -> Step {
        guard case .awaitingCard(let collision) = state else { return outOfOrder() }
        state = .awaitingCard(collision: false)
        let signals = collision ? [UIRequest(.presentOneCardOnly, .readyToRead)] : []
        return Step(.activate(fieldOffMilliseconds: 0), signals: signals)
    }

    public mutating func collided(now: TapInstant) -> Step {
        guard case .awaitingCard(let collision) = state else { return outOfOrder() }
        state = .awaitingCard(collision: true)
        let signals = collision ? [] : [UIRequest(.presentOneCardOnly, .processingError)]
        return Step(.activate(fieldOffMilliseconds: 0), signals: signals)
    }

    public mutating func received(_ response: ResponseAPDU, now: TapInstant) -> Step {
        switch state {
        case .selectingDirectory: return directoryReceived(response, now: now)
        case .sendingPOIInformation: return poiAnswered(response, now: now)
        case .selectingApplication: return applicationSelected(response, now: now)
        case .runningKernel:
            guard let step = kernel?.received(response, now: now) else { return outOfOrder() }
            return take(step, now: now)
        case .idle, .awaitingCard, .finished: return outOfOrder()
        }
    }

    public mutating func cardLost(now: TapInstant) -> Step { cardLost(.timeOut, now: now) }

    public mutating func cardLost(_ loss: CardLoss, now: TapInstant) -> Step {
        switch state {
        case .selectingDirectory, .sendingPOIInformation, .selectingApplication:
            // Requirement 3.3.3.7: an error before a kernel is active shows nothing but the invitation again.
            return enterStartB(signals: [])
        case .runningKernel:
            guard let step = kernel?.cardLost(loss, now: now) else { return outOfOrder() }
            return take(step, now: now)
        case .idle, .awaitingCard, .finished: return outOfOrder()
        }
    }

    /// Whether a wish to stop comes too late, so that the card's answer has to be awaited.
    public var ignoresStop: Bool {
        guard case .runningKernel = state else { return false }
        return kernel?.ignoresStop ?? false
    }

    public mutating func stop(now: TapInstant) -> FinalOutcome {
        let isRunning = if case .runningKernel = state { true } else { false }
        state = .finished
        isRestart = false
        nextStart = firstStart
        guard isRunning, let outcome = kernel?.stop(now: now) else {
            return FinalOutcome(outcome: EMV.Outcome(.endApplication, error: ErrorIndication(l3: .stop)))
        }
        return FinalOutcome(outcome: outcome, application: application)
    }

    private mutating func beginAnew() {
        state = .idle
        nextStart = firstStart
        indicators = []
        candidates = []
        application = nil
        selection = nil
        kernel = nil
        restartMessage = nil
        fieldOffMilliseconds = 0
        onlineResponse = nil
    }

    /// The driver gave an input that the last action did not ask for.
    mutating func outOfOrder() -> Step {
        finish(EMV.Outcome(.endApplication, error: ErrorIndication(l1: .protocolError)), signals: [])
    }

    func transmit(_ command: CommandAPDU, _ signals: [UIRequest] = []) -> Step {
        Step(.transmit(command), signals: signals)
    }
}
