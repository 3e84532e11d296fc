// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// From the last record to the checks on the answer of GENERATE AC (C-8 S20…S30).
extension Kernel8 {
    /// C-8 202122232425.7 to 202122232425.21.
    mutating func prepareCryptogram() -> KernelStep {
        let exceedsCVMLimit = amount > store.digits(.c8CVMLimit) ?? 0
        needsReceipt = exceedsCVMLimit
        let methods = store.byte(exceedsCVMLimit ? .c8CVMCapabilityRequired : .c8CVMCapabilityNotRequired) ?? 0
        store.set(
            .terminalCapabilities,
            [store.byte(.c8CardDataInputCapability) ?? 0, methods, store.byte(.c8SecurityCapability) ?? 0])
        var riskData = store.value(.terminalRiskManagementData) ?? []
        while riskData.count < 8 { riskData.append(0x00) }
        riskData[0] = methods
        if exceedsCVMLimit { riskData[1] |= 0x80 }
        store.set(.terminalRiskManagementData, riskData)
        if amount > store.digits(.c8FloorLimit) ?? 0 { tvr.insert(.floorLimitExceeded) }
        if store.value(.dfName)?.starts(with: aid) != true { tvr.insert(.aidMismatch) }
        if !authenticatesLocally { tvr.insert(.localAuthenticationNotPerformed) }
        requested = analyse()
        store.set(.tvr, tvr.bytes)
        guard let values = store.fill(listIn: .cdol1), values.count <= 255 else {
            return fail(.cardDataError, at: .cryptogram)
        }
        cdolData = values
        state = .generatingAC
        // P2 bit 8: WRITE DATA follows.
        let more: UInt8 = toWrite.isEmpty ? 0x00 : 0x80
        return KernelStep(.transmit(ShortCommand.make(0x80, 0xAE, requested.rawValue, more, values)))
    }

    /// Kernel Qualifier byte 2 bit 8 and AIP byte 1 bit 1: kernel and card do local authentication.
    private var authenticatesLocally: Bool {
        (store.byte(.kernelQualifier, at: 1) ?? 0) & 0x80 != 0 && (store.byte(.aip) ?? 0) & 0x01 != 0
    }

    private func analyse() -> ApplicationCryptogram {
        Kernel8TAA.decide(
            tvr, denial: store.bits(.c8ActionCodeDenial), online: store.bits(.c8ActionCodeOnline),
            terminalType,
            cardIsOnlineOnly: (store.byte(.aip, at: 1) ?? 0) & 0x08 == 0)
    }

    /// C-8 S26 to S30.
    mutating func cryptogramReceived(_ response: ResponseAPDU) -> KernelStep {
        guard response.status.isSuccess else { return fail(.statusBytes, statusWord: response.status) }
        let answered: [UInt8]
        do throws(CardDataError) {
            guard try ResponseTemplate(response.data).tag == .responseFormat2 else { return fail(.parsingError) }
            answered = try Kernel8.authenticatedPart(response.data)
            try store.store(response.data, policy: Kernel8.policy)
        } catch {
            return fail(error.l2)
        }
        let needed: [Tag] = [
            .atc, .cryptogramInformation, .applicationCryptogram, .cardholderVerificationDecision, .edaMAC,
            .issuerApplicationData, .pan,
        ]
        guard store.firstMissing(of: needed) == nil else { return fail(.cardDataMissing) }
        if let failure = checkMACs(answered) { return fail(failure, at: .offlineAuthentication) }
        if let failure = judge() { return fail(failure) }
        return toWrite.isEmpty ? conclude() : nextWrite()
    }

    /// The objects of the answer as received, without cryptogram and EDA-MAC.
    private static func authenticatedPart(_ data: [UInt8]) throws(CardDataError) -> [UInt8] {
        let template = try ResponseTemplate(data)
        let nodes: [TLVNode]
        do throws(TLVError) { nodes = try TLV.children(data, in: template.value) } catch { throw .malformed(error) }
        var part: [UInt8] = []
        for node in nodes where node.tag != .applicationCryptogram && node.tag != .edaMAC {
            part += data[node.start..<node.end]
        }
        return part
    }

