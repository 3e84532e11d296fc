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

    var updateOutcome: Outcome { IssuerUpdate.outcome(of: update) }
}
