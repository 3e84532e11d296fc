// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Mag-stripe mode (C-2 S78, S13, S14): a dynamic check value in the discretionary data of the tracks.
extension Kernel2 {
    /// C-2 S78.
    mutating func computeChecksum() -> KernelStep {
        guard store.firstMissing(of: [.track2Data, .pcvc3Track2, .punatcTrack2, .natcTrack2]) == nil else {
            return fail(.cardDataMissing, at: .cardData)
        }
        let hasTrack1 = store.isPresentNotEmpty(.track1Data)
        if hasTrack1, store.firstMissing(of: [.pcvc3Track1, .punatcTrack1, .natcTrack1]) != nil {
            return fail(.cardDataMissing, at: .cardData)
        }
        guard let digits = track2?.numberDigits, !hasTrack1 || track1?.numberDigits == digits else {
            return fail(.cardDataError, at: .cardData)
        }
        if amount > transactionLimit { return finish(.selectNext(.maxLimitExceeded).ended(at: .cardData)) }
        needsReceipt = exceedsCVMLimit
        if hasOnDeviceCVM, exceedsCVMLimit {
            store.set(.mobileSupportIndicator, [(store.byte(.mobileSupportIndicator) ?? 0) | 0x02])
        }
        let modulus = (0..<digits).reduce(UInt64(1)) { power, _ in power * 10 }
        checksum = MagStripeChecksum(
            digits: digits, number: (store.number(.unpredictableNumber, count: 4) ?? 0) % modulus)
        store.set(.unpredictableNumberNumeric, digits: checksum.number, count: 4)
        guard let data = store.fill(listIn: store.isPresentNotEmpty(.udol) ? .udol : .defaultUDOL), data.count <= 255
        else {
            return fail(.parsingError, at: .magStripe)
        }
        state = .computingChecksum
        return KernelStep(.transmit(ShortCommand.make(0x80, 0x2A, 0x8E, 0x80, data)))
    }

    private var track2: MagStripeTrack? {
        guard let cvc3 = store.number(.pcvc3Track2, count: 2), let number = store.number(.punatcTrack2, count: 2),
            let count = store.byte(.natcTrack2)
        else { return nil }
        return MagStripeTrack(cvc3Positions: cvc3, numberPositions: number, counterDigits: Int(count))
    }

    private var track1: MagStripeTrack? {
        guard let cvc3 = store.number(.pcvc3Track1, count: 6), let number = store.number(.punatcTrack1, count: 6),
            let count = store.byte(.natcTrack1)
        else { return nil }
        return MagStripeTrack(cvc3Positions: cvc3, numberPositions: number, counterDigits: Int(count))
    }

    /// C-2 S13, S14.
    mutating func checksumReceived(_ response: ResponseAPDU) -> KernelStep {
        let step = checksumAnswered(response)
        guard case .finished(var outcome) = step.action else { return step }
        if outcome.status != .onlineRequest {
            addPenalty(to: &outcome)
        } else if failedMagStripeReads > 0 {
            outcome.failedMagStripeReads = 0
        }
        return KernelStep(.finished(outcome), signals: step.signals)
    }

    /// Every wrong answer in a row doubles the wait, which starts at 300 ms. That a lost card counts as one is
    /// unverified.
    func addPenalty(to outcome: inout Outcome) {
        let count = min(failedMagStripeReads, 5)
        outcome.penaltyMilliseconds = 300 << UInt64(count)
        outcome.failedMagStripeReads = min(count + 1, 5)
    }

    private mutating func checksumAnswered(_ response: ResponseAPDU) -> KernelStep {
        guard response.status.isSuccess else { return fail(.statusBytes, statusWord: response.status) }
        do throws(CardDataError) {
            let template = try ResponseTemplate(response.data)
            guard template.tag == .responseFormat2 else { return fail(.parsingError) }
            try store.store(response.data, in: template.value, policy: Kernel2.policy)
        } catch {
            return fail(error.l2)
        }
        let shown = [cardAnswered]
        let interaction = CardholderInteraction(store.value(.cardholderInteraction))
        // S14: a device that verifies its holder has to say whether it did.
        guard let counter = store.number(.atc, count: 2), interaction != nil || !hasOnDeviceCVM else {
            return fail(.cardDataMissing, signals: shown)
        }
        guard let cvc3 = store.number(.cvc3Track2, count: 2) else { return withoutChecksum(interaction, shown) }
        let isVerified = interaction?.isVerified == true
        // S14.21
        if hasOnDeviceCVM, !isVerified, exceedsCVMLimit { return fail(.cardDataError, signals: shown) }
        guard fillTracks(cvc3, counter, isVerified) else { return fail(.cardDataMissing, signals: shown) }
        return finish(magStripeOutcome, signals: shown)
    }

