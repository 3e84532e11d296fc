import CardBytes

/// From the last record to the answer of GENERATE AC (C-2 S456, PRO, CVM, TAA, GAC, S9, S910).
extension Kernel2 {
    /// C-2 S456.
    mutating func prepareCryptogram(now: TapInstant) -> KernelStep {
        if amount > transactionLimit { return finish(selectNext(.maxLimitExceeded)) }
        guard store.firstMissing(of: [.expirationDate, .pan, .cdol1]) == nil else { return fail(.cardDataMissing) }
        if wantsCDA {
            if let list = store.value(.staticDataTagList), list != [0x82] { return fail(.cardDataError) }
            tvr.formUnion(missingForCDA)
        }
        needsReceipt = exceedsCVMLimit
        let verification = store.byte(exceedsCVMLimit ? .cvmCapabilityRequired : .cvmCapabilityNotRequired) ?? 0
        store.set(
            .terminalCapabilities,
            [store.byte(.cardDataInputCapability) ?? 0, verification, store.byte(.securityCapability) ?? 0])
        guard wantsBalance, store.isPresent(.balanceBeforeCryptogram) else { return checkVelocity(now: now) }
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
        guard let index = store.byte(.caPublicKeyIndex), authentication.hasKey(Array(aid.prefix(5)), index) else {
            return .cdaFailed
        }
        return []
    }

    /// 9F5D byte 2 bit 2: the card tells its balance.
    var wantsBalance: Bool { capabilities(2) & 0x02 != 0 }

    /// GET DATA for the Offline Accumulator Balance (9F50).
    static let getBalance = ShortCommand.make(0x80, 0xCA, 0x9F, 0x50)

    /// The balance is a courtesy: without it the transaction goes on.
    mutating func balanceReceived(_ response: ResponseAPDU, into tag: Tag, now: TapInstant) -> KernelStep {
        if response.status.isSuccess, let balance = Kernel2.balance(response.data) { store.set(tag, balance) }
        return tag == .balanceBeforeCryptogram ? checkVelocity(now: now) : finishPending()
    }

    private static func balance(_ data: [UInt8]) -> [UInt8]? {
        do throws(CardDataError) {
            let template = try ResponseTemplate(data)
            return template.tag == .offlineBalance && template.value.count == 6 ? Array(data[template.value]) : nil
        } catch {
            return nil
        }
    }

    /// C-2 S456.35 to S456.39: restrictions, CVM, floor limit, action analysis.
    mutating func decide(now: TapInstant) -> KernelStep {
        tvr.formUnion(ProcessingRestrictions.evaluate(store))
        selection = selectCVM()
        tvr.formUnion(selection.tvr)
        needsReceipt = needsReceipt || selection.receipt
        store.set(.cvmResults, selection.results)
        if amount > store.digits(.readerFloorLimit) ?? 0 { tvr.insert(.floorLimitExceeded) }
        tvr.formUnion(riskBits())
        store.set(.tvr, tvr.bytes)
        let codes = ActionCodes(
            denial: action(.terminalActionCodeDenial), online: action(.terminalActionCodeOnline),
            default: action(.terminalActionCodeDefault), store)
        requested = Kernel2TAA.decide(tvr, codes, TerminalType(rawValue: store.byte(.terminalType) ?? 0))
        if store.isPresentNotEmpty(.drdol), torn.record(of: store) != nil { return recover() }
        return generateAC()
    }

    private func action(_ tag: Tag) -> TVR { store.value(tag).flatMap { TVR($0) } ?? [] }

    /// C-2 CVM.
    private func selectCVM() -> CVMSelection {
        if hasOnDeviceCVM {
            return exceedsCVMLimit
                ? CVMSelection(cvm: .confirmationCodeVerified, results: [0x01, 0x00, 0x02])
                : CVMSelection(cvm: .noCVM, results: [0x3F, 0x00, 0x02])
        }
        guard (store.byte(.aip) ?? 0) & 0x10 != 0 else { return .notPerformed }
        guard let list = store.value(.cvmList).flatMap({ CVMList($0) }) else {
            return CVMSelection(cvm: .noCVM, results: [0x3F, 0x00, 0x00], tvr: .iccDataMissing)
        }
        let conditions = CVMConditions(
            amount: amount, otherAmount: store.digits(.amountOther) ?? 0, transactionType: type,
            terminalType: TerminalType(rawValue: store.byte(.terminalType) ?? 0),
            isApplicationCurrency: store.isEqual(.applicationCurrency, .transactionCurrency),
            capabilities: store.byte(.terminalCapabilities, at: 1) ?? 0)
        return .walk(list, conditions)
    }

    /// C-2 GAC without data storage.
    mutating func generateAC() -> KernelStep {
        if wantsCDA, !tvr.contains(.cdaFailed) {
            requestedCDA = requested != .aac || capabilities(2) & 0x01 != 0
        } else {
            requestedCDA = false
            if hasOnDeviceCVM { requested = .aac }
        }
        guard let values = store.fill(listIn: .cdol1),
            let command = GenerateAC.command(requested, cda: requestedCDA, cdolData: values)
        else { return fail(.cardDataError) }
        cdolData = values
        keepRelatedData()
        state = .generatingAC
        return KernelStep(.transmit(command))
    }

