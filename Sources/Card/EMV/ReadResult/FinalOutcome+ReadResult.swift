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
