// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension Kernel5 {
    private static let recordTags: [Tag] = [
        .amountAuthorised, .amountOther, .applicationCryptogram, .aip, .panSequenceNumber, .atc, .cardholderName,
        .cryptogramInformation, .issuerApplicationData, .entryMode, .terminalCountry, .tvr, .track1DiscretionaryData,
        .track2Equivalent, .transactionCurrency, .transactionDate, .transactionTime, .transactionType,
        .unpredictableNumber, .cardholderVerificationStatus, .cdol2, .cvmResults, .dfName, .issuerCountry,
        .schemeIssuerCountry, .paymentAccountReference, .tokenRequestorID,
    ]
    private static let magStripeRecordTags: [Tag] = [
        .amountAuthorised, .amountOther, .cardholderName, .entryMode, .terminalCountry, .track1DiscretionaryData,
        .track2Equivalent, .transactionCurrency, .transactionDate, .transactionTime, .transactionType,
        .cardholderVerificationStatus, .cdol2, .cvmResults, .dfName, .issuerCountry, .schemeIssuerCountry,
    ]

    /// K5-4 and K5-6. 9F39 is 07 for a chip, 91 for mag-stripe mode, whatever the terminal has.
    private var dataRecord: [DataObject] {
        let tags = mode == .magStripe ? Kernel5.magStripeRecordTags : Kernel5.recordTags
        return tags.compactMap { tag in
            tag == .entryMode ? DataObject(tag, [mode == .magStripe ? 0x91 : 0x07]) : store.object(tag)
        }
    }

    /// K5-4. A decline carries a data record, too: a refund is one, and the acquirer needs the track for it.
    var declined: Outcome {
        Outcome(
            .declined, cvm: .noCVM, uiOnOutcome: message(.notAuthorised),
            dataRecord: store.objects([.track2Equivalent, .tvr, .terminalInterchangeProfile]))
    }

    func approved(_ selection: CVMSelection) -> Outcome {
        let text = selection.cvm == .obtainSignature ? UIRequest.Message.approvedPleaseSign : .approved
        return Outcome(
            .approved, cvm: selection.cvm, uiOnOutcome: message(text), dataRecord: dataRecord,
            receipt: selection.receipt)
    }

    /// K5-7. Issuer Update Parameter (9F60): 01 the card stays in the field, 02 it is presented a second time. Which
    /// start points that means is unverified.
    func online(_ selection: CVMSelection) -> Outcome {
        var outcome = Outcome(
            .onlineRequest, cvm: selection.cvm, uiOnOutcome: message(.authorising), dataRecord: dataRecord,
            receipt: selection.receipt)
        guard mode == .emv, profile.supportsIssuerUpdate else { return outcome }
        switch store.byte(.issuerUpdateParameter) {
        case 0x01:
            outcome.start = .d
            outcome.onlineResponseData = .emvData
        case 0x02:
            outcome.start = .b
            outcome.onlineResponseData = .emvData
            outcome.uiOnRestart = UIRequest(.presentCardAgain, .readyToRead, languagePreference: language)
        case _: break
        }
        return outcome
    }
}
