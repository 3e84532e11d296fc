import Configuration
import EMV
import Journal
import Loyalty
import ReaderCore
import TapSession
import Wire

/// Turns what happens on a lane into states and events.
struct TapNarration {
    /// What a tap came to.
    enum End {
        case result(PaymentTapResult)
        /// With what the loyalty part found, and nothing follows.
        case passes
        case failed(ErrorCode)
    }

    let id: TransactionID
    let amount: Money
    /// On which it takes place; the first of several until a card decides.
    private(set) var lane: String
    let store: TransactionStore
    /// Failed reads after which there is no other try.
    let retries: Int
    /// Of what the customer reads, BCP 47.
    var language: String?
    /// Called when a card has answered.
    var cardAnswers: @Sendable () -> Void = {}
    private var failedReads = 0
    /// Lanes whose customer has been told that a card may come.
    private var readyLanes: Set<String> = []
    private var isReading = false
    private var hasShownReady = false
    /// The payment part of a combined tap begins like any other: the customer has been told already.
    private var expectsReady = false

    init(id: TransactionID, amount: Money, lane: String, retries: Int = .max, store: TransactionStore) {
        self.id = id
        self.amount = amount
        self.lane = lane
        self.retries = retries
        self.store = store
    }

    /// Tells everything up to the result.
    mutating func untilEnd(_ progress: AsyncStream<TapProgress>) async throws(JournalError) -> End {
        for await step in progress {
            switch step {
            case .waiting(let lane, let step): tell(step, waitingOn: lane)
            case .left(let lane, let error):
                await store.noteTapFailure(lane, ErrorCode(error))
            case .won(let lane):
                self.lane = lane
                hasShownReady = true
            case .cardLeft: publish(.readRemoveCard)
            case .signal(let signal): try await tell(signal)
            case .loyaltySignal(let signal): try await tell(signal)
            case .passes(let outcome): try await take(outcome)
            case .endedWithPasses: return .passes
            case .result(let result): return .result(result)
            case .ended(let error):
                await store.noteTapFailure(lane, ErrorCode(error))
                return .failed(ErrorCode(error))
            }
            if failedReads >= retries { return .failed(.readRetriesExhausted) }
        }
        return .failed(.internalFault)
    }

    private mutating func tellReady(on lane: String) {
        guard readyLanes.insert(lane).inserted else { return askAgain(on: lane) }
        publish(.readReadyForTap, on: lane, amount: amount == .none ? nil : amount)
    }

    /// A lane on which no card has answered yet.
    private mutating func tell(_ step: TapProgress, waitingOn lane: String) {
        switch step {
        case .signal(.show(let request)):
            if request.status == .readyToRead { tellReady(on: lane) }
        case .loyaltySignal(.show(.readyForPass)): tellReady(on: lane)
        case .signal(.collision): askAgain(on: lane)
        case .cardLeft: publish(.readRemoveCard, on: lane)
        case .signal, .loyaltySignal, .passes, .endedWithPasses, .result, .ended, .waiting, .left, .won: break
        }
    }

    /// Tells what comes after the result.
    func rest(_ progress: AsyncStream<TapProgress>) async {
        for await step in progress {
            if case .signal(.show(let request)) = step, request.status == .cardReadSuccessfully {
                publish(.readRemoveCard)
            }
        }
    }

    private mutating func tell(_ signal: TapSignal) async throws(JournalError) {
        switch signal {
        case .cardDetected:
            guard !isReading else { return }
            isReading = true
            cardAnswers()
            var change = StateChange(.reading)
            change.lane = lane
            try await store.change(id, [change])
            publish(.readCardDetected)
        case .collision:
            try await askAgain()
        case .show(let request):
            guard request.status == .readyToRead else { return }
            if expectsReady {
                expectsReady = false
            } else if hasShownReady {
                try await askAgain()
            } else {
                hasShownReady = true
                publish(.readReadyForTap, amount: amount)
            }
        }
    }

    private mutating func tell(_ signal: LoyaltyTapSignal) async throws(JournalError) {
        switch signal {
        case .cardDetected: try await tell(TapSignal.cardDetected)
        case .collision: break
        case .show(.readyForPass):
            hasShownReady = true
            publish(.readReadyForTap, amount: amount == .none ? nil : amount)
        case .show(.reading): break
        case .show(.again(let action)):
            try await waitAgain()
            publish(.readRetry, customerAction: LoyaltyResult.CustomerAction(action))
        }
    }

