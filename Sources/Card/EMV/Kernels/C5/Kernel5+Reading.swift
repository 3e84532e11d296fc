// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// From GET PROCESSING OPTIONS to the last record (K5-2).
extension Kernel5 {
    mutating func optionsReceived(_ response: ResponseAPDU) -> KernelStep {
        if response.status == Kernel5.tornStatus, tornRecord != nil { return echo() }
        guard response.status.isSuccess else {
            return fail(.statusBytes, statusWord: response.status)
        }
        do throws(CardDataError) {
            let template = try ResponseTemplate(response.data)
            guard template.tag == (mode == .legacy ? .responseFormat1 : .responseFormat2) else {
                return fail(.parsingError)
            }
            try ProcessingOptions.store(response.data, in: &store, formatOneMinimum: 6, policy: Kernel5.policy)
        } catch {
            return fail(error.l2)
        }
        guard store.count(.aip) == 2 else { return fail(.cardDataMissing) }
        guard chooseMode() else { return fail(.magStripeNotSupported) }
        guard store.isPresentNotEmpty(.afl) || mode == .magStripe else { return fail(.cardDataMissing) }
        return readRecords()
    }

    /// K5-1. AIP byte 2 bit 8: EMV mode, else mag-stripe mode.
    ///
    /// - Returns: `false` where the reader does not do the card's mode.
    private mutating func chooseMode() -> Bool {
        if mode == .legacy { return true }
        if (store.byte(.aip, at: 1) ?? 0) & 0x80 != 0 { return combination.contains(.emv) }
        mode = .magStripe
        return combination.contains(.magStripe)
    }

    mutating func recordsRead() -> KernelStep {
        staticData = authenticatedRecords
        return mode == .magStripe ? getMagStripeData() : prepareCryptogram()
    }

    /// K5-3: TVR bits that come from the terminal's own risk management (EMV Book 3 §10.6; here the floor limit
    /// compares with `>=`).
    mutating func manageRisk() {
        guard let activation else { return }
        let amount = activation.transaction.amount
        let limits = activation.combination.limits
        let floor = limits.floorLimit ?? limits.terminalFloorLimit.map { UInt64($0) }
        let isStatusCheck = combination.contains(.statusCheck) && activation.indicators.statusCheckRequested
        if mode != .emv || terminalType.isOnlineOnly || isStatusCheck || floor.map({ amount >= $0 }) ?? false {
            tvr.insert(.floorLimitExceeded)
        }
        if activation.isForcedOnline { tvr.insert(.merchantForcedOnline) }
        if combination.contains(.randomSelection),
            let selection = activation.combination.riskManagement.randomSelection,
            selection.selects(amount: amount, random: numbers.next())
        {
            tvr.insert(.selectedAtRandom)
        }
        if combination.contains(.exceptionFile),
            let track = store.value(.track2Equivalent).flatMap({ Track2Equivalent($0) }),
            options.exceptionFile.contains(track.pan, store.byte(.panSequenceNumber))
        {
            tvr.insert(.onExceptionFile)
        }
    }
}
