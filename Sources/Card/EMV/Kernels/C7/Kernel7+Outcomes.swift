// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension Kernel7 {
    private static let recordTags: [Tag] = [
        .pan, .cardholderName, .expirationDate, .transactionCurrency, .panSequenceNumber, .aip, .tvr, .transactionDate,
        .transactionType, .issuerApplicationData, .terminalCountry, .applicationCryptogram, .atc, .unpredictableNumber,
        .formFactorIndicator, .customerExclusiveData, .cryptogramInformation, .track2Equivalent, .ttq,
        .amountAuthorised, .amountOther, .availableOfflineSpendingAmount, .productIdentification, .terminalAID,
        .transactionTime, .merchantNameAndLocation, .paymentAccountReference,
        .tokenRequestorID,
    ]

    var declined: Outcome { Outcome(.declined, cvm: .noCVM, uiOnOutcome: message(.notAuthorised)) }

    func approved(_ cvm: Outcome.CVM) -> Outcome {
        let text = cvm == .obtainSignature ? UIRequest.Message.approvedPleaseSign : .approved
        return Outcome(
            .approved, cvm: cvm, uiOnOutcome: message(text), dataRecord: store.objects(Kernel7.recordTags),
            receipt: cvm == .obtainSignature)
    }

    func online(_ cvm: Outcome.CVM) -> Outcome {
        Outcome(
            .onlineRequest, cvm: cvm, uiOnOutcome: message(.authorising),
            dataRecord: store.objects(Kernel7.recordTags), receipt: cvm == .obtainSignature)
    }
}
