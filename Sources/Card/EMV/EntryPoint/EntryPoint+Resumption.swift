// SPDX-License-Identifier: Apache-2.0
public import CardBytes

extension EntryPoint {
    /// Entry Point for a card that is presented a second time, to take what the issuer answered (EMV Contactless Book A
    /// §6.2, a start at B with online response data). The application is the one that was selected before: the directory is
    /// not read again.
    ///
    /// - Parameters:
    ///   - application: of the outcome that asked for the restart.
    ///   - message: that outcome's UI request on restart.
    ///   - isSameCard: judges the answer to SELECT. Another card gets nothing of the answer: the application ends with
    ///     `ErrorIndication.L2.cardDataError`.
    public init(
        resuming application: SelectedApplication, with response: OnlineResponse, message: UIRequest?,
        configuration: TerminalConfiguration, transaction: Transaction, unpredictableNumbers: UnpredictableNumbers,
        kernels: KernelSet = .standard, isSameCard: @escaping @Sendable (ResponseAPDU) -> Bool
    ) {
        self.init(
            configuration: configuration, transaction: transaction, unpredictableNumbers: unpredictableNumbers,
            kernels: kernels, startingAt: .b)
        self.isSameCard = isSameCard
        isRestart = true
        onlineResponse = response
        restartMessage = message ?? UIRequest(.presentCardAgain, .readyToRead)
        candidates = Candidate.list(
            [PPSEEntry(adfName: application.adfName)], configuration,
            allowed: supported.lazy.map { (index: $0, isAllowed: true) }
        )
        .filter { configuration.combinations[$0.combination].kernel == application.kernel }
    }
}
