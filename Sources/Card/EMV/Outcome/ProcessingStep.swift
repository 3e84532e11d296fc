// SPDX-License-Identifier: Apache-2.0
/// The step of a transaction at which it ended: for people who look for the reason. It is on no wire and in no journal.
package enum ProcessingStep: Sendable, CaseIterable {
    /// Limits and zero amount, before any card (EMV Contactless Book B §3.1.1).
    case preProcessing
    /// Directory, candidates, SELECT (EMV Contactless Book B §3.3).
    case applicationSelection
    /// A kernel looks at the FCI, its limits and the PDOL.
    case initiation
    /// GET PROCESSING OPTIONS.
    case processingOptions
    case relayResistance
    case records
    /// What has to be there and agree once all is read; limits that the kernel compares then.
    case cardData
    /// READ DATA and WRITE DATA of kernel 8.
    case dataStorage
    case offlineAuthentication
    /// Expiry, usage control and exception file.
    case restrictions
    case cardholderVerification
    /// Terminal action analysis, or what stands for it in kernels without one.
    case actionAnalysis
    /// GENERATE AC and its answer; in kernels without that command, the cryptogram that came with the options.
    case cryptogram
    /// Recovery of a torn transaction.
    case recovery
    /// The dynamic check value and the tracks of a mag-stripe mode.
    case magStripe
    /// GET DATA: counters and balance.
    case cardCounters
    /// The second presentment after an online request.
    case issuerUpdate
}

extension Outcome {
    /// Names the step that this outcome comes from. An approval or an online request without an error, and an outcome that
    /// names its step already, stay as they are.
    mutating func end(at step: ProcessingStep) {
        guard endedAt == nil else { return }
        let isFaultless = error.l1 == .ok && error.l2 == .ok && error.l3 == .ok
        if isFaultless, status == .approved || status == .onlineRequest { return }
        endedAt = step
    }

    /// The same outcome with its step.
    func ended(at step: ProcessingStep) -> Outcome {
        var outcome = self
        outcome.end(at: step)
        return outcome
    }
}
