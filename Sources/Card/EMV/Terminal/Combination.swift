// SPDX-License-Identifier: Apache-2.0
/// A combination of AID and kernel that the reader supports, with its configuration for some transaction types
/// (EMV Contactless Book A §5.8.1).
public struct Combination: Equatable, Sendable {
    /// 5…16 bytes; a card's ADF name matches when it equals or begins with it.
    public var aid: [UInt8]
    public var kernel: KernelIdentifier
    /// Transaction types that this configuration is for; `nil` for all.
    public var transactionTypes: [TransactionType]?
    public var limits: EntryPointLimits
    /// The kernel's own data objects (for kernel 2: DF8117 …). They win over the terminal's.
    public var kernelData: [DataObject]
    /// Dynamic reader limits of kernels 3 and 4, by program identifier.
    public var dynamicLimits: [DynamicReaderLimits]
    public var riskManagement: RiskManagement

    public init(
        aid: [UInt8], kernel: KernelIdentifier, transactionTypes: [TransactionType]? = nil,
        limits: EntryPointLimits = EntryPointLimits(), kernelData: [DataObject] = [],
        dynamicLimits: [DynamicReaderLimits] = [], riskManagement: RiskManagement = RiskManagement()
    ) {
        self.aid = aid
        self.kernel = kernel
        self.transactionTypes = transactionTypes
        self.limits = limits
        self.kernelData = kernelData
        self.dynamicLimits = dynamicLimits
        self.riskManagement = riskManagement
    }

    func covers(_ type: TransactionType) -> Bool { transactionTypes?.contains(type) ?? true }
}
