// SPDX-License-Identifier: Apache-2.0
/// Parts of terminal risk management that only some acquirers want (EMV Book 3 §10.6). The floor limit is not among
/// them: every kernel has its own.
public struct RiskManagement: Equatable, Sendable {
    /// Whether `Transaction.merchantForcedOnline` counts. Kernel 2 sets TVR byte 4 bit 4, and the action codes decide what
    /// follows; kernel 3 has no TVR and sets TTQ byte 2 bit 8 instead, which is unverified.
    public var merchantForcedOnline: Bool
    /// Random transaction selection (EMV Book 3 §10.6.2): TVR byte 4 bit 5; `nil` for none. Kernels 2 and 5.
    public var randomSelection: RandomSelection?
    /// Velocity checking by 9F14 and 9F23 (EMV Book 3 §10.6.3), at the price of two GET DATA commands. A rule for contact
    /// cards that no public contactless kernel has; kernel 2 only.
    public var checksVelocity: Bool
    /// Whether the card's Application Usage Control has to allow manual cash (C-3 5.5.1.3). Kernel 3; other kernels always
    /// look.
    public var checksCash: Bool
    /// Whether it has to allow cashback (C-3 5.5.1.4). Kernel 3.
    public var checksCashback: Bool

    public init(
        merchantForcedOnline: Bool = true, randomSelection: RandomSelection? = nil, checksVelocity: Bool = false,
        checksCash: Bool = true, checksCashback: Bool = true
    ) {
        self.merchantForcedOnline = merchantForcedOnline
        self.randomSelection = randomSelection
        self.checksVelocity = checksVelocity
        self.checksCash = checksCash
        self.checksCashback = checksCashback
    }
}

extension KernelActivation {
    /// The merchant wants to go online and the combination lets him.
    var isForcedOnline: Bool { combination.riskManagement.merchantForcedOnline && transaction.merchantForcedOnline }
}
