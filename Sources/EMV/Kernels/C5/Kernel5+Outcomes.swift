import CardBytes

extension Kernel5 {
    private static let recordTags: [Tag] = [
        0x9F02, 0x9F03, 0x9F26, 0x82, 0x5F34, 0x9F36, 0x5F20, 0x9F27, 0x9F10, 0x9F39, 0x9F1A, 0x95, 0x9F1F, 0x57,
        0x5F2A,
        0x9A, 0x9F21, 0x9C, 0x9F37, 0x9F50, 0x8D, 0x9F34, 0x84, 0x5F28, 0x9F57,
    ]
    private static let magStripeRecordTags: [Tag] = [
        0x9F02, 0x9F03, 0x5F20, 0x9F39, 0x9F1A, 0x9F1F, 0x57, 0x5F2A, 0x9A, 0x9F21, 0x9C, 0x9F50, 0x8D, 0x9F34, 0x84,
        0x5F28, 0x9F57,
    ]

    /// 9F39 is 07 for a chip, 91 for mag-stripe mode, whatever the terminal has.
    private var dataRecord: [DataObject] {
        let tags = mode == .magStripe ? Kernel5.magStripeRecordTags : Kernel5.recordTags
        return tags.compactMap { tag in
            tag == 0x9F39 ? DataObject(tag, [mode == .magStripe ? 0x91 : 0x07]) : store.object(tag)
        }
    }

    /// A decline carries a data record, too: a refund is one, and the acquirer needs the track for it.
    var declined: Outcome {
        Outcome(
            .declined, cvm: .noCVM, uiOnOutcome: message(.notAuthorised),
            dataRecord: store.objects([0x57, 0x95, 0x9F53]))
    }

    func approved(_ selection: CVMSelection) -> Outcome {
        let text = selection.cvm == .obtainSignature ? UIRequest.Message.approvedPleaseSign : .approved
        return Outcome(
            .approved, cvm: selection.cvm, uiOnOutcome: message(text), dataRecord: dataRecord,
            receipt: selection.receipt)
    }

    /// Issuer Update Parameter (9F60): 01 the card stays in the field, 02 it is presented a second time. Which start points
    /// that means is unverified.
    func online(_ selection: CVMSelection) -> Outcome {
        var outcome = Outcome(
            .onlineRequest, cvm: selection.cvm, uiOnOutcome: message(.authorising), dataRecord: dataRecord,
            receipt: selection.receipt)
        guard mode == .emv, profile.supportsIssuerUpdate else { return outcome }
        switch store.byte(0x9F60) {
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

    func message(_ message: UIRequest.Message) -> UIRequest {
        UIRequest(message, .notReady, languagePreference: language)
    }
}

// MARK: Issuer update (unverified)

extension Kernel5 {
    mutating func startUpdate(_ response: OnlineResponse) -> KernelStep {
        update = IssuerUpdate(response)
        state = .updating
        return nextUpdate()
    }

    mutating func updateReceived(_ response: ResponseAPDU) -> KernelStep {
        update?.answered(response.status)
        return nextUpdate()
    }

    private mutating func nextUpdate() -> KernelStep {
        guard let command = update?.command else { return finish(updateOutcome) }
        return KernelStep(.transmit(command))
    }

    var updateOutcome: Outcome { IssuerUpdate.outcome(of: update, languagePreference: language) }
}
