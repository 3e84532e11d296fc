// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Mag-stripe mode (K5-6): GET MAGSTRIPE DATA with the values of the MDOL (9F5C).
extension Kernel5 {
    /// 9F02 9F1A 5F2A 9A 9C 9F53 9F4E.
    private static let defaultList: [UInt8] = [
        0x9F, 0x02, 0x06, 0x9F, 0x1A, 0x02, 0x5F, 0x2A, 0x02, 0x9A, 0x03, 0x9C, 0x01, 0x9F, 0x53, 0x03, 0x9F, 0x4E,
        0x14,
    ]

    /// The instruction byte D0 is unverified.
    mutating func getMagStripeData() -> KernelStep {
        tvr.insert(.odaNotPerformed)
        manageRisk()
        store.set(.tvr, tvr.bytes)
        let hasList = store.isPresentNotEmpty(.mdol)
        guard let data = hasList ? store.fill(listIn: .mdol) : store.fill(list: Kernel5.defaultList),
            data.count <= 255
        else { return fail(.parsingError, at: .magStripe) }
        state = .readingMagStripe
        return KernelStep(.transmit(ShortCommand.make(0x80, 0xD0, 0x00, 0x00, data)))
    }

    mutating func magStripeReceived(_ response: ResponseAPDU) -> KernelStep {
        switch response.status {
        case .success: break
        case 0x6300: return finish(declined)
        case .commandNotAllowed:
            return finish(
                .seePhone(.endApplication, statusWord: response.status, languagePreference: language))
        case _: return finish(.unusableCard(.statusBytes, statusWord: response.status))
        }
        do throws(CardDataError) {
            let template = try ResponseTemplate(response.data)
            guard template.tag == .responseFormat2 else { return finish(.unusableCard(.parsingError)) }
            try store.store(response.data, in: template.value, policy: Kernel5.policy)
        } catch {
            return finish(.unusableCard(error.l2))
        }
        guard let track = store.value(.track2Equivalent).flatMap({ Track2Equivalent($0) }) else {
            return finish(.unusableCard(.cardDataMissing))
        }
        let signals = [cardRead]
        guard let chosen = verification(track) else {
            return finish(declined.ended(at: .cardholderVerification), signals: signals)
        }
        store.set(.cvmResults, chosen.results)
        return finish(online(chosen), signals: signals)
    }

    /// The last digit of track 2: 1 none, 2 signature, 3 online PIN, 4 consumer device.
    private func verification(_ track: Track2Equivalent) -> CVMSelection? {
        guard let digit = track.discretionary.last, (1...4).contains(digit) else { return nil }
        return profile.verification((digit - 1) << 4)
    }
}
