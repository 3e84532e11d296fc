// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// From GET PROCESSING OPTIONS to the last record (C-2 S3, S3R, S4).
extension Kernel2 {
    /// C-2 S3.
    mutating func optionsReceived(_ response: ResponseAPDU, now: TapInstant) -> KernelStep {
        guard response.status.isSuccess else {
            return finish(.selectNext(.statusBytes, statusWord: response.status))
        }
        do throws(CardDataError) {
            try ProcessingOptions.store(response.data, in: &store, formatOneMinimum: 6, policy: Kernel2.policy)
        } catch {
            return fail(error.l2)
        }
        guard store.isPresentNotEmpty(.aip), let list = store.value(.afl) else { return fail(.cardDataMissing) }
        guard store.count(.aip) == 2, var locator = ApplicationFileLocator(list) else { return fail(.cardDataError) }
        let readerDoesMagStripe = configuration & 0x80 == 0
        if (store.byte(.aip, at: 1) ?? 0) & 0x80 != 0, configuration & 0x40 == 0 {
            if readerDoesMagStripe, Kernel2.startsWithMagStripeRecord(list) { locator.removeFirst() }
        } else if readerDoesMagStripe {
            isMagStripe = true
            if Kernel2.startsWithMagStripeRecord(list) { locator.keepFirst() }
        } else {
            return fail(.magStripeNotSupported)
        }
        // S3R1.1
        guard !locator.entries.isEmpty else { return fail(.cardDataError) }
        records = RecordReader(locator)
        return isMagStripe ? nextRecord() : measureDistance(now: now)
    }

    private static func startsWithMagStripeRecord(_ list: [UInt8]) -> Bool {
        list.starts(with: [0x08, 0x01, 0x01, 0x00])
    }

    /// C-2 S3.60 to S3.65.
    private mutating func measureDistance(now: TapInstant) -> KernelStep {
        guard (store.byte(.aip, at: 1) ?? 0) & 0x01 != 0, configuration & 0x10 != 0 else {
            tvr.insert(.relayResistanceNotPerformed)
            return chooseAuthentication()
        }
        guard let relay = RelayResistance(store) else { return fail(.terminalDataError) }
        self.relay = relay
        return exchangeRelay(now: now)
    }

    /// A new number for each exchange, which becomes the Unpredictable Number too (C-2 S3.61, SR1.23; one source).
    private mutating func exchangeRelay(now: TapInstant) -> KernelStep {
        let entropy = Kernel2.bytes(numbers.next())
        store.set(.unpredictableNumber, entropy)
        guard let command = relay?.command(entropy: entropy) else { return fail(.terminalDataError) }
        state = .relayResistance
        relayStarted = now
        return KernelStep(.transmit(command))
    }

    /// C-2 SR1.
    mutating func relayReceived(_ response: ResponseAPDU, now: TapInstant) -> KernelStep {
        let progress = relay?.received(response, nanoseconds: now.nanoseconds(since: relayStarted))
        for object in relay?.objects ?? [] { store.set(object.tag, object.value) }
        switch progress {
        case nil: return fail(.parsingError)
        case .failed(let l2, let statusWord): return fail(l2, statusWord: statusWord)
        case .again: return exchangeRelay(now: now)
        case .done(let bits):
            tvr.formUnion(bits)
            return chooseAuthentication()
        }
    }

    /// C-2 S3R1.10 to S3R1.20. A slot that is read needs a signature.
    private mutating func chooseAuthentication() -> KernelStep {
        readStorage()
        let knowsCDA = (store.byte(.aip) ?? 0) & 0x01 != 0 && (store.byte(.securityCapability) ?? 0) & 0x08 != 0
        wantsCDA = knowsCDA || readsStorage
        if !wantsCDA { tvr.insert(.odaNotPerformed) }
        return startReading()
    }

    static func bytes(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    /// C-2 S4, S5.
    mutating func recordsRead() -> KernelStep { isMagStripe ? computeChecksum() : recordsAreThere() }
}
