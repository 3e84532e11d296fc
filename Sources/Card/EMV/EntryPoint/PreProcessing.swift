// SPDX-License-Identifier: Apache-2.0
/// Pre-processing of one combination (EMV Contactless Book B §3.1.1).
enum PreProcessing {
    /// The indicators for `transaction`, with a fresh copy of the TTQ.
    ///
    /// The floor limits compare with `>`, the transaction and CVM limits with `>=`.
    static func indicators(_ limits: EntryPointLimits, _ transaction: Transaction) -> PreProcessingIndicators {
        var indicators = PreProcessingIndicators()
        // 3.1.1.1 and 3.1.1.2: everything cleared, the TTQ as configured but for byte 2 bits 8 and 7.
        indicators.ttq = limits.ttq
        indicators.ttq?.requiresOnlineCryptogram = false
        indicators.ttq?.requiresCVM = false
        apply(limits, transaction, to: &indicators)
        return indicators
    }

    /// Requirements 3.1.1.3 to 3.1.1.12 on indicators that are cleared. Kernels with dynamic reader limits run it again
    /// with the set that the card chose.
    static func apply(
        _ limits: EntryPointLimits, _ transaction: Transaction, to indicators: inout PreProcessingIndicators
    ) {
        let amount = transaction.amount
        // 3.1.1.3
        if limits.statusCheck, amount == oneUnit(exponent: transaction.exponent) {
            indicators.statusCheckRequested = true
        }
        // 3.1.1.4
        if amount == 0, limits.zeroAmountForOfflineAllowed != true {
            if limits.zeroAmountAllowed == false {
                indicators.contactlessNotAllowed = true
            } else {
                indicators.zeroAmount = true
            }
        }
        // 3.1.1.5
        if let limit = limits.transactionLimit, amount >= limit { indicators.contactlessNotAllowed = true }
        // 3.1.1.6, or else 3.1.1.7
        if let limit = limits.floorLimit {
            indicators.floorLimitExceeded = amount > limit
        } else if let limit = limits.terminalFloorLimit {
            indicators.floorLimitExceeded = amount > UInt64(limit)
        }
        // 3.1.1.8
        if let limit = limits.cvmRequiredLimit, amount >= limit { indicators.cvmLimitExceeded = true }
        applyToTTQ(&indicators)
    }

    /// The indicators of a combination that starts at B without pre-processing (requirement 3.2.1.1): the TTQ as
    /// configured in Book B 2.5, and without byte 2 bits 8 and 7 in 2.12; one source each.
    static func untouched(_ limits: EntryPointLimits, _ version: EntryPointVersion) -> PreProcessingIndicators {
        var indicators = PreProcessingIndicators()
        indicators.ttq = limits.ttq
        if version == .v2_12 {
            indicators.ttq?.requiresOnlineCryptogram = false
            indicators.ttq?.requiresCVM = false
        }
        return indicators
    }

    /// 3.1.1.9 to 3.1.1.12; an amount of zero is 3.1.1.11.
    private static func applyToTTQ(_ indicators: inout PreProcessingIndicators) {
        guard var ttq = indicators.ttq else { return }
        if indicators.floorLimitExceeded || indicators.statusCheckRequested { ttq.requiresOnlineCryptogram = true }
        if indicators.zeroAmount {
            if ttq.isOfflineOnly {
                indicators.contactlessNotAllowed = true
            } else {
                ttq.requiresOnlineCryptogram = true
            }
        }
        if indicators.cvmLimitExceeded { ttq.requiresCVM = true }
        indicators.ttq = ttq
    }

    /// One unit of currency in minor units: 100 for exponent 2. Other exponents than 2 are unverified.
    private static func oneUnit(exponent: UInt8) -> UInt64 {
        (0..<min(exponent, 9)).reduce(1) { unit, _ in unit * 10 }
    }
}
