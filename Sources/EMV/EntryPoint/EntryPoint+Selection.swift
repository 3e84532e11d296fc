// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension EntryPoint {
    /// Start A (EMV Contactless Book B §3.1.1).
    mutating func preProcess() -> Step {
        indicators = preProcessed()
        return isContactlessAllowed ? awaitCard(signals: []) : tryAnotherInterface()
    }

    func preProcessed() -> [(index: Int, value: PreProcessingIndicators)] {
        supported.map { index in
            (index, PreProcessing.indicators(configuration.combinations[index].limits, transaction))
        }
    }

    var isContactlessAllowed: Bool { indicators.contains { !$0.value.contactlessNotAllowed } }

    /// Requirement 3.1.1.13.
    mutating func tryAnotherInterface() -> Step {
        let message = UIRequest(.insertOrSwipe, .processingError)
        return finish(EMV.Outcome(.tryAnotherInterface, uiOnOutcome: message).ended(at: .preProcessing), signals: [])
    }

    /// Start B (EMV Contactless Book B §3.2.1).
    mutating func enterStartB(signals: [UIRequest]) -> Step {
        if indicators.isEmpty {
            indicators = supported.map { index in
                (index, PreProcessing.untouched(configuration.combinations[index].limits))
            }
        }
        if !isRestart { candidates = [] }
        return awaitCard(signals: signals)
    }

    private mutating func awaitCard(signals: [UIRequest]) -> Step {
        state = .awaitingCard(collision: false)
        kernel = nil
        let message = (isRestart ? restartMessage : nil) ?? UIRequest(.presentCard, .readyToRead)
        restartMessage = nil
        let fieldOff = fieldOffMilliseconds
        fieldOffMilliseconds = 0
        return Step(.activate(fieldOffMilliseconds: fieldOff), signals: signals + [message])
    }

    /// Combinations of this transaction type whose kernel exists.
    private var supported: [Int] {
        configuration.combinations.indices.filter { index in
            let combination = configuration.combinations[index]
            return combination.covers(transaction.type) && kernels.contains(combination.kernel)
        }
    }

    /// Combination selection, steps 1 and 2 (EMV Contactless Book B §3.3.2).
    mutating func directoryReceived(_ response: ResponseAPDU, now: TapInstant) -> Step {
        let entries = response.status.isSuccess ? PPSEEntry.entries(ofPPSE: response.data) : []
        candidates = Candidate.preferring(
            configuration.preferredApplications,
            Candidate.list(
                entries, configuration.combinations,
                allowed: indicators.map { ($0.index, !$0.value.contactlessNotAllowed) }))
        return selectApplication(signals: [], now: now)
    }

    /// Start C: step 3 and final combination selection (EMV Contactless Book B §3.3.2.6 and §3.3.3).
    mutating func selectApplication(signals: [UIRequest], now: TapInstant) -> Step {
        guard let candidate = candidates.first else {
            let message = UIRequest(.insertSwipeOrTryAnotherCard, .readyToRead)
            let outcome = EMV.Outcome(
                .endApplication, uiOnOutcome: message, error: ErrorIndication(l2: .emptyCandidateList))
            return finish(outcome.ended(at: .applicationSelection), signals: signals)
        }
        state = .selectingApplication
        let extended = configuration.combinations[candidate.combination].limits.extendedSelection
        return transmit(SelectCommand.command(candidate.selectionName(extended: extended)), signals)
    }

    mutating func applicationSelected(_ response: ResponseAPDU, now: TapInstant) -> Step {
        guard let candidate = candidates.first else { return outOfOrder() }
        guard response.status.isSuccess else {
            if isRestart, let onlineResponse, onlineResponse.hasCardData {
                // Requirement 3.3.3.5, first bullet.
                let message = UIRequest(.insertSwipeOrTryAnotherCard, .processingError)
                let outcome = EMV.Outcome(.endApplication, uiOnOutcome: message)
                return finish(outcome.ended(at: .applicationSelection), signals: [])
            }
            return nextCandidate(signals: [], now: now)
        }
        let combination = configuration.combinations[candidate.combination]
        let fci = FileControlInformation(response.data)
        guard let kernelIdentifier = kernelIdentifier(of: combination, fci) else {
            return nextCandidate(signals: [], now: now)
        }
        application = SelectedApplication(
            adfName: candidate.entry.adfName, matchingAID: combination.aid, kernel: kernelIdentifier,
            fci: response.data, label: fci.label ?? candidate.entry.label, preferredName: fci.preferredName,
            codeTableIndex: fci.codeTableIndex, languagePreference: fci.languagePreference)
        selection = response
        return activateKernel(signals: [], now: now)
    }

    mutating func nextCandidate(signals: [UIRequest], now: TapInstant) -> Step {
        if !candidates.isEmpty { candidates.removeFirst() }
        return selectApplication(signals: signals, now: now)
    }

    /// Requirement 3.3.3.6: a Visa application without 9F66 in its PDOL belongs to kernel 1, or is left out.
    private func kernelIdentifier(
        of combination: Combination, _ fci: FileControlInformation
    ) -> KernelIdentifier? {
        guard combination.kernel == .visa, combination.aid.starts(with: [0xA0, 0x00, 0x00, 0x00, 0x03]) else {
            return combination.kernel
        }
        if fci.pdolContainsTTQ { return .visa }
        return kernels.contains(.legacy) ? .legacy : nil
    }

    /// Start D: kernel activation (EMV Contactless Book B §3.4).
    mutating func activateKernel(signals: [UIRequest], now: TapInstant) -> Step {
        guard let application, let selection, let candidate = candidates.first,
            let indicators = indicators.first(where: { $0.index == candidate.combination })?.value,
            var kernel = kernels.make(application.kernel)
        else { return outOfOrder() }
        let combination = configuration.combinations[candidate.combination]
        let activation = KernelActivation(
            application: application, selection: selection,
            extendedSelection: combination.limits.extendedSelection ? candidate.entry.extendedSelection : [],
            combination: combination, indicators: indicators, terminalData: configuration.terminalData,
            transaction: transaction, unpredictableNumbers: numbers.forOneRun(), authentication: authentication,
            isRestart: isRestart, onlineResponse: onlineResponse, tornTransactions: tornTransactions,
            failedMagStripeReads: failedMagStripeReads)
        state = .runningKernel
        var step = kernel.start(activation, now: now)
        step.signals = signals + step.signals
        self.kernel = kernel
        return take(step, now: now)
    }
}
