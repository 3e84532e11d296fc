import CardBytes

extension Kernel7 {
    private static let recordTags: [Tag] = [
        .pan, .cardholderName, .expirationDate, .transactionCurrency, .panSequenceNumber, .aip, .tvr, .transactionDate,
        .transactionType, .issuerApplicationData, .terminalCountry, .applicationCryptogram, .atc, .unpredictableNumber,
        .formFactorIndicator, .customerExclusiveData, .cryptogramInformation, .track2Equivalent, .ttq,
        .amountAuthorised, .amountOther, .availableOfflineSpendingAmount, .productIdentification, .terminalAID,
        .transactionTime, .merchantNameAndLocation, .paymentAccountReference,
    ]

    /// 6986: the consumer device wants its holder; the field goes off for a second.
    func presentAgain(_ status: StatusWord) -> Outcome {
        Outcome(
            .tryAgain, start: .b,
            uiOnOutcome: UIRequest(.presentCardAgain, .processingError, holdTime: 10, languagePreference: language),
            uiOnRestart: UIRequest(.presentCardAgain, .readyToRead, languagePreference: language),
            fieldOffRequest: 10,
            error: ErrorIndication(l2: .statusBytes, statusWord: status, messageOnError: .presentCardAgain))
    }

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

    private func message(_ message: UIRequest.Message) -> UIRequest {
        UIRequest(message, .notReady, languagePreference: language)
    }
}
