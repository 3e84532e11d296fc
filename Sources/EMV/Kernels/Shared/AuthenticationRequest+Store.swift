import CardBytes

extension AuthenticationRequest {
    /// A request made of what the card sent.
    ///
    /// - Parameters:
    ///   - aid: the AID whose first five bytes choose the CA key.
    ///   - records: static data collected from the records, without the AIP.
    /// - Returns: `nil` where something that the method needs is missing, or 9F4A is anything but 82.
    init?(_ method: Method, _ store: DataStore, aid: [UInt8], records: [UInt8], date: EMVDate) {
        guard aid.count >= 5, let index = store.byte(0x8F), let issuerCertificate = store.value(0x90),
            let issuerExponent = store.value(0x9F32), let pan = store.packedPAN,
            let staticData = AuthenticationRequest.staticData(records, store)
        else { return nil }
        let signature: [UInt8]?
        switch method {
        case .sda: signature = store.value(0x93)
        case .dda, .cda:
            signature = store.value(0x9F4B)
            guard store.isPresentNotEmpty(0x9F46), store.isPresentNotEmpty(0x9F47) else { return nil }
        }
        guard let signature else { return nil }
        self.init(
            method: method, rid: Array(aid.prefix(5)), caIndex: index, issuerCertificate: issuerCertificate,
            issuerExponent: issuerExponent, issuerRemainder: store.value(0x92) ?? [],
            iccCertificate: store.value(0x9F46) ?? [], iccExponent: store.value(0x9F47) ?? [],
            iccRemainder: store.value(0x9F48) ?? [], signature: signature, pan: pan, staticData: staticData, date: date)
    }

    /// The records, with the AIP's value where the Static Data Authentication Tag List (9F4A) asks for it; any other
    /// content of that list makes offline data authentication impossible (EMV Book 3 §10.3).
    private static func staticData(_ records: [UInt8], _ store: DataStore) -> [UInt8]? {
        guard let list = store.value(0x9F4A) else { return records }
        guard list == [0x82], let profile = store.value(0x82) else { return nil }
        return records + profile
    }
}
