// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension AuthenticationRequest {
    /// A request made of what the card sent.
    ///
    /// - Parameters:
    ///   - aid: the AID whose first five bytes choose the CA key.
    ///   - records: static data collected from the records, without the AIP.
    /// - Returns: `nil` where something that the method needs is missing, or 9F4A is anything but 82.
    init?(_ method: Method, _ store: DataStore, aid: [UInt8], records: [UInt8], date: EMVDate) {
        guard aid.count >= 5, let index = store.byte(.caPublicKeyIndex),
            let issuerCertificate = store.value(.issuerCertificate),
            let issuerExponent = store.value(.issuerExponent), let pan = store.packedPAN,
            let staticData = AuthenticationRequest.staticData(records, store)
        else { return nil }
        let signature: [UInt8]?
        switch method {
        case .sda: signature = store.value(.signedStaticData)
        case .dda, .cda:
            signature = store.value(.signedDynamicData)
            guard store.isPresentNotEmpty(.iccCertificate), store.isPresentNotEmpty(.iccExponent) else { return nil }
        }
        guard let signature else { return nil }
        self.init(
            method: method, rid: Array(aid.prefix(5)), caIndex: index, issuerCertificate: issuerCertificate,
            issuerExponent: issuerExponent, issuerRemainder: store.value(.issuerRemainder) ?? [],
            iccCertificate: store.value(.iccCertificate) ?? [], iccExponent: store.value(.iccExponent) ?? [],
            iccRemainder: store.value(.iccRemainder) ?? [], signature: signature, pan: pan, staticData: staticData,
            date: date)
    }

    /// The records, with the AIP's value where the Static Data Authentication Tag List (9F4A) asks for it; any other
    /// content of that list makes offline data authentication impossible (EMV Book 3 §10.3).
    private static func staticData(_ records: [UInt8], _ store: DataStore) -> [UInt8]? {
        guard let list = store.value(.staticDataTagList) else { return records }
        guard list == [0x82], let profile = store.value(.aip) else { return nil }
        return records + profile
    }
}
