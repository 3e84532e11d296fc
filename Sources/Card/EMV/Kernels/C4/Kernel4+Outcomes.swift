// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension Kernel4 {
    /// Online data of kernel 4 (K4-7), with the authorisation response code where the reader answered for the issuer.
    static let recordTags: [Tag] = [
        .track2Equivalent, .pan, .cardholderName, .expirationDate, .transactionCurrency, .panSequenceNumber, .aip,
        .dfName, .authorisationResponseCode, .tvr, .transactionDate, .transactionType, .amountAuthorised, .amountOther,
        .terminalAID, .readerApplicationVersion, .issuerActionCodeDefault, .issuerActionCodeDenial,
        .issuerActionCodeOnline, .issuerApplicationData, .merchantCategoryCode, .terminalCountry,
        .applicationCryptogram, .cryptogramInformation, .terminalCapabilities, .cvmResults, .terminalType, .atc,
        .unpredictableNumber, .merchantNameAndLocation, .readerCapabilities, .enhancedReaderCapabilities,
        .paymentAccountReference, .tokenRequestorID,
    ]

    func outcome(_ answered: ApplicationCryptogram) -> Outcome {
        switch answered {
        case .tc:
            Outcome(
                .approved, cvm: selection.cvm,
                uiOnOutcome: message(selection.cvm == .obtainSignature ? .approvedPleaseSign : .approved),
                dataRecord: store.objects(Kernel4.recordTags), receipt: selection.receipt)
        case .arqc:
            Outcome(
                .onlineRequest, cvm: selection.cvm, uiOnOutcome: message(.authorising),
                dataRecord: store.objects(Kernel4.recordTags), receipt: selection.receipt)
        case .aac: refused
        }
    }

    /// K4-7. 9F6E byte 1 bit 3: the other interface is tried before a decline.
    private var refused: Outcome {
        (store.byte(.enhancedReaderCapabilities) ?? 0) & 0x04 != 0 && readerHasContact ? .tryContact() : declined
    }

    var declined: Outcome { Outcome(.declined, cvm: .noCVM, uiOnOutcome: message(.notAuthorised)) }

    /// K4-4. Above the transaction limit: insert the card where both sides have contacts, else pay otherwise.
    var overLimit: Outcome {
        let error = ErrorIndication(l2: .maxLimitExceeded)
        return readerHasContact && !isMagStripe ? .tryContact(error) : .unusableCard(.maxLimitExceeded)
    }
}
