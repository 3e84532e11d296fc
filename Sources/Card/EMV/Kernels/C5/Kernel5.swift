// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Kernel 5, JCB (EMV Contactless Book C-5): EMV mode with CDA, legacy mode and mag-stripe mode, each where the
/// Combination Options (DF811B) have it; the cardholder verification is the card's choice.
///
/// Terminal action codes are configured as DF8120 (default), DF8121 (denial) and DF8122 (online), as in kernel 2.
///
/// No public source quotes the clauses of C-5. What a rule rests on stands at the rule: a clause of another book, or a
/// number K5-1 to K5-8 of docs/internals/conformance.md, which says how it was checked. Unless more is said there, its source is
/// one public kernel of JCB.
///
/// It has a stored property for each data object that a later command or the outcome needs: a machine without I/O has
/// nowhere else to keep them.
///
/// Not done: transit transactions, offline PIN over contact.
public struct Kernel5: Kernel, GeneratingKernel, IssuerUpdatingKernel {
    enum State: GeneratingState, IssuerUpdateState {
        case idle
        case processingOptions
        case recovering
        case readingRecords
        case generatingAC
        case readingMagStripe
        case updating
        case finished

        var step: ProcessingStep {
            switch self {
            case .idle: .initiation
            case .processingOptions: .processingOptions
            case .recovering: .recovery
            case .readingRecords: .records
            case .generatingAC, .finished: .cryptogram
            case .readingMagStripe: .magStripe
            case .updating: .issuerUpdate
            }
        }
    }

    enum Mode {
        case emv
        case magStripe
        case legacy
    }

    let options: Kernel5Options
    var state = State.idle
    var mode = Mode.emv
    var store = DataStore(kernel: .jcb)
    var activation: KernelActivation?
    var numbers = UnpredictableNumbers.system
    var combination: Kernel5CombinationOptions = []
    var profile = TerminalInterchangeProfile(nil)
    var authentication: CardAuthentication?
    var records: RecordReader?
    /// What CDA takes in of the records; `nil` where one of them cannot be used.
    var staticData: [UInt8]? = []
    var tvr: TVR = []
    var wantsCDA = false
    var requested = ApplicationCryptogram.arqc
    var requestedCDA = false
    var pdolData: [UInt8] = []
    var cdolData: [UInt8] = []
    var update: IssuerUpdate?

    /// K5-2. A primitive object that comes twice leads to the next application.
    static let policy = CardDataPolicy(duplicates: .reject(except: []))

    public init(options: Kernel5Options = Kernel5Options()) { self.options = options }

    /// K5-1: limits (≥) and the reader's profile.
    public mutating func start(_ activation: KernelActivation, now: TapInstant) -> KernelStep {
        self.activation = activation
        numbers = activation.unpredictableNumbers
        store = DataStore(activation, unpredictableNumber: numbers.next())
        store.setDefaults(Kernel5.defaults)
        combination = Kernel5CombinationOptions(rawValue: store.byte(.kernelConfiguration) ?? 0)
        store.setDefaults([DataObject(.terminalCompatibilityIndicator, [combination.compatibilityIndicator])])
        authentication = CardAuthentication(activation)
        do throws(CardDataError) { try store.storeFCI(activation) } catch { return fail(error.l2) }
        if activation.isRestart, let response = activation.onlineResponse, response.hasCardData {
            return startUpdate(response)
        }
        let transaction = activation.transaction
        let limits = activation.combination.limits
        if let limit = limits.transactionLimit, transaction.amount >= limit {
            return fail(.maxLimitExceeded)
        }
        profile = TerminalInterchangeProfile(store.value(.terminalInterchangeProfile))
        if let limit = limits.cvmRequiredLimit, transaction.amount >= limit, transaction.type != .refund {
            profile.requiresCVM = true
        }
        store.set(.terminalInterchangeProfile, profile.bytes)
        if !store.list(in: .pdol, contains: .terminalCompatibilityIndicator) {
            guard combination.contains(.legacy) else { return fail(.cardDataError) }
            mode = .legacy
        }
        guard let (command, values) = ProcessingOptions.command(store) else {
            return fail(.parsingError)
        }
        pdolData = values
        state = .processingOptions
        return KernelStep(.transmit(command))
    }

    public mutating func received(_ response: ResponseAPDU, now: TapInstant) -> KernelStep {
        switch state {
        case .processingOptions: return optionsReceived(response)
        case .recovering: return echoReceived(response)
        case .readingRecords: return recordReceived(response)
        case .generatingAC: return cryptogramReceived(response)
        case .readingMagStripe: return magStripeReceived(response)
        case .updating: return updateReceived(response)
        case .idle, .finished: return finish(.unusableCard(.cardDataError))
        }
    }

    /// K5-8. After the cryptogram command the card may have counted the transaction; it is kept for recovery.
    public mutating func cardLost(_ loss: CardLoss, now: TapInstant) -> KernelStep {
        switch state {
        case .updating: return finish(updateOutcome)
        case .generatingAC, .recovering, .readingMagStripe:
            var outcome = Outcome.cardLeft(.endApplication, loss, languagePreference: language)
            if state == .generatingAC, mode == .emv { outcome.tornTransactions = [tornTransaction(now)] }
            return finish(outcome)
        case .idle, .processingOptions, .readingRecords, .finished:
            return finish(.cardLeft(.tryAgain, loss, languagePreference: language))
        }
    }

    public mutating func cardLost(now: TapInstant) -> KernelStep { cardLost(.timeOut, now: now) }

    public mutating func stop(now: TapInstant) -> Outcome { stopped() }

    /// K5-2. A card that cannot be used before its cryptogram leads to the next application; for records that is
    /// unverified.
    func unusable(_ l2: ErrorIndication.L2, _ statusWord: StatusWord?) -> Outcome {
        .selectNext(l2, statusWord: statusWord)
    }

    var updateOutcome: Outcome { IssuerUpdate.outcome(of: update, languagePreference: language) }

    /// Combination Options for EMV mode with CDA, and the action codes for a terminal that has none.
    static let defaults: [DataObject] = [
        DataObject(.kernelConfiguration, [0x22]),
        DataObject(.terminalInterchangeProfile, [0x50, 0x00, 0x00]),
        DataObject(.terminalActionCodeDefault, [0x90, 0x40, 0x00, 0x80, 0x00]),
        DataObject(.terminalActionCodeDenial, [0x04, 0x10, 0x00, 0x00, 0x00]),
        DataObject(.terminalActionCodeOnline, [0x90, 0x60, 0x00, 0x90, 0x00]),
    ]
}
