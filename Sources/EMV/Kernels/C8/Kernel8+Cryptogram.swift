import CardBytes

/// From the last record to the checks on the answer of GENERATE AC (C-8 S20…S30).
extension Kernel8 {
    /// C-8 202122232425.7 to 202122232425.21.
    mutating func prepareCryptogram() -> KernelStep {
        let exceedsCVMLimit = amount > store.digits(0x9F820E) ?? 0
        needsReceipt = exceedsCVMLimit
        let methods = store.byte(exceedsCVMLimit ? 0x9F8207 : 0x9F8208) ?? 0
        store.set(0x9F33, [store.byte(0x9F8206) ?? 0, methods, store.byte(0x9F820A) ?? 0])
        var riskData = store.value(0x9F1D) ?? []
        while riskData.count < 8 { riskData.append(0x00) }
        riskData[0] = methods
        if exceedsCVMLimit { riskData[1] |= 0x80 }
        store.set(0x9F1D, riskData)
        if amount > store.digits(0x9F820D) ?? 0 { tvr.insert(.floorLimitExceeded) }
        if store.value(0x84)?.starts(with: aid) != true { tvr.insert(.aidMismatch) }
        if !authenticatesLocally { tvr.insert(.localAuthenticationNotPerformed) }
        requested = analyse()
        store.set(0x95, tvr.bytes)
        guard let values = store.fill(listIn: 0x8C), values.count <= 255 else { return fail(.cardDataError) }
        cdolData = values
        state = .generatingAC
        // P2 bit 8: WRITE DATA follows.
        let more: UInt8 = toWrite.isEmpty ? 0x00 : 0x80
        return KernelStep(.transmit(ShortCommand.make(0x80, 0xAE, requested.rawValue, more, values)))
    }

    /// Kernel Qualifier byte 2 bit 8 and AIP byte 1 bit 1: kernel and card do local authentication.
    private var authenticatesLocally: Bool {
        (store.byte(0x9F2B, at: 1) ?? 0) & 0x80 != 0 && (store.byte(0x82) ?? 0) & 0x01 != 0
    }

    private func analyse() -> CryptogramType {
        Kernel8TAA.decide(
            tvr, denial: action(0x9F820B), online: action(0x9F820C),
            TerminalType(rawValue: store.byte(0x9F35) ?? 0),
            cardIsOnlineOnly: (store.byte(0x82, at: 1) ?? 0) & 0x08 == 0)
    }

    private func action(_ tag: Tag) -> TVR { store.value(tag).flatMap { TVR($0) } ?? [] }

    /// C-8 S26 to S30.
    mutating func cryptogramReceived(_ response: ResponseAPDU) -> KernelStep {
        guard response.status.isSuccess else { return fail(.statusBytes, statusWord: response.status) }
        let answered: [UInt8]
        do throws(CardDataError) {
            guard try ResponseTemplate(response.data).tag == 0x77 else { return fail(.parsingError) }
            answered = try Kernel8.authenticatedPart(response.data)
            try store.store(response.data, policy: Kernel8.policy)
        } catch {
            return fail(error.l2)
        }
        let needed: [Tag] = [0x9F36, 0x9F27, 0x9F26, 0x9F8102, 0x9F8105, 0x9F10, 0x5A]
        guard store.firstMissing(of: needed) == nil else { return fail(.cardDataMissing) }
        if let failure = checkMACs(answered) ?? judge() { return fail(failure) }
        return toWrite.isEmpty ? conclude() : nextWrite()
    }

    /// The objects of the answer as received, without cryptogram and EDA-MAC.
    private static func authenticatedPart(_ data: [UInt8]) throws(CardDataError) -> [UInt8] {
        let template = try ResponseTemplate(data)
        let nodes: [TLVNode]
        do throws(TLVError) { nodes = try TLV.children(data, in: template.value) } catch { throw .malformed(error) }
        var part: [UInt8] = []
        for node in nodes where node.tag != 0x9F26 && node.tag != 0x9F8105 {
            part += data[node.start..<node.end]
        }
        return part
    }

