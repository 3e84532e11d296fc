// SPDX-License-Identifier: Apache-2.0
/// Entry Point configuration of one combination (EMV Contactless Book A §5.2 and Book B Table 2-2). Amounts are in
/// minor units; an absent item means that its check is not made.
public struct EntryPointLimits: Equatable, Sendable {
    /// Reader Contactless Transaction Limit: at or above it the combination is not allowed.
    public var transactionLimit: UInt64?
    /// Reader CVM Required Limit: at or above it a cardholder verification is required.
    public var cvmRequiredLimit: UInt64?
    /// Reader Contactless Floor Limit: above it an online cryptogram is required.
    public var floorLimit: UInt64?
    /// Terminal Floor Limit (9F1B), used where `floorLimit` is absent.
    public var terminalFloorLimit: UInt32?
    /// An amount of one unit of currency asks for a status check.
    public var statusCheck: Bool
    /// Whether an amount of zero may be used; absent means yes.
    public var zeroAmountAllowed: Bool?
    /// Zero Amount for Offline Allowed (Book A 2.12; one source): an amount of zero is like any other, so that a reader
    /// that never goes online may take it, and one that does need not. Absent means no.
    public var zeroAmountForOfflineAllowed: Bool?
    /// Terminal Transaction Qualifiers; absent for kernels that know none.
    public var ttq: TTQ?
    /// Extended Selection (9F29) may be appended to the ADF name.
    public var extendedSelection: Bool

    public init(
        transactionLimit: UInt64? = nil, cvmRequiredLimit: UInt64? = nil, floorLimit: UInt64? = nil,
        terminalFloorLimit: UInt32? = nil, statusCheck: Bool = false, zeroAmountAllowed: Bool? = nil,
        zeroAmountForOfflineAllowed: Bool? = nil, ttq: TTQ? = nil, extendedSelection: Bool = false
    ) {
        self.transactionLimit = transactionLimit
        self.cvmRequiredLimit = cvmRequiredLimit
        self.floorLimit = floorLimit
        self.terminalFloorLimit = terminalFloorLimit
        self.statusCheck = statusCheck
        self.zeroAmountAllowed = zeroAmountAllowed
        self.zeroAmountForOfflineAllowed = zeroAmountForOfflineAllowed
        self.ttq = ttq
        self.extendedSelection = extendedSelection
    }
}
