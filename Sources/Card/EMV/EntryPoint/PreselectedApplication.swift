// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// An application that the terminal selected by itself before Entry Point begins, for a first start at D (EMV
/// Contactless Book B §3.4): the card is in the field, the application selected. Which terminals may do so is
/// unverified.
public struct PreselectedApplication: Equatable, Sendable {
    /// 5…16 bytes; the reader's combination for it is found as for a directory entry.
    public var adfName: [UInt8]
    public var kernel: KernelIdentifier
    /// The answer to SELECT.
    public var selection: ResponseAPDU

    public init(adfName: [UInt8], kernel: KernelIdentifier, selection: ResponseAPDU) {
        self.adfName = adfName
        self.kernel = kernel
        self.selection = selection
    }
}

extension EntryPoint {
    /// First start at D: pre-processing, then the kernel of the application at once. What the kernel then asks for (try
    /// again, another application) goes on from the directory.
    mutating func activate(_ preselected: PreselectedApplication, now: TapInstant) -> Step {
        indicators = preProcessed()
        guard isContactlessAllowed else { return tryAnotherInterface() }
        let entry = PPSEEntry(adfName: preselected.adfName)
        candidates = Candidate.list(
            [entry], configuration, allowed: allowedCombinations
        )
        .filter { configuration.combinations[$0.combination].kernel == preselected.kernel }
        guard !candidates.isEmpty else { return selectApplication(signals: [], now: now) }
        return applicationSelected(preselected.selection, now: now)
    }
}
