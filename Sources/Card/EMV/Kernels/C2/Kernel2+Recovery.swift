// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Recovery of a torn transaction (C-2 §3.7, S10).
extension Kernel2 {
    /// What the torn-transaction log needs of the commands sent.
    mutating func keepRelatedData() {
        store.set(.cdol1RelatedData, cdolData)
        store.set(.referenceControlParameter, [requested.rawValue | (requestedCDA ? 0x10 : 0x00)])
        if let values = store.fill(listIn: .drdol) { store.set(.drdolRelatedData, values) }
    }

    /// RECOVER AC: the DRDOL data of the torn transaction. Class byte 80 is unverified.
    mutating func recover() -> KernelStep {
        let data = torn.record(of: store)?.record.value(of: .drdolRelatedData) ?? []
        state = .recoveringAC
        return KernelStep(.transmit(ShortCommand.make(0x80, 0xD0, 0x00, 0x00, data)))
    }

    /// C-2 S9.5 to S9.15: a transaction that can be recovered is kept. Where it cannot, and the card may have written,
    /// the terminal gets the record.
    mutating func cryptogramLost(_ loss: CardLoss, now: TapInstant) -> Outcome {
        let isKept = torn.canKeep(store)
        let records = torn.keep(store, now: now)
        if !isKept, writesStorage {
            var outcome = unusable(.ok, nil)
            outcome.error.l1 = ErrorIndication.L1(loss)
            return outcome
        }
        var outcome = Outcome.cardLeft(.endApplication, loss, languagePreference: language)
        outcome.tornTransactions = records
        return outcome
    }

    /// C-2 S10: a card that cannot recover gets a new GENERATE AC. Any other answer belongs to the torn transaction, whose
    /// data are in force before it is judged: where the card may have written, a wrong one leaves their data record.
    mutating func recoveryReceived(_ response: ResponseAPDU) -> KernelStep {
        guard let record = torn.record(of: store) else { return generateAC() }
        guard response.status.isSuccess else {
            torn.retry(record)
            return generateAC()
        }
        // S10.10, S10.11
        torn.remove(record)
        for object in record.record where object.tag != .pan && object.tag != .panSequenceNumber {
            store.set(object.tag, object.value)
        }
        pdolData = Kernel2.unwrapped(store.value(.pdolRelatedData) ?? [])
        cdolData = store.value(.cdol1RelatedData) ?? []
        relay?.restore(store)
        tvr = store.bits(.tvr)
        let reference = store.byte(.referenceControlParameter) ?? 0
        requested = ApplicationCryptogram(rawValue: reference & 0xC0) ?? .aac
        requestedCDA = reference & 0x10 != 0
        // S10.12: an answer of format 1 (80) too.
        guard response.data.first == 0x77 else { return fail(.parsingError) }
        return cryptogramReceived(response)
    }

    /// The values inside the command template (83) that DF8111 keeps.
    private static func unwrapped(_ data: [UInt8]) -> [UInt8] {
        do throws(CardDataError) {
            return Array(data[try ResponseTemplate(data).value])
        } catch {
            return []
        }
    }
}
