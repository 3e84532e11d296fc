// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension EntryPoint {
    /// Passes a kernel's command on, or processes its outcome (EMV Contactless Book B §3.5).
    mutating func take(_ step: KernelStep, now: TapInstant) -> Step {
        var step = step
        // A kernel that asks for ever would hold the card and the reader; no transaction has so many questions.
        for _ in 0..<32 {
            switch step.action {
            case .transmit(let command): return transmit(command, step.signals)
            case .finished(let outcome): return process(outcome, signals: step.signals, now: now)
            case .askTerminal(let question):
                guard var next = kernel?.terminalAnswered(dataExchange(question), now: now) else { return outOfOrder() }
                next.signals = step.signals + next.signals
                step = next
            }
        }
        return process(EMV.Outcome(.endApplication, error: ErrorIndication(l3: .timeOut)), signals: [], now: now)
    }

    private mutating func process(_ outcome: EMV.Outcome, signals: [UIRequest], now: TapInstant) -> Step {
        if let torn = outcome.tornTransactions { tornTransactions = torn }
        if let count = outcome.failedMagStripeReads { failedMagStripeReads = count }
        switch outcome.status {
        case .selectNext:
            let shown = [outcome.uiOnOutcome, outcome.uiOnRestart].compactMap { $0 }
            passStart = .c
            return nextCandidate(signals: signals + shown, now: now)
        case .tryAgain:
            retain(outcome)
            let shown = signals + (outcome.uiOnOutcome.map { [$0] } ?? [])
            passStart = outcome.start ?? .b
            switch outcome.start {
            case .c: return selectApplication(signals: shown + [invitation()], now: now)
            case .d: return activateKernel(signals: shown + [invitation()], now: now)
            case .a, .b, nil: return enterStartB(signals: shown)
            }
        case .approved, .declined, .onlineRequest, .endApplication, .tryAnotherInterface:
            return finish(outcome, signals: signals)
        }
    }

    /// Keeps what the next start needs: restart flag, message, field off (requirement 3.5.1.1).
    private mutating func retain(_ outcome: EMV.Outcome) {
        isRestart = true
        restartMessage = outcome.uiOnRestart
        fieldOffMilliseconds = max(UInt64(outcome.fieldOffRequest ?? 0) * 100, outcome.penaltyMilliseconds)
    }

    /// Ends with a Final Outcome; the UI request on outcome is shown before it.
    mutating func finish(_ outcome: EMV.Outcome, signals: [UIRequest]) -> Step {
        state = .finished
        if let start = outcome.start {
            nextStart = start
            retain(outcome)
        } else {
            nextStart = firstStart
            isRestart = false
        }
        let application = kernel == nil ? nil : application
        let final = FinalOutcome(outcome: outcome, application: application)
        return Step(.finished(final), signals: signals + (outcome.uiOnOutcome.map { [$0] } ?? []))
    }
}
