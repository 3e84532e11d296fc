// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Kernel 6, Discover D-PAS (EMV Contactless Book C-6, by a D-PAS implementation) in EMV mode: cryptogram, CDA
/// signature and the card's requirements come with GET PROCESSING OPTIONS.
///
/// No public source quotes the clauses of C-6. What a rule rests on stands at the rule: a clause of another book, or a
/// number K6-1 to K6-6 of docs/internals/conformance.md, which says how it was checked. Unless more is said there, its source is
/// one public implementation of D-PAS.
///
/// Not done: mag-stripe mode and ZIP (where the check value goes into the tracks is not known), loyalty programs,
/// issuer update, the fast mode and aggregate amount bits of the TTQ.
public struct Kernel6: Kernel, QualifiedKernel {
    let options: Kernel6Options
    var state = QualifiedState.idle
    var store = DataStore(kernel: .discover)
    var ttq = TTQ(rawValue: 0)
    var authentication: CardAuthentication?
    var records: RecordReader?
    var tvr: TVR = []
    var tsi: TSI = []
    var pdolData: [UInt8] = []
    /// The answer to GET PROCESSING OPTIONS without 9F4B.
    var signedPart: [UInt8] = []

    /// No primitive object may come twice (EMV Book 3 §10.2; for this kernel unverified).
    static let policy = CardDataPolicy(duplicates: .reject(except: []))
    /// The ZIP application has no EMV mode.
    private static let zip: [UInt8] = [0xA0, 0x00, 0x00, 0x03, 0x24, 0x10, 0x10]

    public init(options: Kernel6Options = Kernel6Options()) { self.options = options }

    /// K6-1: the floor limit (>) is 9F1B's.
    public mutating func start(_ activation: KernelActivation, now: TapInstant) -> KernelStep {
        do throws(CardDataError) { try prepare(activation) } catch { return fail(error.l2) }
        if store.isPresent(.applicationSpecificationVersion) || activation.combination.aid.starts(with: Kernel6.zip) {
            return finish(.selectNext(.magStripeNotSupported))
        }
        tvr = .odaNotPerformed
        if let limit = activation.combination.limits.terminalFloorLimit {
            store.set(.terminalFloorLimit, binary: UInt64(limit), count: 4)
        }
        if let limit = store.number(.terminalFloorLimit, count: 4), activation.transaction.amount > limit {
            tvr.insert(.floorLimitExceeded)
        }
        store.set(.tvr, tvr.bytes)
        store.set(.tsi, tsi.bytes)
        return askForOptions()
    }

    public mutating func received(_ response: ResponseAPDU, now: TapInstant) -> KernelStep { answered(response) }

    /// K6-6. The card left: it may be presented again, with a fresh unpredictable number.
    public mutating func cardLost(_ loss: CardLoss, now: TapInstant) -> KernelStep {
        finish(.cardLeft(.tryAgain, loss, languagePreference: language))
    }

    public mutating func cardLost(now: TapInstant) -> KernelStep { cardLost(.timeOut, now: now) }

    public mutating func stop(now: TapInstant) -> Outcome { stopped() }

    /// K6-1. 6984 another interface, 6986 the consumer device wants its holder, else the next application.
    mutating func optionsReceived(_ response: ResponseAPDU) -> KernelStep {
        switch response.status {
        case .success: break
        case .referenceDataInvalidated:
            return finish(.tryContact(ErrorIndication(l2: .statusBytes, statusWord: response.status)))
        case .commandNotAllowed:
            return finish(.seePhone(statusWord: response.status, languagePreference: language))
        case _:
            return finish(.selectNext(.statusBytes, statusWord: response.status))
        }
        do throws(CardDataError) {
            try ProcessingOptions.store(response.data, in: &store, formatOneMinimum: nil, policy: Kernel6.policy)
            signedPart = try GenerateAC.signedPart(response.data, ResponseTemplate(response.data).value)
        } catch {
            return fail(error.l2)
        }
        guard
            store.firstMissing(of: [
                .aip, .atc, .issuerApplicationData, .cryptogramInformation, .cardProcessingRequirements,
            ]) == nil
        else {
            return fail(.cardDataMissing)
        }
        guard store.count(.aip) == 2, store.count(.atc) == 2, store.count(.cryptogramInformation) == 1,
            CardProcessingRequirements(store) != nil
        else { return fail(.cardDataError) }
        return readRecords()
    }
}
