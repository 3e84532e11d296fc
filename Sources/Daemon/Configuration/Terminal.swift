// SPDX-License-Identifier: Apache-2.0
public import EMVCrypto
public import Envelope
public import PaymentValues
public import TerminalFile

/// The merchant's terminal, the same for every lane.
public struct Terminal: Sendable {
    /// As the acquirer knows it: 8 characters (9F1C).
    public var id = "00000001"
    public var merchant = "TEST MERCHANT"
    /// ISO 3166-1 numeric code (9F1A).
    public var country: UInt16 = 276
    public var file = TerminalFile.test
    /// Accounts that are refused; `nil` for none.
    public var denied: DenyList?
    /// Failed reads after which another way to pay is offered.
    public var maxTapRetries = 3
    /// What the reads are sealed to.
    public var recipient = RecipientKey.sandboxTest

    /// EMV's test terminal that seals to the published test key.
    public static let test = Terminal()

    /// Where the shop has no name for its customers, they get the acquirer's.
    public var defaultMerchant: Merchant { Merchant(displayName: merchant) }
}
