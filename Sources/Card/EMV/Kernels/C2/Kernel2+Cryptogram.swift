// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// GENERATE AC and the judgement of its answer (C-2 GAC, S9, S910).
extension Kernel2 {
    /// C-2 GAC. A device that verified its holder, and whose CDA cannot be checked, is asked for an
    /// AAC (GAC.22, GAC.23), unless the terminal says that it takes such a verification without CDA (9F1D byte 3 bit 6).
    /// That the kernel itself acts on that bit is unverified: without it a missing CA key declines phones and not cards.
    mutating func generateAC() -> KernelStep {
        if wantsCDA, !tvr.contains(.cdaFailed) {
            if readsStorage, let failure = chooseStorage() { return fail(failure, at: .dataStorage) }
            requestedCDA = readsStorage || requested != .aac || capabilities(2) & 0x01 != 0
        } else {
            requestedCDA = false
            let takesCDCVMWithoutCDA = (store.byte(.terminalRiskManagementData, at: 2) ?? 0) & 0x20 != 0
            if hasOnDeviceCVM, !takesCDCVMWithoutCDA { requested = .aac }
        }
        guard let values = store.fill(listIn: .cdol1), let storage = storageData(),
            let command = GenerateAC.command(requested, cda: requestedCDA, cdolData: values + storage)
        else { return fail(.cardDataError, at: .cryptogram) }
        cdolData = values
        keepRelatedData()
        state = .generatingAC
        return KernelStep(.transmit(command))
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
        let shown = [cardAnswered]
        guard store.count(.atc) == 2, let information = store.byte(.cryptogramInformation) else {
            return fail(.cardDataMissing, signals: shown)
        }
        guard let answered = ApplicationCryptogram(cryptogramInformation: information),
            answered.isAllowed(for: requested)
        else {
            return fail(.cardDataError, signals: shown)
        }
        if let failure = verifyCryptogram(answered, information, signedPart) {
            return fail(failure, at: failure == .camFailed ? .offlineAuthentication : nil, signals: shown)
        }
        return conclude(answered, signals: shown)
    }

    /// C-2 S910: the dynamic signature, or the bare cryptogram where none was to come.
    private mutating func verifyCryptogram(
        _ answered: ApplicationCryptogram, _ information: UInt8, _ signedPart: [UInt8]
    ) -> ErrorIndication.L2? {
        guard store.isPresentNotEmpty(.signedDynamicData) else {
            guard store.count(.applicationCryptogram) == 8 else { return .cardDataMissing }
            // S910.32 to S910.39
            if answered == .aac { return readsStorage || requestedCDA && requested == .aac ? .cardDataError : nil }
            if requestedCDA { return .cardDataError }
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
        return judgeStorage(data.extra[...])
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
