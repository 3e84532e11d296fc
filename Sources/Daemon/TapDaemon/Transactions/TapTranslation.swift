// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Configuration
import EMV
import Loyalty
import POSAPI
import PSPAPI
import PaymentValues
import ReaderCore
import StoreAndForward
import TapSession
import Transactions

/// What happens on lanes and cards, in the words of the transaction's machine.
struct TapTranslation {
    private let running: LiveTransaction
    /// On which the card is, or the first of several until one decides.
    private(set) var lane: String
    /// What the loyalty part came to on lanes where no card had answered alone.
    private var early: [String: LoyaltyOutcome] = [:]

    init(_ running: LiveTransaction, first lane: String) {
        self.running = running
        self.lane = lane
    }

    /// The passes that a step tells of.
    mutating func passes(in step: TapProgress) -> LoyaltyOutcome? {
        switch step {
        case .passes(let outcome): return outcome
        case .waiting(let lane, .passes(let outcome)):
            early[lane] = outcome
            return nil
        case .won(let lane): return early[lane]
        case .waiting, .left, .cardLeft, .signal, .loyaltySignal, .endedWithPasses, .result, .ended: return nil
        }
    }

    func input(_ outcome: LoyaltyOutcome, _ statuses: LoyaltyResult) -> Input {
        let payment: PaymentAfterPasses =
            switch outcome.payment {
            case .sameActivation: .sameActivation
            case .afterFieldReset: .afterFieldReset
            case .afterRemoval: .afterRemoval
            }
        return .passes(statuses, hasPass: outcome.hasPass, then: payment)
    }

    mutating func inputs(of step: TapProgress) -> [Input] {
        switch step {
        case .waiting(let lane, let step): return waiting(step, on: lane)
        case .won(let lane):
            self.lane = lane
            return [.won(lane: lane)]
        case .cardLeft: return [.cardLeft(lane: lane)]
        case .signal(let signal): return inputs(of: signal)
        case .loyaltySignal(let signal): return inputs(of: signal)
        case .endedWithPasses: return [.endedWithPasses]
        case .result(let result): return [input(of: result)]
        case .ended(let error): return [.ended(ErrorCode(error), withoutApplication: false)]
        case .left, .passes: return []
        }
    }

    /// On a lane where no card has answered yet.
    private func waiting(_ step: TapProgress, on lane: String) -> [Input] {
        switch step {
        case .signal(.show(let request)) where request.status == .readyToRead: [.ready(lane: lane)]
        case .loyaltySignal(.show(.readyForPass)): [.ready(lane: lane)]
        case .signal(.collision), .loyaltySignal(.collision): [.collision(lane: lane)]
        case .signal(.targetUnsupported): [.targetUnsupported(lane: lane)]
        case .signal(.unreadable), .loyaltySignal(.unreadable): [.unreadable(lane: lane)]
        case .cardLeft: [.cardLeft(lane: lane)]
        case .signal, .loyaltySignal, .passes, .endedWithPasses, .result, .ended, .waiting, .left, .won: []
        }
    }

    private func inputs(of signal: TapSignal) -> [Input] {
        switch signal {
        case .cardAwaited: [.cardAwaited]
        case .cardDetected: [.cardDetected]
        case .presentationFailed: [.presentationFailed]
        case .targetUnsupported: [.targetUnsupported(lane: lane)]
        case .collision: [.collision(lane: lane)]
        case .unreadable: [.unreadable(lane: lane)]
        case .show(let request) where request.status == .cardReadSuccessfully: [.cardMayGo]
        case .show(let request): CardholderMessage(request.message).map { [.message($0)] } ?? []
        }
    }

    private func inputs(of signal: LoyaltyTapSignal) -> [Input] {
        switch signal {
        case .cardDetected: [.cardDetected]
        case .collision: [.collision(lane: lane)]
        case .unreadable: [.unreadable(lane: lane)]
        case .show(.again(let action)): [.passAgain(LoyaltyResult.CustomerAction(action))]
        case .show(.readyForPass), .show(.reading): []
        }
    }

