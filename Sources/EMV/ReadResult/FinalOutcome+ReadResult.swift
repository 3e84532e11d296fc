// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension FinalOutcome {
    /// What the cryptogram (9F27) in the data record says; `nil` where there is none.
    public var cryptogramType: ApplicationCryptogram? {
        outcome.dataRecord?.value(of: .cryptogramInformation)?.first.flatMap {
            ApplicationCryptogram(cryptogramInformation: $0)
        }
    }

    /// The account in the data record.
    public var account: CardAccount? { outcome.dataRecord.flatMap { CardAccount(record: $0) } }

    /// What was tapped, where the record and the outcome's discretionary data tell.
    public var device: DeviceKind? {
        guard let application else { return nil }
        let told = (outcome.dataRecord ?? []) + (outcome.discretionaryData ?? [])
        return DeviceKind(record: told, kernel: application.kernel)
    }

    /// The data for field 55 in the order of `AcquirerTags`: the data record, with DF name (84), AID (9F06) and label
    /// (50) of the selected application where a kernel's record has none. Empty without a data record.
    public var acquirerData: [DataObject] {
        guard let record = outcome.dataRecord, let application else { return [] }
        return AcquirerTags.tags(for: application.kernel).compactMap { tag in
            if let value = record.value(of: tag) { return DataObject(tag, value) }
            switch tag {
            case .dfName: return DataObject(tag, application.adfName)
            case .terminalAID: return DataObject(tag, application.matchingAID)
            case .applicationLabel: return application.label.map { DataObject(tag, $0) }
            case _: return nil
            }
        }
    }

    /// Payment Account Reference (9F24), 29 characters.
    public var paymentAccountReference: String? {
        outcome.dataRecord?.value(of: .paymentAccountReference).map { String(decoding: $0, as: UTF8.self) }
    }
}

extension Outcome.CVM {
    /// Cardholder verification as a receipt states it, in English.
    public var receiptText: String {
        switch self {
        case .noCVM: "No cardholder verification"
        case .obtainSignature: "Signature"
        case .onlinePIN: "PIN"
        case .confirmationCodeVerified: "Verified on consumer device"
        }
    }
}
