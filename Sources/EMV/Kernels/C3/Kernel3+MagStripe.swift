import CardBytes

/// Mag-stripe mode (MSD), where TTQ byte 1 bit 8 is 1. From a kernel source that quotes VCPS 2.1.3; unverified beyond it.
///
/// The tracks go to the acquirer as 57, with 5F20 and 9F1F from which track 1 is made; they are not spelled out here.
extension Kernel3 {
    /// AIP byte 2 bit 8 and an AFL, without a cryptogram; a reader without EMV mode takes one (CVN 17).
    var isMagStripe: Bool {
        guard ttq.supportsMagStripe, (store.byte(0x82, at: 1) ?? 0) & 0x80 != 0, store.isPresentNotEmpty(0x94) else {
            return false
        }
        return !ttq.supportsEMV || !store.isPresentNotEmpty(0x9F26)
    }

    /// The data of a mag-stripe authorisation; beside a cryptogram its counter and its issuer application data.
    mutating func concludeMagStripe(signals: [UIRequest]) -> KernelStep {
        let hasCryptogram = store.isPresentNotEmpty(0x9F26)
        let needed: [Tag] = hasCryptogram ? [0x57, 0x82, 0x9F10, 0x9F36] : [0x57, 0x82]
        guard store.firstMissing(of: needed) == nil else {
            return finish(.unusableCard(.cardDataMissing), signals: signals)
        }
        // Mag-stripe data can only be judged by the issuer.
        guard !ttq.isOfflineOnly else { return finish(declined, signals: signals) }
        switch cardholderVerification(CTQ(store), hasCryptogram ? .arqc : nil) {
        case .impossible: return finish(declined, signals: signals)
        case .method(let cvm, _):
            var outcome = online(cvm: cvm, nil)
            outcome.dataRecord = magStripeRecord
            return finish(outcome, signals: signals)
        }
    }

    /// 9F39 says contactless mag-stripe (91).
    private var magStripeRecord: [DataObject] {
        Kernel3.magStripeRecordTags.compactMap { tag in
            tag == 0x9F39 ? DataObject(tag, [0x91]) : store.object(tag)
        }
    }

    private static let magStripeRecordTags: [Tag] = [
        0x9F02, 0x9F26, 0x5F34, 0x9F36, 0x9F7C, 0x9F6E, 0x9F10, 0x9F39, 0x9F66, 0x9F37, 0x9A, 0x9F21, 0x57, 0x5F20,
        0x9F1F, 0x5F28, 0x9F57,
    ]
}
