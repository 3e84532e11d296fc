// SPDX-License-Identifier: Apache-2.0
import CardBytes
public import EMV

/// What one tap came to. Holds nothing that must not leave the machine. It has a stored property for each thing that a
/// daemon tells of a tap.
public struct PaymentTapResult: Equatable, Sendable {
    /// The sealed read, with what may go beside it.
    public struct SealedRead: Equatable, Sendable {
        /// Compact JWE.
        public let envelope: String
        /// `kid` of the recipient's key.
        public let keyID: String
        /// For the PIN device: compact JWE. `nil` where no online PIN is wanted, or none can be had.
        public let pinAccount: String?
        /// Sealed to a published test key: nothing in it is protected.
        public let isTest: Bool
        public let clearTags: ClearDataObjects
        public let account: MaskedAccount
        /// By `PaymentTap.marker`.
        public let mark: [UInt8]?
        /// Whether the card is within its dates.
        public let validity: CardValidity
    }

    /// How the data were read (ISO 8583 data element 22: 07 and 91).
    public enum EntryMode: String, Sendable {
        case contactlessEMV = "CONTACTLESS_EMV"
        case contactlessMagStripe = "CONTACTLESS_MAGSTRIPE"
    }

    public let status: Outcome.Status
    public let error: ErrorIndication
    /// Present for an online request and an approval, for a decline whose kernel left a data record, and for a refund that
    /// the card answered with an AAC (`endApplication`).
    public let read: SealedRead?
    /// Declined, and the card's holder was not verified: what it may have wanted is a PIN (EMV Book 3 annex C5, byte 3 bit 8).
    public let isUnverified: Bool
    /// Why a record that a kernel left is in no envelope; `nil` where it left none, and where it is sealed.
    public let unsealed: UnsealedRecord?
    /// What brings the issuer's answer to this card, where the card wants it; `nil` otherwise.
    public let issuerUpdate: IssuerUpdateTap?
    /// The CA key for want of which the card was not authenticated; for people who set the terminal up.
    public let unmatchedKey: UnmatchedCAKey?
    public let entryMode: EntryMode
    /// `nil` for N/A.
    public let cvm: Outcome.CVM?
    /// Other interface to offer; `nil` for N/A.
    public let alternateInterface: Outcome.AlternateInterface?
    /// `nil` where no application was selected.
    public let kernel: KernelIdentifier?
    /// The reader's AID that the card matched; empty where none did.
    public let aid: [UInt8]
    /// Which of the card's applications it is, and why; `.unsupported` names what a card wanted that gave no result.
    public let choice: ApplicationChoice
    /// The application's name for display and receipt, in printable ASCII; `nil` where it has none that is safe.
    public let label: String?
    public let uiOnOutcome: UIRequest?
    public let receipt: Bool
    public let phases: TapPhases

    init(
        _ final: FinalOutcome, read: SealedRead?, unsealed: UnsealedRecord?, issuerUpdate: IssuerUpdateTap?,
        choice: ApplicationChoice, phases: TapPhases
    ) {
        self.unsealed = unsealed
        self.issuerUpdate = issuerUpdate
        self.choice = choice
        status = final.outcome.status
        isUnverified =
            status == .declined
            && final.outcome.dataRecord?.value(of: 0x95).flatMap { TVR($0) }?.contains(.cardholderVerificationFailed)
                == true
        error = final.outcome.error
        self.read = read
        unmatchedKey = final.outcome.unmatchedKey
        // 9F39 as the kernels set it; that they do is unverified for some.
        entryMode = final.outcome.dataRecord?.value(of: 0x9F39) == [0x91] ? .contactlessMagStripe : .contactlessEMV
        cvm = final.outcome.cvm
        alternateInterface = final.outcome.alternateInterface
        kernel = final.application?.kernel
        aid = final.application?.matchingAID ?? []
        label = final.application.flatMap(PaymentTapResult.label)
        uiOnOutcome = final.outcome.uiOnOutcome
        receipt = final.outcome.receipt
        self.phases = phases
    }

    /// The preferred name where it is plain ASCII, else the label. What a card calls itself must not carry a number that
    /// could be its own: more than six digits in all make it no name.
    private static func label(_ application: SelectedApplication) -> String? {
        for name in [application.preferredName, application.label] {
            guard let name, (1...16).contains(name.count), name.allSatisfy({ (0x20...0x7E).contains($0) }),
                name.count(where: { (0x30...0x39).contains($0) }) <= 6
            else { continue }
            return String(decoding: name, as: UTF8.self)
        }
        return nil
    }
}

extension PaymentTapResult: CustomStringConvertible, CustomReflectable {
    public var description: String { "tap: \(status.word)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