    /// What the card said, and what follows from it.
    private func input(of result: PaymentTapResult) -> Input {
        switch result.status {
        case .onlineRequest, .approved,
            .endApplication where result.read != nil:
            guard let request = AuthorizationRequest(result, running) else {
                return .ended(.readCardUnreadable, withoutApplication: false)
            }
            var read = Read(
                request: request, sale: OfflineSale(request, result, running), chip: ChipData(result), at: .now)
            if let account = result.read?.pinAccount, let place = running.pinPlaces[lane] {
                if request.cvm == .onlinePIN { read.pin = place.demand(account) }
                read.spares = place.spares(account)
            }
            return .read(read)
        case .declined:
            return .declinedOffline(
                result.read.flatMap { MaskedCard($0.account) }, ChipData(result),
                result.unsealed == .accountDenied ? .notAcceptedHere : .cardDeclined,
                read: result.isUnverified ? AuthorizationRequest(result, running).map(KeptRead.init) : nil)
        case .tryAnotherInterface: return .ended(.readOtherInterface, withoutApplication: false)
        case .endApplication:
            return .ended(
                ErrorCode(result.error), withoutApplication: result.kernel == nil && running.terms.loyalty != nil,
                unsupported: UnsupportedKernel(result.choice))
        case .selectNext, .tryAgain: return .ended(ErrorCode(result.error), withoutApplication: false)
        }
    }
}

extension CardholderMessage {
    /// - Returns: `nil` for what only clears a display.
    init?(_ message: UIRequest.Message) {
        switch message {
        case .approved: self = .approved
        case .notAuthorised: self = .notAuthorised
        case .enterPIN: self = .enterPIN
        case .processingError: self = .processingError
        case .removeCard: self = .removeCard
        case .welcome: self = .welcome
        case .presentCard: self = .presentCard
        case .processing: self = .processing
        case .cardReadOK: self = .cardReadOK
        case .insertOrSwipe: self = .insertOrSwipe
        case .presentOneCardOnly: self = .presentOneCardOnly
        case .approvedPleaseSign: self = .approvedPleaseSign
        case .authorising: self = .authorising
        case .insertSwipeOrTryAnotherCard: self = .insertSwipeOrTryAnotherCard
        case .insertCard: self = .insertCard
        case .seePhone: self = .seePhone
        case .presentCardAgain: self = .presentCardAgain
        case .clearDisplay, .none: return nil
        }
    }
}

extension UnsupportedKernel {
    /// - Returns: `nil` where an application was taken, or the card lists none.
    init?(_ choice: ApplicationChoice) {
        guard case .unsupported(let application) = choice else { return nil }
        self.init(
            scheme: application.scheme, aid: Hex.string(application.aid),
            kernel: application.kernel.map { Hex.string(Tag($0.rawValue).bytes) })
    }
}

extension MaskedCard {
    init?(_ account: MaskedAccount) {
        self.init(scheme: account.scheme, last4: account.lastFour, masked: account.masked)
    }
}

extension AuthorizationRequest {
    /// - Returns: `nil` where the tap left nothing to authorise.
    init?(_ result: PaymentTapResult, _ running: LiveTransaction) {
        guard let read = result.read, let card = MaskedCard(read.account) else { return nil }
        let cvm: CVM =
            switch result.cvm {
            case .noCVM: .noCVM
            case .obtainSignature: .signature
            case .confirmationCodeVerified: .consumerDevice
            // Without a PIN device the issuer decides without a PIN.
            case .onlinePIN: read.pinAccount == nil ? .none : .onlinePIN
            case nil: .none
            }
        let (transaction, merchant) = (running.transaction, running.terms.terminal)
        self.init(
            id: transaction.id, mode: transaction.mode, type: running.machine.demand.kind, amount: transaction.amount,
            entryMode: result.entryMode == .contactlessEMV ? .contactlessEMV : .contactlessMagstripe, cvm: cvm,
            emv: read.clearTags.hex, card: card, envelope: read.envelope,
            terminal: Terminal(
                id: merchant.id, merchant: merchant.merchant, capabilities: ["CONTACTLESS_EMV"]),
            order: transaction.order, offline: result.status == .approved, retryOf: transaction.retryOf)
        description = transaction.details?.description
        if let wish = transaction.details?.capture, wish.before != nil || wish.incremental != nil {
            hold = Hold(before: wish.before, incremental: wish.incremental)
        }
        agreement = running.terms.agreement
    }
}

extension OfflineSale {
    fileprivate init(_ request: AuthorizationRequest, _ result: PaymentTapResult, _ running: LiveTransaction) {
        let validity: Validity =
            switch result.read?.validity {
            case .valid: .valid
            case .expired: .expired
            case .notYetEffective: .notYetEffective
            case .unknown, nil: .unknown
            }
        self.init(
            kind: request.type, amount: request.amount, card: request.card, isApprovedByCard: request.offline,
            validity: validity, needsConfirmation: running.machine.demand.confirmWithin != nil)
    }
}