    /// IAD-MAC, local authentication, EDA-MAC, in this order (C-8 2627.8 to 28.x).
    private mutating func checkMACs(_ answered: [UInt8]) -> ErrorIndication.L2? {
        // What the error "IAD-MAC failed" stands for is unverified; here the MAC cannot be computed.
        guard let channel, let extended = extendedStaticData else { return .iadMACFailed }
        let staticData = (records?.staticData ?? []) + extended + (store.value(.aip) ?? [])
        let staticDataHash = cryptography.hash(staticData)
        let relayData = relay?.signedPart ?? []
        iadMAC = channel.iadMAC(pdolData + cdolData + relayData + answered + staticDataHash)
        store.set(.iadMAC, iadMAC)
        guard copyIADMAC() else { return .cardDataError }
        if authenticatesLocally {
            guard let request = authenticationRequest(channel, staticDataHash) else { return .cardDataError }
            if cryptography.authenticate(request) != nil { tvr.insert(.localAuthenticationFailed) }
        }
        let expected = channel.edaMAC(cryptogram: store.value(.applicationCryptogram) ?? [], iadMAC: iadMAC)
        guard SecureChannel.isEqual(expected, (store.value(.edaMAC) ?? [])[...]) else { return .edaMACFailed }
        return nil
    }

    /// The objects of the Extended SDA Tag List (9F810A) as BER-TLV, absent ones empty; `nil` for a malformed list.
    private var extendedStaticData: [UInt8]? {
        guard let list = store.value(.extendedStaticDataTagList) else { return [] }
        guard let tags = TagList(list)?.tags else { return nil }
        var writer = TLVWriter()
        for tag in tags { writer.append(tag, store.value(tag) ?? []) }
        return writer.bytes
    }

    /// AIP byte 2 bits 3 and 2: the IAD-MAC goes into the issuer application data, at the reader's default offset (01)
    /// or at the card's (10).
    private mutating func copyIADMAC() -> Bool {
        let offset: UInt8?
        switch (store.byte(.aip, at: 1) ?? 0) & 0x06 {
        case 0x02: offset = store.byte(.defaultIADMACOffset)
        case 0x04: offset = store.byte(.iadMACOffset)
        case _: return true
        }
        guard let offset, var data = store.value(.issuerApplicationData), Int(offset) + iadMAC.count <= data.count
        else { return false }
        data.replaceSubrange(Int(offset)..<Int(offset) + iadMAC.count, with: iadMAC)
        store.set(.issuerApplicationData, data)
        return true
    }

    private func authenticationRequest(
        _ channel: SecureChannel, _ staticDataHash: [UInt8]
    ) -> LocalAuthenticationRequest? {
        guard let index = store.byte(.caPublicKeyIndex), let issuerCertificate = store.value(.issuerCertificate),
            let iccCertificate = store.value(.iccCertificate), let pan = store.value(.pan),
            let name = store.value(.dfName)
        else { return nil }
        return LocalAuthenticationRequest(
            rid: Array(name.prefix(5)), caIndex: index, issuerCertificate: issuerCertificate,
            iccCertificate: iccCertificate, pan: pan, staticDataHash: staticDataHash,
            blindedKey: channel.blindedKey, blindingFactor: channel.blindingFactor, date: date, time: time)
    }

    /// Cryptogram type, card TVR, cardholder verification, second action analysis (C-8 29.20 to 29.42).
    private mutating func judge() -> ErrorIndication.L2? {
        guard let answered = answeredType, answered.isAllowed(for: requested) else { return .cardDataError }
        if let card = store.value(.cardTVR).flatMap({ TVR($0) }) {
            let own = store.bits(.c8KernelTVRMask)
            tvr = tvr.intersection(own).union(card.subtracting(own))
        }
        let verification = CardholderVerificationDecision(
            store.byte(.cardholderVerificationDecision) ?? 0xFF, allowed: store.byte(.terminalRiskManagementData) ?? 0)
        tvr.formUnion(verification.tvr)
        cvm = verification.cvm
        store.set(.cvmResults, verification.results)
        decision = analyse()
        return nil
    }

    var answeredType: ApplicationCryptogram? {
        store.byte(.cryptogramInformation).flatMap { ApplicationCryptogram(cryptogramInformation: $0) }
    }
}
