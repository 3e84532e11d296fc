// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Processing restrictions, cardholder verification and terminal action analysis (C-2 PRO, CVM, TAA).
extension Kernel2 {
    /// C-2 S456.35 to S456.39: restrictions, CVM, floor limit, action analysis.
    mutating func decide() -> KernelStep {
        tvr.formUnion(ProcessingRestrictions.evaluate(store))
        guard let verification = selectCVM() else { return fail(.cardDataError, at: .cardholderVerification) }
        selection = verification
        if options.masksCVMCode, selection.results[0] != 0x3F { selection.results[0] &= 0x3F }
        tvr.formUnion(selection.tvr)
        needsReceipt = needsReceipt || selection.receipt
        store.set(.cvmResults, selection.results)
        if amount > store.digits(.readerFloorLimit) ?? 0 { tvr.insert(.floorLimitExceeded) }
        tvr.formUnion(riskBits())
        store.set(.tvr, tvr.bytes)
        requested = Kernel2TAA.decide(tvr, ActionCodes(store), terminalType)
        return writeBeforeCryptogram()
    }

    /// A torn transaction of this card is recovered first (C-2 S456.43).
    mutating func askForCryptogram() -> KernelStep {
        store.isPresentNotEmpty(.drdol) && torn.record(of: store) != nil ? recover() : generateAC()
    }

    /// C-2 CVM.
    ///
    /// - Returns: `nil` where the card's list cannot be read (CVM.9; one source: another leaves an odd byte out).
    private func selectCVM() -> CVMSelection? {
        if hasOnDeviceCVM {
            return exceedsCVMLimit
                ? CVMSelection(cvm: .confirmationCodeVerified, results: [0x01, 0x00, 0x02])
                : CVMSelection(cvm: .noCVM, results: [0x3F, 0x00, 0x02])
        }
        guard (store.byte(.aip) ?? 0) & 0x10 != 0 else { return .notPerformed }
        guard let value = store.value(.cvmList) else {
            return CVMSelection(cvm: .noCVM, results: [0x3F, 0x00, 0x00], tvr: .iccDataMissing)
        }
        guard let list = CVMList(value) else { return nil }
        let conditions = CVMConditions(
            amount: amount, otherAmount: store.digits(.amountOther) ?? 0, transactionType: type,
            terminalType: terminalType,
            isApplicationCurrency: store.isEqual(.applicationCurrency, .transactionCurrency),
            capabilities: store.byte(.terminalCapabilities, at: 1) ?? 0)
        return .walk(list, conditions)
    }
}
