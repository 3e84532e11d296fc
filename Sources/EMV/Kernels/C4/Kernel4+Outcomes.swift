import CardBytes

extension Kernel4 {
    /// Online data of kernel 4, with the authorisation response code where the reader answered for the issuer.
    static let recordTags: [Tag] = [
        0x57, 0x5A, 0x5F20, 0x5F24, 0x5F2A, 0x5F34, 0x82, 0x84, 0x8A, 0x95, 0x9A, 0x9C, 0x9F02, 0x9F03, 0x9F06, 0x9F09,
        0x9F0D, 0x9F0E, 0x9F0F, 0x9F10, 0x9F15, 0x9F1A, 0x9F26, 0x9F27, 0x9F33, 0x9F34, 0x9F35, 0x9F36, 0x9F37,
        0x9F4E, 0x9F6D, 0x9F6E,
    ]

    func outcome(_ answered: CryptogramType) -> Outcome {
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

    /// 9F6E byte 1 bit 3: the other interface is tried before a decline.
    private var refused: Outcome {
        (store.byte(0x9F6E) ?? 0) & 0x04 != 0 && readerHasContact ? .tryContact() : declined
    }

    var declined: Outcome { Outcome(.declined, cvm: .noCVM, uiOnOutcome: message(.notAuthorised)) }

    /// Above the transaction limit: insert the card where both sides have contacts, else pay otherwise.
    var overLimit: Outcome {
        let error = ErrorIndication(l2: .maxLimitExceeded)
        return readerHasContact && !isMagStripe ? .tryContact(error) : .unusableCard(.maxLimitExceeded)
    }

    func message(_ message: UIRequest.Message) -> UIRequest {
        UIRequest(message, .notReady, languagePreference: language)
    }
}
