// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import POSAPI
import PaymentValues
import TapSession

extension ChipData {
    /// What of a tap belongs on its receipt. Takes nothing but the allow-listed data objects.
    init(_ result: PaymentTapResult) {
        let verification: Verification =
            switch result.cvm {
            case .confirmationCodeVerified: .device
            case .obtainSignature: .signature
            case .onlinePIN: .onlinePIN
            case .noCVM, nil: .none
            }
        self.init(
            entryMode: result.entryMode == .contactlessEMV ? .contactlessEMV : .contactlessMagstripe,
            verification: verification, isOffline: result.status == .approved)
        application = result.label
        let tags = result.read?.clearTags
        func value(_ tag: Tag) -> String? { tags?.value(of: tag).map { Hex.string($0) } }
        aid = value(0x84) ?? value(0x9F06) ?? (result.aid.isEmpty ? nil : Hex.string(result.aid))
        cryptogram = value(0x9F26)
        cryptogramInformation = value(0x9F27)
        tvr = value(0x95)
        tsi = value(0x9B)
        counter = value(0x9F36)
        sequenceNumber = value(0x5F34)
        unpredictableNumber = value(0x9F37)
        interchangeProfile = value(0x82)
        issuerData = value(0x9F10)
        verificationResults = value(0x9F34)
    }
}