    /// No check value: the device wants its holder first, or declines. Both leave a record, and the wait (C-2 S13, S14).
    private mutating func withoutChecksum(
        _ interaction: CardholderInteraction?, _ signals: [UIRequest]
    ) -> KernelStep {
        guard let interaction else { return fail(.cardDataMissing, signals: signals) }
        if interaction.needsSecondTap {
            var outcome = secondTap(interaction)
            outcome.dataRecord = magStripeRecord
            return finish(outcome, signals: signals + [secondTapMessage(interaction)])
        }
        var declined = Outcome(.declined, uiOnOutcome: message(.notAuthorised, hold: holdTime))
        declined.dataRecord = magStripeRecord
        return finish(declined, signals: signals)
    }

    /// C-2 S13.24, S14.32 to S14.34: a device that verifies its holder has done so above the limit.
    private var magStripeOutcome: Outcome {
        var outcome = Outcome(.onlineRequest, uiOnOutcome: message(.authorising), receipt: needsReceipt)
        if hasOnDeviceCVM {
            outcome.cvm = exceedsCVMLimit ? .confirmationCodeVerified : .noCVM
        } else {
            let capability =
                store.byte(exceedsCVMLimit ? .magStripeCVMCapabilityRequired : .magStripeCVMCapabilityNotRequired)
                ?? 0xF0
            outcome.cvm = Outcome.CVM(rawValue: capability & 0xF0)
        }
        outcome.dataRecord = magStripeRecord
        return outcome
    }

    private var magStripeRecord: [DataObject] {
        let objects = store.objects(Kernel2.magStripeRecordTags)
        return objects + (store.value(.track2Data).map { [DataObject(.track2Equivalent, $0)] } ?? [])
    }

    /// - Returns: `false` where a track is no track, or track 1 lacks its check value.
    private mutating func fillTracks(_ cvc3: UInt64, _ counter: UInt64, _ isVerified: Bool) -> Bool {
        // S13.14, S14.20 to S14.25
        let last = UInt8((checksum.digits + (isVerified ? 5 : 0)) % 10)
        let atc = UInt16(truncatingIfNeeded: counter)
        guard let map = track2, let track = store.value(.track2Data),
            let start = Kernel2.discretionaryStart(track2: track)
        else {
            return false
        }
        var nibbles = track.flatMap { [$0 >> 4, $0 & 0x0F] }
        let end = nibbles.last == 0x0F ? nibbles.count - 1 : nibbles.count
        guard start <= end, nibbles[start..<end].allSatisfy({ $0 < 10 }) else { return false }
        store.set(.track2DynamicData, BCD.pack(Array(nibbles[start..<end]), count: (end - start + 1) / 2) ?? [])
        nibbles.replaceSubrange(
            start..<end,
            with: map.filled(
                Array(nibbles[start..<end]), cvc3: UInt16(truncatingIfNeeded: cvc3), counter: atc,
                number: checksum.number, lastDigit: last))
        store.set(.track2Data, stride(from: 0, to: nibbles.count, by: 2).map { nibbles[$0] << 4 | nibbles[$0 + 1] })
        return fillTrack1(atc, last)
    }

    private mutating func fillTrack1(_ counter: UInt16, _ last: UInt8) -> Bool {
        guard var track = store.value(.track1Data) else { return true }
        guard let map = track1, let cvc3 = store.number(.cvc3Track1, count: 2),
            let start = Kernel2.discretionaryStart(track1: track),
            track[start...].allSatisfy({ (0x30...0x39).contains($0) })
        else { return false }
        store.set(.track1DynamicData, Array(track[start...]))
        let filled = map.filled(
            track[start...].map { $0 - 0x30 }, cvc3: UInt16(truncatingIfNeeded: cvc3), counter: counter,
            number: checksum.number, lastDigit: last)
        track.replaceSubrange(start..., with: filled.map { $0 + 0x30 })
        store.set(.track1Data, track)
        return true
    }

    /// Nibble after separator, YYMM and service code.
    private static func discretionaryStart(track2 bytes: [UInt8]) -> Int? {
        guard let track = Track2Equivalent(bytes), track.serviceCode != nil else { return nil }
        return track.pan.count + 8
    }

    /// Character after the second field separator (5E), YYMM and service code.
    private static func discretionaryStart(track1 characters: [UInt8]) -> Int? {
        let separators = characters.indices.filter { characters[$0] == 0x5E }
        guard separators.count >= 2, separators[1] + 8 <= characters.count else { return nil }
        return separators[1] + 8
    }
}
