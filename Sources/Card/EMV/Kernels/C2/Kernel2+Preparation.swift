// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// After the last record: limits, mandatory objects and what CDA needs (C-2 S456).
extension Kernel2 {
    /// C-2 S456.
    mutating func prepareCryptogram() -> KernelStep {
        if amount > transactionLimit { return finish(.selectNext(.maxLimitExceeded).ended(at: .cardData)) }
        guard store.firstMissing(of: [.expirationDate, .pan, .cdol1]) == nil else {
            return fail(.cardDataMissing, at: .cardData)
        }
        if readsStorage, !isStorageOfThisCard { return fail(.cardDataError, at: .cardData) }
        if wantsCDA {
            // S456.26 to S456.28: absent too.
            guard store.value(.staticDataTagList) == [0x82] else { return fail(.cardDataError, at: .cardData) }
            tvr.formUnion(missingForCDA)
        }
        needsReceipt = exceedsCVMLimit
        let verification = store.byte(needsReceipt ? .cvmCapabilityRequired : .cvmCapabilityNotRequired) ?? 0
        store.set(
            .terminalCapabilities,
            [store.byte(.cardDataInputCapability) ?? 0, verification, store.byte(.securityCapability) ?? 0])
        guard wantsBalance, store.isPresent(.balanceBeforeCryptogram) else { return checkVelocity() }
        state = .balanceBefore
        return KernelStep(.transmit(Kernel2.getBalance))
    }

    /// C-2 S456.25: certificates, exponents and the CA key that CDA needs. Remainders are judged with the keys.
    private var missingForCDA: TVR {
        let needed: [Tag] = [
            .caPublicKeyIndex, .issuerCertificate, .issuerExponent, .iccCertificate, .iccExponent, .staticDataTagList,
        ]
        if store.firstMissing(of: needed) != nil { return [.iccDataMissing, .cdaFailed] }
        if records?.hasUnusableRecord == true { return .cdaFailed }
        return authentication.unmatchedKey(of: store, aid: aid, on: date) == nil ? [] : .cdaFailed
    }
}
