// SPDX-License-Identifier: Apache-2.0
/// Everything a terminal knows before a transaction.
public struct TerminalConfiguration: Equatable, Sendable {
    /// Terminal data objects common to all kernels: 9F33, 9F35, 9F40, 9F1C, 9F1E, 9F15, 9F16, 9F4E …
    public var terminalData: [DataObject]
    /// The supported combinations; several of one AID may differ in transaction types.
    public var combinations: [Combination]
    /// AIDs or RIDs that the merchant prefers on a card with several applications, in order; empty leaves it to the card.
    public var preferredApplications: [[UInt8]] = []
    /// What the hosts of each scheme want in field 55.
    public var hostData = HostData.standard
    public var entryPointVersion = EntryPointVersion.v2_12
    /// Terminal Category (two bytes): Entry Point sends SEND POI INFORMATION to a card that names it, or that has an SDOL
    /// (Book B §3.3.2.3). `nil`, the default, never sends it: nothing but this category has been public, and cards do
    /// without.
    public var terminalCategory: [UInt8]?

    public init(terminalData: [DataObject], combinations: [Combination]) {
        self.terminalData = terminalData
        self.combinations = combinations
    }
}