    private mutating func take(_ outcome: LoyaltyOutcome) async throws(JournalError) {
        await store.note(outcome, of: id)
        expectsReady = true
        guard amount != .none else { return }
        switch outcome.payment {
        case .sameActivation: break
        // Until the card answers again, the payment can be cancelled.
        case .afterFieldReset: try await waitAgain()
        case .afterRemoval:
            try await waitAgain()
            publish(.readRetry, customerAction: .presentAgain)
        }
    }

    private mutating func waitAgain() async throws(JournalError) {
        guard isReading else { return }
        isReading = false
        try await store.change(id, [StateChange(.armed)])
    }

    private mutating func askAgain() async throws(JournalError) {
        // Two cards at a time are no failed read: one of them goes, and it works.
        if isReading { failedReads = await store.countFailedRead(id) }
        try await waitAgain()
        if failedReads < retries { askAgain(on: lane) }
    }

    private func askAgain(on lane: String) {
        publish(.readRetry, on: lane, error: ErrorDetail(.readCardUnreadable, transaction: id))
    }

    private func publish(
        _ name: EventName, on lane: String? = nil, amount: Money? = nil, error: ErrorDetail? = nil,
        customerAction: LoyaltyResult.CustomerAction? = nil
    ) {
        var event = Event(name, lane: lane ?? self.lane)
        event.transaction = id
        event.amount = amount
        event.error = error
        event.customerAction = customerAction
        event.customerText = customerAction?.text(in: language) ?? name.customerText(in: language)
        store.publish(event)
    }
}

extension ErrorCode {
    init(_ error: PaymentTapError) {
        switch error {
        case .reader(let error): self = ErrorCode(error)
        case .recipient, .sealing: self = .envelopeKeyUnusable
        case .incompleteRecord: self = .readCardUnreadable
        }
    }

    init(_ error: ReaderError) {
        switch error {
        case .cardLost: self = .readCardUnreadable
        case .timedOut: self = .readTimedOut
        case .cancelled: self = .readCancelled
        case .detached: self = .readerDetached
        case .inUse: self = .readerInUse
        case .serviceUnavailable(.unknownReader): self = .readerDetached
        case .serviceUnavailable(.unsuitableReader): self = .readerModelUnsupported
        case .serviceUnavailable(.pcscdNotRunning), .serviceUnavailable(.accessDenied),
            .serviceUnavailable(.workerMissing):
            self = .readerServiceUnavailable
        case .faulty: self = .readerFaulty
        }
    }

    /// Why a reader could not be opened: no card is part of that, and nobody cancels it.
    init(opening error: ReaderError) {
        switch error {
        case .cardLost, .timedOut, .cancelled: self = .readerFaulty
        case .detached, .inUse, .serviceUnavailable, .faulty: self = ErrorCode(error)
        }
    }

    /// Why a kernel gave up without a result.
    init(_ indication: ErrorIndication) {
        switch indication.l2 {
        case .emptyCandidateList, .noPPSE, .magStripeNotSupported: self = .readCardUnsupported
        case .ok, .cardDataMissing, .camFailed, .statusBytes, .parsingError, .maxLimitExceeded, .cardDataError,
            .ppseFault, .idsReadError, .idsWriteError, .idsDataError, .idsNoMatchingAC, .terminalDataError,
            .decryptionFailed, .iadMACFailed, .edaMACFailed:
            self = .readCardUnreadable
        }
    }
}

extension MaskedCard {
    init?(_ account: MaskedAccount) {
        self.init(scheme: account.scheme, last4: account.lastFour, masked: account.masked)
    }
}

extension AuthorizationRequest {
    /// - Returns: `nil` where the tap left nothing to authorise.
    init?(_ result: PaymentTapResult, _ live: LiveTransaction, _ merchant: Configuration.Terminal) {
        guard let read = result.read, let card = MaskedCard(read.account) else { return nil }
        let cvm: CVM =
            switch result.cvm {
            case .noCVM: .noCVM
            case .obtainSignature: .signature
            case .confirmationCodeVerified: .consumerDevice
            // There is no PIN pad: the issuer decides without one.
            case .onlinePIN, nil: .none
            }
        self.init(
            id: live.transaction.id, mode: live.transaction.mode, type: live.kind, amount: live.transaction.amount,
            entryMode: result.entryMode == .contactlessEMV ? .contactlessEMV : .contactlessMagstripe, cvm: cvm,
            emv: read.clearTags.hex, card: card, envelope: read.envelope,
            terminal: Terminal(
                id: merchant.id, merchant: merchant.merchant, capabilities: ["CONTACTLESS_EMV"]),
            order: live.transaction.order, offline: result.status == .approved)
        description = live.transaction.details?.description
    }
}
