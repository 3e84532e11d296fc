import CardBytes

/// Issuer update processing: the second presentment after an online request (C-3 5.9, unverified).
extension Kernel3 {
    mutating func startUpdate(_ response: OnlineResponse) -> KernelStep {
        update = IssuerUpdate(response)
        state = .updating
        return nextUpdate()
    }

    mutating func updateReceived(_ response: ResponseAPDU) -> KernelStep {
        update?.answered(response.status)
        return nextUpdate()
    }

    private mutating func nextUpdate() -> KernelStep {
        guard let command = update?.command else { return finish(updateOutcome) }
        return KernelStep(.transmit(command))
    }

    /// The transaction was decided online; the card's answers go to the acquirer as Issuer Script Results (9F5B).
    var updateOutcome: Outcome {
        let results = (update?.results ?? []).flatMap { $0.bytes }
        return Outcome(
            .endApplication, uiOnOutcome: UIRequest(.cardReadOK, .cardReadSuccessfully),
            discretionaryData: [DataObject(0x9F5B, results)])
    }
}
