// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Kernel 4, American Express (EMV Contactless Book C-4, by an Expresspay implementation): EMV mode with CDA or SDA, a
/// CVM list whose method 01 stands for the consumer device, and limit sets that the card chooses.
///
/// Terminal action codes are configured as DF8120 (default), DF8121 (denial) and DF8122 (online), as in kernel 2.
///
/// No public source quotes the clauses of C-4. What a rule rests on stands at the rule: a clause of another book, or a
/// number K4-1 to K4-9 of docs/internals/conformance.md, which says how it was checked. Unless more is said there, its source is
/// one public implementation of Expresspay.
///
/// It has a stored property for each data object that a later command or the outcome needs: a machine without I/O has
/// nowhere else to keep them.
///
/// Not done: delayed authorisation, full online mode with a second GENERATE AC, the exemption from no-CVM checks.
public struct Kernel4: Kernel, GeneratingKernel {
    enum State: GeneratingState {
        case idle
        case processingOptions
        case readingRecords
        case readingCounter
        case generatingAC
        case finished

        var step: ProcessingStep {
            switch self {
            case .idle: .initiation
            case .processingOptions: .processingOptions
            case .readingRecords: .records
            case .readingCounter: .magStripe
            case .generatingAC, .finished: .cryptogram
            }
        }
    }

    var state = State.idle
    var store = DataStore(kernel: .americanExpress)
    var activation: KernelActivation?
    var numbers = UnpredictableNumbers.system
    var limits = Kernel4Limits(PreProcessingIndicators())
    var authentication: CardAuthentication?
    var records: RecordReader?
    var tvr: TVR = []
    var isMagStripe = false
    /// Card and reader do CDA.
    var wantsCDA = false
    var requested = ApplicationCryptogram.arqc
    var requestedCDA = false
    var selection = CVMSelection.notPerformed
    /// Mag-stripe mode: 9F36 as GET DATA told it.
    var counter: UInt16 = 0
    var pdolData: [UInt8] = []
    var cdolData: [UInt8] = []

    /// No primitive object may come twice (EMV Book 3 §10.2; for this kernel unverified).
    static let policy = CardDataPolicy(duplicates: .reject(except: []))

    public init() {}

    public mutating func start(_ activation: KernelActivation, now: TapInstant) -> KernelStep {
        self.activation = activation
        numbers = activation.unpredictableNumbers
        store = DataStore(activation, unpredictableNumber: numbers.next())
        store.setDefaults(Kernel4.defaults)
        authentication = CardAuthentication(activation)
        do throws(CardDataError) { try store.storeFCI(activation) } catch {
            return fail(error.l2)
        }
        chooseLimits()
        // A card refuses a reader that says nothing of itself.
        guard store.count(.enhancedReaderCapabilities) == 4, store.value(.enhancedReaderCapabilities) != [0, 0, 0, 0],
            store.count(.readerCapabilities) == 1
        else {
            return fail(.terminalDataError)
        }
        guard let (command, values) = optionsCommand() else { return fail(.cardDataError) }
        pdolData = values
        state = .processingOptions
        return KernelStep(.transmit(command))
    }

    /// K4-1. Legacy cards ask for the reader's capabilities (9F6D) under the tag of the terminal type. Whether 9F35
    /// keeps that value afterwards is unverified; here it does not.
    private mutating func optionsCommand() -> (command: CommandAPDU, pdolData: [UInt8])? {
        guard store.list(in: .pdol, contains: .terminalType),
            !store.list(in: .pdol, contains: .enhancedReaderCapabilities)
        else {
            return ProcessingOptions.command(store)
        }
        var legacy = store
        legacy.set(.terminalType, store.value(.readerCapabilities) ?? [])
        return ProcessingOptions.command(legacy)
    }

    public mutating func received(_ response: ResponseAPDU, now: TapInstant) -> KernelStep {
        switch state {
        case .processingOptions: return optionsReceived(response)
        case .readingRecords: return recordReceived(response)
        case .readingCounter: return counterReceived(response)
        case .generatingAC: return cryptogramReceived(response)
        case .idle, .finished: return fail(.cardDataError)
        }
    }

    /// K4-9. After GENERATE AC the card may have counted the transaction; both outcomes are unverified.
    public mutating func cardLost(_ loss: CardLoss, now: TapInstant) -> KernelStep {
        let isCounted = state == .generatingAC
        return finish(.cardLeft(isCounted ? .endApplication : .tryAgain, loss, languagePreference: language))
    }

    public mutating func cardLost(now: TapInstant) -> KernelStep { cardLost(.timeOut, now: now) }

    public mutating func stop(now: TapInstant) -> Outcome { stopped() }

    /// K4-2. AIP and AFL are mandatory in both formats. EMV mode where the reader (9F6D bit 8) and the card (AIP byte 2
    /// bit 8) do it, else mag-stripe mode where the reader does that.
    private mutating func optionsReceived(_ response: ResponseAPDU) -> KernelStep {
        guard response.status.isSuccess else {
            return fail(.statusBytes, statusWord: response.status)
        }
        do throws(CardDataError) {
            try ProcessingOptions.store(response.data, in: &store, formatOneMinimum: 6, policy: Kernel4.policy)
        } catch {
            return fail(error.l2)
        }
        guard store.isPresentNotEmpty(.aip), let list = store.value(.afl) else {
            return fail(.cardDataMissing)
        }
        guard store.count(.aip) == 2, let locator = ApplicationFileLocator(list) else {
            return fail(.cardDataError)
        }
        isMagStripe = (store.byte(.readerCapabilities) ?? 0) & 0x80 == 0 || (store.byte(.aip, at: 1) ?? 0) & 0x80 == 0
        if isMagStripe, !readerDoesMagStripe { return fail(.magStripeNotSupported) }
        records = RecordReader(locator)
        return nextRecord()
    }

    mutating func recordsRead() -> KernelStep { isMagStripe ? readCounter() : prepareCryptogram() }

    /// 9F6E byte 1 bit 8 (C-4 Table 4-4).
    var readerHasContact: Bool { (store.byte(.enhancedReaderCapabilities) ?? 0) & 0x80 != 0 }
    /// 9F6E byte 1 bit 7 is the switch for mag-stripe mode: 9F6D alone, whose value for EMV counts mag-stripe in, is
    /// none.
    var readerDoesMagStripe: Bool { (store.byte(.enhancedReaderCapabilities) ?? 0) & 0x40 != 0 }
    /// AIP byte 2 bit 7 (K4-2).
    var isMobile: Bool { (store.byte(.aip, at: 1) ?? 0) & 0x40 != 0 }
}
