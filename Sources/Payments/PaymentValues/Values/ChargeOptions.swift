// SPDX-License-Identifier: Apache-2.0
/// What a request of type `charge` says beyond amount and order: which stored card, under which agreement, and why.
public struct ChargeOptions: Codable, Equatable, Sendable {
    /// Who brings it about.
    public enum Initiator: String, Codable, CaseIterable, Sendable {
        /// Somebody who is there without the card.
        case customer
        /// The shop, as it was agreed.
        case merchant
    }

    public enum Reason: String, Codable, CaseIterable, Sendable {
        case recurring, instalment, unscheduled
        /// These name the transaction that they follow from.
        case delayedCharge, noShow, resubmission, reauthorisation, partialShipment
    }

    public var credential: StoredCardID
    public var agreement: AgreementID
    public var initiator: Initiator
    public var reason: Reason
    /// The stay, the rental or the sale that it follows from.
    public var of: TransactionID?

    public init(
        _ credential: StoredCardID, under agreement: AgreementID, _ initiator: Initiator, _ reason: Reason,
        of: TransactionID? = nil
    ) {
        self.credential = credential
        self.agreement = agreement
        self.initiator = initiator
        self.reason = reason
        self.of = of
    }
}

extension ChargeOptions.Reason {
    /// The kind that an agreement has to be of; `nil` where any will do.
    public var agreementKind: AgreementTerms.Kind? {
        switch self {
        case .recurring: .recurring
        case .instalment: .instalment
        case .unscheduled: .unscheduled
        case .delayedCharge: .delayedCharge
        case .noShow: .noShow
        case .resubmission, .reauthorisation, .partialShipment: nil
        }
    }

    /// Whether it names what it follows from.
    public var needsOriginal: Bool {
        switch self {
        case .recurring, .instalment, .unscheduled: false
        case .delayedCharge, .noShow, .resubmission, .reauthorisation, .partialShipment: true
        }
    }
}
