// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension EntryPoint {
    /// Start A (EMV Contactless Book B §3.1.1). After a restart the directory is read again.
    mutating func preProcess() -> Step {
        indicators = preProcessed()
        candidates = []
        return isContactlessAllowed ? awaitCard(signals: []) : tryAnotherInterface()
    }

    func preProcessed() -> [(index: Int, value: PreProcessingIndicators)] {
        var found: [(index: Int, value: PreProcessingIndicators)] = []
        found.reserveCapacity(configuration.combinations.count)
        for index in configuration.combinations.indices where isSupported(index) {
            found.append((index, PreProcessing.indicators(configuration.combinations[index].limits, transaction)))
        }
        return found
    }

    var isContactlessAllowed: Bool { indicators.contains { !$0.value.contactlessNotAllowed } }

    /// Requirement 3.1.1.13.
    mutating func tryAnotherInterface() -> Step {
        let message = UIRequest(.insertOrSwipe, .processingError)
        return finish(EMV.Outcome(.tryAnotherInterface, uiOnOutcome: message).ended(at: .preProcessing), signals: [])
    }

    /// Start B (EMV Contactless Book B §3.2.1).
    mutating func enterStartB(signals: [UIRequest]) -> Step {
        passStart = .b
        if indicators.isEmpty {
            indicators = supported.map { index in
                (
                    index,
                    PreProcessing.untouched(configuration.combinations[index].limits, configuration.entryPointVersion)
                )
            }
        }
        if !isRestart { candidates = [] }
        return awaitCard(signals: signals)
    }

    private mutating func awaitCard(signals: [UIRequest]) -> Step {
        state = .awaitingCard(collision: false)
        kernel = nil
        let fieldOff = fieldOffMilliseconds
        fieldOffMilliseconds = 0
        let invitation = invitation()
        return Step(
            .activate(fieldOffMilliseconds: fieldOff), signals: signals.isEmpty ? [invitation] : signals + [invitation])
    }

    /// What is shown at a start: the UI request on restart where there is one (requirement 3.2.1.2; at A, C and D by one
    /// source).
    mutating func invitation() -> UIRequest {
        let message = (isRestart ? restartMessage : nil) ?? UIRequest(.presentCard, .readyToRead)
        restartMessage = nil
        return message
    }

    /// Combinations of this transaction type whose kernel exists.
    var supported: [Int] { configuration.combinations.indices.filter { isSupported($0) } }

    /// In place: a combination is large to copy.
    private func isSupported(_ index: Int) -> Bool {
        configuration.combinations[index].covers(transaction.type)
            && kernels.contains(configuration.combinations[index].kernel)
    }

    /// Combinations of the transaction by what pre-processing found.
    var allowedCombinations: some Sequence<(index: Int, isAllowed: Bool)> {
        indicators.lazy.map { (index: $0.index, isAllowed: !$0.value.contactlessNotAllowed) }
    }

    /// Combination selection, steps 1 and 2 (EMV Contactless Book B §3.3.2).
    mutating func listCandidates(_ response: ResponseAPDU, now: TapInstant) -> Step {
        let entries = response.status.isSuccess ? PPSEEntry.entries(ofPPSE: response.data) : []
        candidates = Candidate.preferring(
            configuration.preferredApplications,
            Candidate.list(entries, configuration, allowed: allowedCombinations))
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

    /// An answer that names no application, or another one, leads to the next candidate (one source; a name that goes on
    /// behind the one asked for is taken). Kernel 8 judges the name itself.
    mutating func applicationSelected(_ response: ResponseAPDU, now: TapInstant) -> Step {
        guard let candidate = candidates.first else { return outOfOrder() }
        guard response.status.isSuccess else {
            if isRestart, let onlineResponse, onlineResponse.hasCardData {
                // Requirement 3.3.3.5, first bullet; the status by one source.
                let message = UIRequest(.insertSwipeOrTryAnotherCard, .readyToRead)
                let outcome = EMV.Outcome(.endApplication, uiOnOutcome: message)
                return finish(outcome.ended(at: .applicationSelection), signals: [])
            }
            return nextCandidate(signals: [], now: now)
        }
        if let isSameCard, !isSameCard(response) {
            // The issuer's answer is for the card that was read before.
            let message = UIRequest(.insertSwipeOrTryAnotherCard, .readyToRead)
            let outcome = EMV.Outcome(
                .endApplication, uiOnOutcome: message, error: ErrorIndication(l2: .cardDataError))
            return finish(outcome.ended(at: .applicationSelection), signals: [])
        }
        let (kernel, aid) = kernelAndAID(of: candidate)
        let fci = FileControlInformation(response.data)
        guard kernel == .c8 || fci.isNamed(as: candidate.entry.adfName, response.data) else {
            return nextCandidate(signals: [], now: now)
        }
        guard let kernelIdentifier = kernelIdentifier(kernel, aid, fci) else {
            return nextCandidate(signals: [], now: now)
        }
        application = SelectedApplication(
            adfName: candidate.entry.adfName, matchingAID: aid, kernel: kernelIdentifier,
            fci: response.data, label: fci.label ?? candidate.entry.label, preferredName: fci.preferredName,
            codeTableIndex: fci.codeTableIndex, languagePreference: fci.languagePreference)
        selection = response
        return activateKernel(signals: [], now: now)
    }

    mutating func nextCandidate(signals: [UIRequest], now: TapInstant) -> Step {
        if !candidates.isEmpty { candidates.removeFirst() }
        return selectApplication(signals: signals, now: now)
    }

    private func kernelAndAID(of candidate: Candidate) -> (KernelIdentifier, [UInt8]) {
        // In place, as above.
        let index = candidate.combination
        return (configuration.combinations[index].kernel, configuration.combinations[index].aid)
    }

    /// Requirement 3.3.3.6: a Visa application without 9F66 in its PDOL belongs to kernel 1, or is left out.
    private func kernelIdentifier(
        _ kernel: KernelIdentifier, _ aid: [UInt8], _ fci: FileControlInformation
    ) -> KernelIdentifier? {
        guard kernel == .visa, aid.starts(with: [0xA0, 0x00, 0x00, 0x00, 0x03]) else { return kernel }
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
            kernelIdentifier: kernelIdentifier(application.kernel, candidate.entry),
            extendedSelection: combination.limits.extendedSelection ? candidate.entry.extendedSelection : [],
            combination: combination, indicators: indicators, terminalData: configuration.terminalData,
            transaction: transaction, unpredictableNumbers: numbers.forOneRun(), authentication: authentication,
            isRestart: isRestart, start: passStart, onlineResponse: onlineResponse, tornTransactions: tornTransactions,
            failedMagStripeReads: failedMagStripeReads)
        state = .runningKernel
        var step = kernel.start(activation, now: now)
        if !signals.isEmpty { step.signals = signals + step.signals }
        self.kernel = kernel
        return take(step, now: now)
    }

    /// Kernel Identifier - Terminal (96), which every list of a card may ask for (requirement 3.4.1.4).
    private func kernelIdentifier(_ kernel: KernelIdentifier, _ entry: PPSEEntry) -> [UInt8] {
        var flags: KernelIdentifier.TerminalFlags = []
        if kernels.contains(.c8), configuration.combinations.contains(where: { $0.kernel == .c8 }) {
            flags.insert(.supportsKernel8)
        }
        if indicators.contains(where: { configuration.combinations[$0.index].kernel == .c8 }) {
            flags.insert(.configuresKernel8)
        }
        return kernel.terminalValue(requested: entry.kernelIdentifier, flags)
    }
}
