// SPDX-License-Identifier: Apache-2.0
/// Which limits of kernel 4 a transaction reaches (K4-4).
struct Kernel4Limits: Equatable {
    var exceedsTransactionLimit: Bool
    var requiresCVM: Bool
    var exceedsFloorLimit: Bool

    /// What pre-processing found for the combination's own limits.
    init(_ indicators: PreProcessingIndicators) {
        exceedsTransactionLimit = indicators.contactlessNotAllowed
        requiresCVM = indicators.cvmLimitExceeded
        exceedsFloorLimit = indicators.floorLimitExceeded
    }

    /// A limit set that the card chose. Here the transaction limit compares with `>`, unlike in pre-processing.
    init(_ limits: EntryPointLimits, amount: UInt64) {
        exceedsTransactionLimit = limits.transactionLimit.map { amount > $0 } ?? false
        requiresCVM = limits.cvmRequiredLimit.map { amount >= $0 } ?? false
        let floor = limits.floorLimit ?? limits.terminalFloorLimit.map { UInt64($0) }
        exceedsFloorLimit = floor.map { amount > $0 } ?? false
    }
}
