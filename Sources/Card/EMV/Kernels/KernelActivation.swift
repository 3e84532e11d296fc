// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// What Entry Point hands to a kernel (EMV Contactless Book B §3.4).
public struct KernelActivation: Sendable {
    public var application: SelectedApplication
    /// The answer to the final SELECT; kernels get 9000 only.
    public var selection: ResponseAPDU
    /// Kernel Identifier - Terminal (96), eight bytes; empty where nobody made one.
    public var kernelIdentifier: [UInt8]
    /// Extended Selection (9F29) as it was appended to the ADF name; empty where it was not.
    public var extendedSelection: [UInt8]
    public var combination: Combination
    /// Pre-processing indicators of the combination, with its own copy of the TTQ.
    public var indicators: PreProcessingIndicators
    public var terminalData: [DataObject]
    public var transaction: Transaction
    /// Random numbers of this run; the first is the Unpredictable Number.
    public var unpredictableNumbers: UnpredictableNumbers
    public var authentication: OfflineAuthentication
    /// Whether this run follows a restart of the same transaction.
    public var isRestart: Bool
    /// Where Entry Point began the pass that led here: A with pre-processing, B with the card, C with the next application
    /// of the card, D with the kernel itself.
    public var start: StartPoint
    /// What the issuer answered, on a restart after an online request.
    public var onlineResponse: OnlineResponse?
    /// The torn-transaction log of earlier taps.
    public var tornTransactions: [TornTransaction]
    /// Wrong answers in kernel 2's mag-stripe mode in a row, 0…5.
    public var failedMagStripeReads: UInt8

    public init(
        application: SelectedApplication, selection: ResponseAPDU, kernelIdentifier: [UInt8] = [],
        extendedSelection: [UInt8] = [], combination: Combination, indicators: PreProcessingIndicators,
        terminalData: [DataObject],
        transaction: Transaction, unpredictableNumbers: UnpredictableNumbers,
        authentication: OfflineAuthentication = .unavailable, isRestart: Bool = false,
        start: StartPoint = .a, onlineResponse: OnlineResponse? = nil, tornTransactions: [TornTransaction] = [],
        failedMagStripeReads: UInt8 = 0
    ) {
        self.application = application
        self.selection = selection
        self.kernelIdentifier = kernelIdentifier
        self.extendedSelection = extendedSelection
        self.combination = combination
        self.indicators = indicators
        self.terminalData = terminalData
        self.transaction = transaction
        self.unpredictableNumbers = unpredictableNumbers
        self.authentication = authentication
        self.isRestart = isRestart
        self.start = start
        self.onlineResponse = onlineResponse
        self.tornTransactions = tornTransactions
        self.failedMagStripeReads = failedMagStripeReads
    }
}