    /// IAD-MAC, local authentication, EDA-MAC, in this order (C-8 2627.8 to 28.x).
    private mutating func checkMACs(_ answered: [UInt8]) -> ErrorIndication.L2? {
        // What the error "IAD-MAC failed" stands for is unverified; here the MAC cannot be computed.
        guard let channel, let extended = extendedStaticData else { return .iadMACFailed }
        let staticData = (records?.staticData ?? []) + extended + (store.value(0x82) ?? [])
        let staticDataHash = cryptography.hash(staticData)
        let relayData = relay?.signedPart ?? []
        iadMAC = channel.iadMAC(pdolData + cdolData + relayData + answered + staticDataHash)
        store.set(0x9F8109, iadMAC)
        guard copyIADMAC() else { return .cardDataError }
        if authenticatesLocally {
            guard let request = authenticationRequest(channel, staticDataHash) else { return .cardDataError }
            if cryptography.authenticate(request) != nil { tvr.insert(.localAuthenticationFailed) }
        }
        let expected = channel.edaMAC(cryptogram: store.value(0x9F26) ?? [], iadMAC: iadMAC)
        guard SecureChannel.isEqual(expected, (store.value(0x9F8105) ?? [])[...]) else { return .edaMACFailed }
        return nil
    }

    /// The objects of the Extended SDA Tag List (9F810A) as BER-TLV, absent ones empty; `nil` for a malformed list.
    private var extendedStaticData: [UInt8]? {
        guard let list = store.value(0x9F810A) else { return [] }
        guard let tags = TagList(list)?.tags else { return nil }
        var writer = TLVWriter()
        for tag in tags { writer.append(tag, store.value(tag) ?? []) }
        return writer.bytes
    }

    /// AIP byte 2 bits 3 and 2: the IAD-MAC goes into the issuer application data, at the reader's default offset (01)
    /// or at the card's (10).
    private mutating func copyIADMAC() -> Bool {
        let offset: UInt8?
        switch (store.byte(0x82, at: 1) ?? 0) & 0x06 {
        case 0x02: offset = store.byte(0x9F821E)
        case 0x04: offset = store.byte(0x9F8107)
        case _: return true
        }
        guard let offset, var data = store.value(0x9F10), Int(offset) + iadMAC.count <= data.count else { return false }
        data.replaceSubrange(Int(offset)..<Int(offset) + iadMAC.count, with: iadMAC)
        store.set(0x9F10, data)
        return true
    }

    private func authenticationRequest(
        _ channel: SecureChannel, _ staticDataHash: [UInt8]
    ) -> LocalAuthenticationRequest? {
        guard let index = store.byte(0x8F), let issuerCertificate = store.value(0x90),
            let iccCertificate = store.value(0x9F46), let pan = store.value(0x5A), let name = store.value(0x84)
        else { return nil }
        return LocalAuthenticationRequest(
            rid: Array(name.prefix(5)), caIndex: index, issuerCertificate: issuerCertificate,
            iccCertificate: iccCertificate, pan: pan, staticDataHash: staticDataHash,
            blindedKey: channel.blindedKey, blindingFactor: channel.blindingFactor, date: date, time: time)
    }

    /// Cryptogram type, card TVR, cardholder verification, second action analysis (C-8 29.20 to 29.42).
    private mutating func judge() -> ErrorIndication.L2? {
        guard let answered = answeredType, answered.isAllowed(for: requested) else { return .cardDataError }
        if let card = store.value(0x9F8104).flatMap({ TVR($0) }) {
            let own = action(0x9F821A)
            tvr = tvr.intersection(own).union(card.subtracting(own))
        }
        let verification = CardholderVerificationDecision(
            store.byte(0x9F8102) ?? 0xFF, allowed: store.byte(0x9F1D) ?? 0)
        tvr.formUnion(verification.tvr)
        cvm = verification.cvm
        store.set(0x9F34, verification.results)
        decision = analyse()
        return nil
    }

    var answeredType: CryptogramType? { store.byte(0x9F27).flatMap { CryptogramType(cryptogramInformation: $0) } }
}
