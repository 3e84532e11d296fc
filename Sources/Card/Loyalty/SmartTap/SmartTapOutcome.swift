// SPDX-License-Identifier: Apache-2.0
/// How a Smart Tap session ended.
public struct SmartTapOutcome: Sendable {
    /// What answered the SELECT of OSE.VAS.01; `nil` where nothing did.
    public var application: WalletApplication?
    /// `.delivered` where at least one pass came.
    public var status: PassStatus
    /// Passes and customer record.
    public var objects: [SmartTapObject]
    /// Whether the bundle was encrypted and its authentication code matched.
    public var isAuthentic: Bool
    public var payment: PaymentReadiness
    /// The phone took what was pushed.
    public var isPushed: Bool
}