    /// What the torn-transaction log needs of the commands sent.
    private mutating func keepRelatedData() {
        store.set(.pdolRelatedData, pdolData)
        store.set(.cdol1RelatedData, cdolData)
        store.set(.referenceControlParameter, [requested.rawValue | (requestedCDA ? 0x10 : 0x00)])
        if let values = store.fill(listIn: .drdol) { store.set(.drdolRelatedData, values) }
    }

    /// RECOVER AC: the DRDOL data of the torn transaction. Class byte 80 is unverified.
    private mutating func recover() -> KernelStep {
        let data = torn.record(of: store)?.record.value(of: .drdolRelatedData) ?? []
        state = .recoveringAC
        return KernelStep(.transmit(ShortCommand.make(0x80, 0xD0, 0x00, 0x00, data)))
    }

    /// C-2 S10: a card that cannot recover gets a new GENERATE AC.
    mutating func recoveryReceived(_ response: ResponseAPDU, now: TapInstant) -> KernelStep {
        guard let record = torn.record(of: store) else { return generateAC() }
        torn.remove(record)
        guard response.status.isSuccess else { return generateAC() }
        for object in record.record where object.tag != .pan && object.tag != .panSequenceNumber {
            store.set(object.tag, object.value)
        }
        pdolData = store.value(.pdolRelatedData) ?? []
        cdolData = store.value(.cdol1RelatedData) ?? []
        tvr = action(.tvr)
        let reference = store.byte(.referenceControlParameter) ?? 0
        requested = CryptogramType(rawValue: reference & 0xC0) ?? .aac
        requestedCDA = reference & 0x10 != 0
        return cryptogramReceived(response)
    }

    /// C-2 S9.
    mutating func cryptogramReceived(_ response: ResponseAPDU) -> KernelStep {
        guard response.status.isSuccess else { return fail(.statusBytes, statusWord: response.status) }
        let signedPart: [UInt8]
        do throws(CardDataError) {
            signedPart = try GenerateAC.store(response.data, in: &store, policy: Kernel2.policy)
        } catch {
            return fail(error.l2)
        }
        let shown = [UIRequest(.none, .cardReadSuccessfully, languagePreference: language)]
        guard store.count(.atc) == 2, let information = store.byte(.cryptogramInformation) else {
            return fail(.cardDataMissing, signals: shown)
        }
        guard let answered = CryptogramType(cryptogramInformation: information), answered.isAllowed(for: requested)
        else {
            return fail(.cardDataError, signals: shown)
        }
        if let failure = verifyCryptogram(answered, information, signedPart) { return fail(failure, signals: shown) }
        return conclude(answered, signals: shown)
    }

    /// C-2 S910: the dynamic signature, or the bare cryptogram where none was to come.
    private mutating func verifyCryptogram(
        _ answered: CryptogramType, _ information: UInt8, _ signedPart: [UInt8]
    ) -> ErrorIndication.L2? {
        guard store.isPresentNotEmpty(.signedDynamicData) else {
            guard store.count(.applicationCryptogram) == 8 else { return .cardDataMissing }
            if requestedCDA, answered != .aac || requested == .aac { return .cardDataError }
            foldRelayEvidence()
            return nil
        }
        let method = AuthenticationRequest.Method.cda(
            unpredictableNumber: store.value(.unpredictableNumber) ?? [],
            transactionData: pdolData + cdolData + signedPart,
            cryptogramInformation: information)
        guard
            let request = AuthenticationRequest(
                method, store, aid: aid, records: records?.staticData ?? [], date: date),
            case .verified(let data) = authentication.verify(request),
            data.cryptogram.count == 8, relay.map({ data.extra.suffix(14) == $0.signedPart[...] }) ?? true
        else {
            tvr.insert(.cdaFailed)
            store.set(.tvr, tvr.bytes)
            return .camFailed
        }
        store.set(.applicationCryptogram, data.cryptogram)
        store.set(.iccDynamicNumber, data.iccDynamicNumber)
        return nil
    }

    /// Relay-resistance evidence in the discretionary data of 57 (C-2 S910.39).
    private mutating func foldRelayEvidence() {
        guard let relay, let track = store.value(.track2Equivalent).flatMap({ Track2Equivalent($0) }) else { return }
        let data = relay.discretionaryData(panDigits: track.pan.count, keyIndex: store.byte(.caPublicKeyIndex) ?? 0)
        var nibbles = track.pan + [0x0D] + track.expiry + (track.serviceCode ?? []) + data
        if !nibbles.count.isMultiple(of: 2) { nibbles.append(0x0F) }
        store.set(
            .track2Equivalent, stride(from: 0, to: nibbles.count, by: 2).map { nibbles[$0] << 4 | nibbles[$0 + 1] })
    }
}
