// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Offline data authentication as kernels 3 to 7 use it: which CA keys, on which day, verified by whom.
public struct CardAuthentication: Sendable {
    private let aid: [UInt8]
    private let date: EMVDate
    private let authentication: OfflineAuthentication

    public init(_ activation: borrowing KernelActivation) {
        aid = activation.combination.aid
        date = activation.transaction.date
        authentication = activation.authentication
    }

    /// The TVR bits that keep a kernel from asking for CDA: certificates, exponents or 9F4A's demand cannot be met, or
    /// there is no CA key. Remainders are judged with the keys.
    ///
    /// - Parameter staticData: what the records gave to be authenticated; `nil` where one of them is unusable.
    public func missingForCDA(_ store: DataStore, staticData: [UInt8]?) -> TVR {
        for tag: Tag in [.caPublicKeyIndex, .issuerCertificate, .issuerExponent, .iccCertificate, .iccExponent]
        where !store.isPresentNotEmpty(tag) {
            return [.iccDataMissing, .cdaFailed]
        }
        if staticData == nil { return .cdaFailed }
        if let list = store.value(.staticDataTagList), list != [0x82] { return .cdaFailed }
        return unmatchedKey(store) == nil ? [] : .cdaFailed
    }

    /// The CA key that the card names and this terminal cannot use; `nil` where it can, and where the card names none.
    public func unmatchedKey(_ store: DataStore) -> UnmatchedCAKey? {
        authentication.unmatchedKey(of: store, aid: aid, on: date)
    }

    /// What a signature carries; `nil` where it does not hold or something that it needs is missing.
    public func verified(
        _ method: AuthenticationRequest.Method, _ store: DataStore, staticData: [UInt8]?
    ) -> AuthenticatedData? {
        guard let staticData,
            let request = AuthenticationRequest(method, store, aid: aid, records: staticData, date: date),
            case .verified(let data) = authentication.verify(request)
        else { return nil }
        return data
    }

    /// Judges the combined signature (9F4B) of an answer and stores its cryptogram and ICC Dynamic Number (EMV Book 2
    /// §6.6; kernels 4 to 6). A missing or wrong signature is a failed CDA in the TVR.
    ///
    /// - Parameter transactionData: DOL values as sent and the answer's objects without 9F4B.
    public func verifyCombined(
        _ store: inout DataStore, _ tvr: inout TVR, staticData: [UInt8]?, transactionData: [UInt8]
    ) -> Bool {
        let method = AuthenticationRequest.Method.cda(
            unpredictableNumber: store.value(.unpredictableNumber) ?? [], transactionData: transactionData,
            cryptogramInformation: store.byte(.cryptogramInformation) ?? 0)
        guard store.isPresentNotEmpty(.signedDynamicData), let data = verified(method, store, staticData: staticData),
            data.cryptogram.count == 8
        else {
            tvr.insert(.cdaFailed)
            store.set(.tvr, tvr.bytes)
            return false
        }
        store.set(.applicationCryptogram, data.cryptogram)
        store.set(.iccDynamicNumber, data.iccDynamicNumber)
        return true
    }
}

extension OfflineAuthentication {
    /// The CA key that the card names and this terminal cannot use; `nil` where it can, and where the card names none.
    func unmatchedKey(of store: DataStore, aid: [UInt8], on date: EMVDate) -> UnmatchedCAKey? {
        guard let index = store.byte(.caPublicKeyIndex) else { return nil }
        let name = CAKeyName(rid: Array(aid.prefix(5)), index: index)
        switch keyState(name, date) {
        case .usable: return nil
        case .expired: return UnmatchedCAKey(name, isExpired: true)
        case .absent: return UnmatchedCAKey(name, isExpired: false)
        }
    }
}
