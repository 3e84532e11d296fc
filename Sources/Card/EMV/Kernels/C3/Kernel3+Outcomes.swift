// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// How kernel 3 ends (C-3 5.8).
extension Kernel3 {
    static let insertOrSwipe = Outcome(.tryAnotherInterface, uiOnOutcome: UIRequest(.insertOrSwipe, .processingError))

    /// C-3 5.5.1.3: the card wants the contact interface for cash or cashback.
    static let insertOrSwipeForContact = Outcome(
        .tryAnotherInterface, uiOnOutcome: UIRequest(.insertOrSwipe, .processingError),
        alternateInterface: .contactChip)

    var declined: Outcome {
        Outcome(
            .declined, cvm: .noCVM, uiOnOutcome: balanceMessage(.notAuthorised), discretionaryData: discretionaryData)
    }

    func approved(cvm: Outcome.CVM) -> Outcome {
        let text = cvm == .obtainSignature ? UIRequest.Message.approvedPleaseSign : .approved
        return Outcome(
            .approved, cvm: cvm, uiOnOutcome: balanceMessage(text), dataRecord: dataRecord,
            discretionaryData: discretionaryData, receipt: cvm == .obtainSignature)
    }

    /// C-3 5.8.1: with issuer update processing on both sides the card is to be presented again.
    func online(cvm: Outcome.CVM, _ qualifiers: CTQ?) -> Outcome {
        var outcome = Outcome(
            .onlineRequest, cvm: cvm, uiOnOutcome: balanceMessage(.authorising), dataRecord: dataRecord,
            discretionaryData: discretionaryData, receipt: cvm == .obtainSignature)
        if ttq.supportsIssuerUpdate, qualifiers?.supportsIssuerUpdate == true {
            outcome.start = .b
            outcome.onlineResponseData = .emvData
            outcome.uiOnRestart = UIRequest(.presentCardAgain, .readyToRead)
            outcome.fieldOffRequest = 0
        }
        return outcome
    }

    /// The available offline spending amount (9F5D) is shown as a balance (C-3 4.3.1.1).
    private func balanceMessage(_ text: UIRequest.Message) -> UIRequest {
        var request = message(text)
        if let amount = store.value(.availableOfflineSpendingAmount), amount.count == 6 {
            request.value = UIRequest.Value(
                qualifier: .balance, amount: amount, currency: store.value(.transactionCurrency) ?? [])
        }
        return request
    }

    private var discretionaryData: [DataObject]? { store.object(.availableOfflineSpendingAmount).map { [$0] } }

    /// C-3 Table 4-3. The acquirer gets an all-zero TVR, and the form factor without its lowest nibble.
    private var dataRecord: [DataObject] {
        var record: [DataObject] = []
        record.reserveCapacity(20)
        for tag in Kernel3.recordTags {
            switch tag {
            case .tvr: record.append(DataObject(.tvr, [0, 0, 0, 0, 0]))
            case .formFactorIndicator:
                guard var factor = store.value(tag) else { continue }
                if factor.count >= 4 { factor[3] &= 0xF0 }
                record.append(DataObject(tag, factor))
            case .entryMode: record.append(store.object(tag) ?? DataObject(tag, [0x07]))
            case _:
                if let object = store.object(tag) { record.append(object) }
            }
        }
        return record
    }

    private static let recordTags: [Tag] = [
        .amountAuthorised, .amountOther, .applicationCryptogram, .aip, .atc, .panSequenceNumber,
        .customerExclusiveData, .issuerApplicationData, .entryMode, .terminalCountry, .terminalCapabilities,
        .track2Equivalent, .transactionCurrency, .transactionDate, .transactionType, .unpredictableNumber, .tvr,
        .formFactorIndicator, .paymentAccountReference, .tokenRequestorID,
    ]
}
