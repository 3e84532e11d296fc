import CardBytes

extension Kernel3 {
    static let insertOrSwipe = Outcome(.tryAnotherInterface, uiOnOutcome: UIRequest(.insertOrSwipe, .processingError))

    /// C-3 5.5.1.3: the card wants the contact interface for cash or cashback.
    static let insertOrSwipeForContact = Outcome(
        .tryAnotherInterface, uiOnOutcome: UIRequest(.insertOrSwipe, .processingError),
        alternateInterface: .contactChip)

    /// 6986: the consumer device wants its holder. 1.3 s of field off as the kernels of that age use; another source has
    /// 1 s.
    static func seePhone(_ status: StatusWord) -> Outcome {
        Outcome(
            .tryAgain, start: .b, uiOnOutcome: UIRequest(.seePhone, .processingError, holdTime: 13),
            uiOnRestart: UIRequest(.seePhone, .readyToRead), fieldOffRequest: 13,
            error: ErrorIndication(l2: .statusBytes, statusWord: status, messageOnError: .seePhone))
    }

    var declined: Outcome {
        Outcome(
            .declined, cvm: .noCVM, uiOnOutcome: message(.notAuthorised), discretionaryData: discretionaryData)
    }

    func approved(cvm: Outcome.CVM) -> Outcome {
        let text = cvm == .obtainSignature ? UIRequest.Message.approvedPleaseSign : .approved
        return Outcome(
            .approved, cvm: cvm, uiOnOutcome: message(text), dataRecord: dataRecord,
            discretionaryData: discretionaryData, receipt: cvm == .obtainSignature)
    }

    /// C-3 5.8.1: with issuer update processing on both sides the card is to be presented again.
    func online(cvm: Outcome.CVM, _ qualifiers: CTQ?) -> Outcome {
        var outcome = Outcome(
            .onlineRequest, cvm: cvm, uiOnOutcome: message(.authorising), dataRecord: dataRecord,
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
    private func message(_ message: UIRequest.Message) -> UIRequest {
        var request = UIRequest(message, .notReady, languagePreference: store.value(0x5F2D) ?? [])
        if let amount = store.value(0x9F5D), amount.count == 6 {
            request.value = UIRequest.Value(
                qualifier: .balance, amount: amount, currency: store.value(0x5F2A) ?? [])
        }
        return request
    }

    private var discretionaryData: [DataObject]? { store.object(0x9F5D).map { [$0] } }

    /// C-3 Table 4-3. The acquirer gets an all-zero TVR, and the form factor without its lowest nibble.
    private var dataRecord: [DataObject] {
        var record: [DataObject] = []
        record.reserveCapacity(20)
        for tag in Kernel3.recordTags {
            switch tag {
            case 0x95: record.append(DataObject(0x95, [0, 0, 0, 0, 0]))
            case 0x9F6E:
                guard var factor = store.value(tag) else { continue }
                if factor.count >= 4 { factor[3] &= 0xF0 }
                record.append(DataObject(tag, factor))
            case 0x9F39: record.append(store.object(tag) ?? DataObject(tag, [0x07]))
            case _:
                if let object = store.object(tag) { record.append(object) }
            }
        }
        return record
    }

    private static let recordTags: [Tag] = [
        0x9F02, 0x9F03, 0x9F26, 0x82, 0x9F36, 0x5F34, 0x9F7C, 0x9F10, 0x9F39, 0x9F1A, 0x9F33, 0x57, 0x5F2A, 0x9A,
        0x9C, 0x9F37, 0x95, 0x9F6E,
    ]
}
