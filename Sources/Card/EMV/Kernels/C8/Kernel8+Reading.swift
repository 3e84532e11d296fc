// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// From the algorithm suite to the last record and data envelope (C-8 S1 to S25).
extension Kernel8 {
    /// Security Capability (9F820A) bit 5: local authentication enabled. Which bit it is, is unverified.
    private static let localAuthentication: UInt8 = 0x10

    /// C-8 C.100 to C.103, 2.15 to 2.21.
    mutating func open(_ qualifier: CardQualifier) -> KernelStep {
        // RSA certificates (ASI list 01 10 FF) are left out: nothing public describes them.
        guard configuration & 0x20 == 0 else { return end(.terminalDataError) }
        guard qualifier.hasSupportedSuite else { return fail(.cardDataError) }
        guard let envelopes = envelopes(), makeKey() else { return end(.terminalDataError) }
        toWrite = envelopes
        toRead = envelopeTags
        let enabled = (store.byte(.c8SecurityCapability) ?? 0) & Kernel8.localAuthentication != 0
        // Version 02, local authentication, suite 00, certificates of suite 10 only.
        store.set(.kernelQualifier, [0x02, enabled ? 0x80 : 0x00, 0x00, 0x10, 0xFF, 0xFF, 0x00, 0x00])
        guard let (command, values) = ProcessingOptions.command(store) else { return fail(.cardDataError) }
        pdolData = values
        state = .processingOptions
        return KernelStep(.transmit(command))
    }

    /// The ephemeral key (9E): 32 bytes of the terminal's random numbers. They are out of range once in 2^32 times.
    private mutating func makeKey() -> Bool {
        for _ in 0..<3 {
            privateKey = []
            for _ in 0..<8 { privateKey += Kernel2.bytes(numbers.next()) }
            if let point = cryptography.publicKey(privateKey), point.count == 64 {
                store.set(.kernelKeyData, point)
                return true
            }
        }
        return false
    }

    /// C-8 S20.
    mutating func optionsReceived(_ response: ResponseAPDU, now: TapInstant) -> KernelStep {
        guard response.status.isSuccess else {
            fieldOff = nil
            return finish(.selectNext(.statusBytes, statusWord: response.status))
        }
        do throws(CardDataError) {
            try ProcessingOptions.store(response.data, in: &store, formatOneMinimum: nil, policy: Kernel8.policy)
        } catch {
            return fail(error.l2)
        }
        guard store.isPresentNotEmpty(.aip), let list = store.value(.afl), let keyData = store.value(.cardKeyData),
            let cdol = store.value(.cdol1) ?? store.value(.defaultCDOL1)
        else { return fail(.cardDataMissing) }
        store.set(.cdol1, cdol)
        guard let locator = ApplicationFileLocator(list) else { return fail(.parsingError) }
        guard let channel = SecureChannel(cryptography, privateKey: privateKey, cardKeyData: keyData) else {
            return fail(.decryptionFailed)
        }
        privateKey = []
        self.channel = channel
        records = Kernel8Records(locator)
        guard (store.byte(.aip, at: 1) ?? 0) & 0x01 != 0, configuration & 0x10 != 0 else {
            tvr.insert(.relayResistanceNotPerformed)
            return nextRecord()
        }
        guard var relay = RelayResistance(store, RelayResistance.kernel8Limits) else { return end(.terminalDataError) }
        relay.rejectsZeroEstimate = false
        self.relay = relay
        return exchangeRelay(now: now)
    }

    /// The entropy is the Unpredictable Number in every try.
    private mutating func exchangeRelay(now: TapInstant) -> KernelStep {
        guard let command = relay?.command(entropy: store.value(.unpredictableNumber) ?? []) else {
            return end(.terminalDataError)
        }
        state = .relayResistance
        relayStarted = now
        return KernelStep(.transmit(command))
    }

    /// C-8 S21.
    mutating func relayReceived(_ response: ResponseAPDU, now: TapInstant) -> KernelStep {
        let progress = relay?.received(response, nanoseconds: now.nanoseconds(since: relayStarted))
        store.set(.relayTimeExcess, relay?.timeExcess ?? [0, 0])
        switch progress {
        case nil: return fail(.parsingError)
        case .failed(let l2, let statusWord): return fail(l2, statusWord: statusWord)
        case .again: return exchangeRelay(now: now)
        case .done(let bits):
            tvr.formUnion(bits)
            return nextRecord()
        }
    }

    /// C-8 S22.
    mutating func recordReceived(_ response: ResponseAPDU) -> KernelStep {
        guard response.status.isSuccess else { return fail(.statusBytes, statusWord: response.status) }
        guard var channel else { return fail(.decryptionFailed) }
        let failure = records?.take(response.data, &channel, into: &store)
        self.channel = channel
        if let failure { return fail(failure) }
        return nextRecord()
    }

    private mutating func nextRecord() -> KernelStep {
        if let command = records?.command {
            state = .readingRecords
            return KernelStep(.transmit(command))
        }
        return nextData()
    }
}
