// SPDX-License-Identifier: Apache-2.0
internal import CardBytes

/// How the results of the carriers become the outcome, and when a phone is activated again.
extension LoyaltyRead {
    /// Passes a carrier's command on, or its outcome to `fold`.
    mutating func follow<Result>(
        _ step: TapStep<LoyaltySignal, Result>,
        _ fold: (inout LoyaltyRead, Result) -> TapStep<LoyaltySignal, LoyaltyOutcome>
    ) -> TapStep<LoyaltySignal, LoyaltyOutcome> {
        switch step.action {
        case .transmit(let command): TapStep(.transmit(command), signals: step.signals)
        case .finished(let result): fold(&self, result)
        case .activate: conclude()
        }
    }

    mutating func fold(apple result: VASOutcome) -> TapStep<LoyaltySignal, LoyaltyOutcome> {
        take(result)
        return conclude()
    }

    mutating func fold(google result: SmartTapOutcome) -> TapStep<LoyaltySignal, LoyaltyOutcome> {
        take(result)
        return conclude()
    }

    mutating func fold(tag result: Type4Outcome, carrier: Int) -> TapStep<LoyaltySignal, LoyaltyOutcome> {
        switch result {
        case .message(let message): take(message)
        case .noNDEF: mark(.noPass) { $0.tag != nil }
        case .refused(let status): mark(.unexpectedStatus(status)) { $0.tag != nil }
        case .malformed: mark(.unreadable(.malformed)) { $0.tag != nil }
        case .tooLarge: mark(.unreadable(.tooLarge)) { $0.tag != nil }
        case .cardLost:
            mark(.cardLost) { $0.tag != nil }
            return conclude()
        }
        return tryCarrier(carrier + 1)
    }

    /// The merchants were asked in the order of the programmes that have one.
    mutating func take(_ result: VASOutcome) {
        let programmes = request.programmes.indices.filter { request.programmes[$0].apple != nil }
        for (index, entry) in zip(programmes, result.entries) {
            set(index, entry.status, entry.pass.map { .apple($0) })
        }
    }

    mutating func take(_ result: SmartTapOutcome) {
        outcome.payment = result.payment
        guard let index = request.programmes.firstIndex(where: { $0.google != nil }) else { return }
        let pass: LoyaltyPass? =
            result.objects.isEmpty ? nil : .google(result.objects, isAuthentic: result.isAuthentic)
        set(index, result.status, pass)
    }

    private mutating func take(_ message: SecretBytes) {
        guard let contents = message.withSpan({ try? NDEFContent.all(in: $0) }) else {
            mark(message.count == 0 ? .noPass : .unreadable(.malformed)) { $0.tag != nil }
            return
        }
        for (index, programme) in request.programmes.enumerated() {
            guard let membership = programme.tag else { continue }
            if let number = membership.memberNumber(in: contents) {
                set(index, .delivered, .tag(number))
            } else {
                set(index, .noPass)
            }
        }
    }

    /// A pass that was delivered stays; everything else gives way to what is newer.
    mutating func set(_ index: Int, _ status: PassStatus, _ pass: LoyaltyPass? = nil) {
        guard outcome.entries.indices.contains(index), outcome.entries[index].status != .delivered else { return }
        if status == .notAsked, outcome.entries[index].status != .notAsked { return }
        outcome.entries[index].status = status
        outcome.entries[index].pass = pass
    }

    mutating func mark(_ status: PassStatus, where matches: (LoyaltyProgramme) -> Bool) {
        for (index, programme) in request.programmes.enumerated() where matches(programme) { set(index, status) }
    }

    /// After an activation: ends, or wants the same phone once more where that may help and nothing came yet.
    mutating func conclude() -> TapStep<LoyaltySignal, LoyaltyOutcome> {
        let wish = outcome.entries.map(\.status).first(where: \.mayImprove)
        guard let wish, !outcome.hasPass, isUnderWay, mayTryAgain() else { return end() }
        let action = isQuiet(wish) ? nil : wish.customerAction
        return again(action, fieldOffMilliseconds: fieldOff(after: wish))
    }

    /// - Parameter action: of the customer; `nil` for nothing that they have to hear.
    mutating func again(
        _ action: CustomerAction?, fieldOffMilliseconds: UInt64
    ) -> TapStep<LoyaltySignal, LoyaltyOutcome> {
        phase = .activating
        return TapStep(.activate(fieldOffMilliseconds: fieldOffMilliseconds), signals: action.map { say($0) } ?? [])
    }

    /// Said once, not at every look at a phone that stays where it is.
    mutating func say(_ action: CustomerAction) -> [LoyaltySignal] {
        defer { shownAction = action }
        return action == shownAction ? [] : [.again(action)]
    }

    mutating func end() -> TapStep<LoyaltySignal, LoyaltyOutcome> {
        phase = .finished
        return TapStep(.finished(outcome))
    }

    /// Whether a card was being read: an input out of turn ends the machine instead.
    private var isUnderWay: Bool {
        switch phase {
        case .idle, .activating, .finished: false
        case .selecting, .apple, .google, .tag, .memory, .asking: true
        }
    }

    private func fieldOff(after status: PassStatus) -> UInt64 {
        switch status {
        case .cardLost where outcome.wallet == .apple && request.purpose.mode != .passOnly:
            // In these modes an iPhone stops offering passes until its user authenticates again when the field is
            // reset after a mere transmission error.
            0
        case .busy: LoyaltyRead.removalMilliseconds
        case .delivered, .signUpSent, .noPass, .locked, .choiceNeeded, .unsupportedVersion, .refused,
            .authenticationFailed, .transientFailure, .unreadable, .tooOld, .clockOff, .repeated, .unsuitable,
            .keyMissing,
            .unexpectedStatus, .cardLost, .notAsked:
            LoyaltyRead.repollMilliseconds
        }
    }
}
