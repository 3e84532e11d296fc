// SPDX-License-Identifier: Apache-2.0
public import CardBytes
public import EMV

/// A kernel for a scheme of one's own, made of the parts that EMV gives away: options, records with static data, restrictions,
/// terminal action analysis, a cryptogram with or without a signature. It verifies nobody.
///
/// It shows the way from one part to the next and belongs to no scheme. `KernelSet.register` puts it beside the others.
public struct ExampleKernel: Kernel {
    private enum State {
        case idle, options, records, cryptogram, finished
    }

    /// A card's object that comes twice is refused, as are the terminal's own.
    private static let policy = CardDataPolicy(duplicates: .reject(except: []), rejectsReservedTags: true)

    private var state = State.idle
    private var store = DataStore(kernel: KernelIdentifier(rawValue: 0))
    private var authentication: CardAuthentication?
    private var records: RecordReader?
    private var verification = CVMSelection.notPerformed
    private var tvr: TVR = []
    /// What a combined signature takes in of the commands' data.
    private var sent: [UInt8] = []
    private var asksForSignature = false

    public init() {}

    public mutating func start(_ activation: KernelActivation, now: TapInstant) -> KernelStep {
        var numbers = activation.unpredictableNumbers
        store = DataStore(activation, unpredictableNumber: numbers.next())
        authentication = CardAuthentication(activation)
        do throws(CardDataError) { try store.storeFCI(activation) } catch { return finish(.unusableCard(error.l2)) }
        // A start at C is the next application of a card whose first one was refused: nothing here depends on it.
        guard !activation.indicators.contactlessNotAllowed else { return finish(useContactInstead) }
        guard let (command, values) = ProcessingOptions.command(store) else {
            return finish(.unusableCard(.cardDataError))
        }
        sent = values
        state = .options
        return KernelStep(.transmit(command))
    }

    public mutating func received(_ response: ResponseAPDU, now: TapInstant) -> KernelStep {
        do throws(CardDataError) {
            switch state {
            case .options: return try optionsReceived(response)
            case .records: return try recordReceived(response)
            case .cryptogram: return try cryptogramReceived(response)
            case .idle, .finished: return finish(.unusableCard(.cardDataError))
            }
        } catch {
            return finish(.unusableCard(error.l2))
        }
    }

    /// Before the cryptogram the tap begins again; after it the card may have counted the transaction.
    public mutating func cardLost(_ loss: CardLoss, now: TapInstant) -> KernelStep {
        finish(.cardLeft(state == .cryptogram ? .endApplication : .tryAgain, loss, languagePreference: language))
    }

    public mutating func cardLost(now: TapInstant) -> KernelStep { cardLost(.timeOut, now: now) }

    public mutating func stop(now: TapInstant) -> Outcome {
        state = .finished
        return Outcome(.endApplication, error: ErrorIndication(l3: .stop))
    }

    public var ignoresStop: Bool { state == .cryptogram }
}

/// The steps in their order.
extension ExampleKernel {
    private mutating func optionsReceived(_ response: ResponseAPDU) throws(CardDataError) -> KernelStep {
        guard response.status.isSuccess else {
            return finish(.selectNext(.statusBytes, statusWord: response.status))
        }
        try ProcessingOptions.store(response.data, in: &store, formatOneMinimum: 6, policy: Self.policy)
        guard let list = store.value(0x94), let locator = ApplicationFileLocator(list) else {
            return finish(.unusableCard(.cardDataMissing))
        }
        let reader = RecordReader(locator)
        records = reader
        guard let command = reader.command else { return finish(.unusableCard(.cardDataMissing)) }
        state = .records
        return KernelStep(.transmit(command))
    }

    private mutating func recordReceived(_ response: ResponseAPDU) throws(CardDataError) -> KernelStep {
        guard response.status.isSuccess, var reader = records else {
            return finish(.unusableCard(.statusBytes, statusWord: response.status))
        }
        try reader.take(response.data, into: &store, policy: Self.policy)
        records = reader
        if let command = reader.command { return KernelStep(.transmit(command)) }
        return askForCryptogram()
    }

    private mutating func askForCryptogram() -> KernelStep {
        guard store.firstMissing(of: [0x57, 0x5F24, 0x8C]) == nil, !store.hasContradictingPANs else {
            return finish(.unusableCard(.cardDataMissing))
        }
        tvr = ProcessingRestrictions.evaluate(store)
        let staticData = records.flatMap { $0.hasUnusableRecord ? nil : $0.staticData }
        let missing = authentication?.missingForCDA(store, staticData: staticData) ?? .cdaFailed
        tvr.formUnion(missing)
        store.set(0x95, tvr.bytes)
        store.set(0x9F34, verification.results)
        let type = ActionCodes(store).decide(tvr, TerminalType(rawValue: store.byte(0x9F35) ?? 0))
        asksForSignature = GenerateAC.asksForCDA(type, missing.isEmpty, tvr)
        guard let data = store.fill(listIn: 0x8C),
            let command = GenerateAC.command(type, cda: asksForSignature, cdolData: data)
        else { return finish(.unusableCard(.cardDataError)) }
        sent += data
        state = .cryptogram
        return KernelStep(.transmit(command))
    }

    private mutating func cryptogramReceived(_ response: ResponseAPDU) throws(CardDataError) -> KernelStep {
        guard response.status.isSuccess else {
            return finish(.unusableCard(.statusBytes, statusWord: response.status))
        }
        let signed = try GenerateAC.store(response.data, in: &store, policy: Self.policy)
        if asksForSignature {
            let isTrue = authentication?.verifyCombined(
                &store, &tvr, staticData: records?.staticData, transactionData: sent + signed)
            guard isTrue == true else { return finish(.unusableCard(.camFailed)) }
        }
        guard store.firstMissing(of: [0x9F27, 0x9F36, 0x9F26]) == nil,
            let answer = store.byte(0x9F27).flatMap({ ApplicationCryptogram(cryptogramInformation: $0) })
        else { return finish(.unusableCard(.cardDataMissing)) }
        let status: Outcome.Status =
            switch answer {
            case .aac: .declined
            case .arqc: .onlineRequest
            case .tc: .approved
            }
        let outcome = Outcome(
            status, cvm: verification.cvm,
            uiOnOutcome: UIRequest(status == .declined ? .notAuthorised : .authorising, .notReady),
            dataRecord: status == .declined ? nil : store.objects(Self.recordTags))
        return finish(outcome, signals: [UIRequest(.cardReadOK, .cardReadSuccessfully)])
    }

    /// What the host gets.
    private static let recordTags: [Tag] = [
        0x9F02, 0x9F03, 0x9F26, 0x9F27, 0x82, 0x9F36, 0x5F34, 0x57, 0x9F10, 0x9F1A, 0x95, 0x9F34, 0x9F33, 0x9F35,
        0x5F2A,
        0x9A, 0x9C, 0x9F37, 0x84, 0x5F24,
    ]

    private var useContactInstead: Outcome {
        Outcome(
            .tryAnotherInterface, uiOnOutcome: UIRequest(.insertOrSwipe, .processingError), alternateInterface: .both)
    }

    private var language: [UInt8] { store.value(0x5F2D) ?? [] }

    private mutating func finish(_ outcome: Outcome, signals: [UIRequest] = []) -> KernelStep {
        state = .finished
        var outcome = outcome
        outcome.unmatchedKey = authentication?.unmatchedKey(store)
        return KernelStep(.finished(outcome), signals: signals)
    }
}
