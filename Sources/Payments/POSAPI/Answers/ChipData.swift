// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// What the card's chip said of a read, as receipts and disputes need it: from the allow-listed data objects only, never
/// from the envelope. Values are upper-case hexadecimal, big-endian as on the card.
public struct ChipData: Codable, Equatable, Sendable {
    /// How the cardholder was verified, as on a receipt.
    public enum Verification: String, Codable, CaseIterable, Sendable {
        /// None was asked for.
        case none
        /// By the customer's own device: a phone, a watch.
        case device
        case signature
        /// A PIN that the issuer checks, entered at an approved PIN device if at all.
        case onlinePIN
    }

    /// The preferred name (9F12) where it is plain ASCII, else the label (50); `nil` where the card has neither.
    public var application: String?
    /// The application's identifier: 84, else the terminal's (9F06).
    public var aid: String?
    public var entryMode: EntryMode
    public var verification: Verification
    /// The card approved without asking its issuer.
    public var isOffline: Bool
    /// 9F26.
    public var cryptogram: String?
    /// 9F27: 40 TC, 80 ARQC, 00 AAC.
    public var cryptogramInformation: String?
    /// Terminal Verification Results, 95.
    public var tvr: String?
    /// Transaction Status Information, 9B; contactless kernels may leave it out.
    public var tsi: String?
    /// Application Transaction Counter, 9F36.
    public var counter: String?
    /// PAN Sequence Number, 5F34.
    public var sequenceNumber: String?
    /// 9F37.
    public var unpredictableNumber: String?
    /// Application Interchange Profile, 82.
    public var interchangeProfile: String?
    /// Issuer Application Data, 9F10.
    public var issuerData: String?
    /// CVM Results, 9F34.
    public var verificationResults: String?

    public init(entryMode: EntryMode, verification: Verification, isOffline: Bool = false) {
        self.entryMode = entryMode
        self.verification = verification
        self.isOffline = isOffline
    }
}
