// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Kernel 2, Mastercard (EMV Contactless Book C-2): EMV mode with CDA and on-device cardholder verification, mag-stripe
/// mode where DF811B bit 8 is 0, relay resistance where DF811B bit 5 is 1, recovery of torn transactions where DF811D
/// is above 0.
///
/// It has a stored property for each data object that a later command or the outcome needs: a machine without I/O has
/// nowhere else to keep them.
///
/// Not done: data exchange with the terminal (DEK/DET), data storage (IDS, SDS).
public struct Kernel2: Kernel, RecordReadingKernel {
    enum State: RecordReadingState {
        case idle
        case processingOptions
        case relayResistance
        case readingRecords
        case balanceBefore
        case readingTransactionCounter
        case readingOnlineCounter
        case recoveringAC
        case generatingAC
        case balanceAfter
        case computingChecksum
        case finished

        var step: ProcessingStep {
            switch self {
            case .idle: .initiation
            case .processingOptions: .processingOptions
            case .relayResistance: .relayResistance
            case .readingRecords: .records
            case .balanceBefore, .readingTransactionCounter, .readingOnlineCounter, .balanceAfter: .cardCounters
            case .recoveringAC: .recovery
            case .generatingAC, .finished: .cryptogram
            case .computingChecksum: .magStripe
            }
        }
    }

    var state = State.idle
    var store = DataStore(kernel: .mastercard)
    var date = EMVDate(year: 0, month: 0, day: 0)
    var type = TransactionType.purchase
    var amount: UInt64 = 0
    var aid: [UInt8] = []
    var authentication = OfflineAuthentication.unavailable
    var numbers = UnpredictableNumbers.system
    var tvr: TVR = []
    var records: RecordReader?
    var isMagStripe = false
    /// The card and the reader do CDA.
    var wantsCDA = false
    var requested = ApplicationCryptogram.tc
    var requestedCDA = false
    var selection = CVMSelection.notPerformed
    var needsReceipt = false
    var relay: RelayResistance?
    var relayStarted = TapInstant(nanoseconds: 0)
    var pdolData: [UInt8] = []
    var cdolData: [UInt8] = []
    var fieldOff: UInt8?
    var torn = TornLog()
    /// Outcome made of the cryptogram, held back while the balance is read.
    var pending: Outcome?
    var checksum = MagStripeChecksum()
    var risk = RiskManagement()
    var isForcedOnline = false
    /// What GET DATA told for the velocity check; `nil` where it did not.
    var transactionCounter: UInt16?
    var lastOnlineCounter: UInt16?
    /// Wrong answers in mag-stripe mode in a row, at this tap's start.
    var failedMagStripeReads: UInt8 = 0

    /// Any repetition is a parsing error unless the first was empty; the terminal's objects are not the card's to send
    /// (C-2 §4.5; the latter is unverified).
    static let policy = CardDataPolicy(duplicates: .rejectUnlessEmpty, rejectsReservedTags: true)

    public init() {}

    /// C-2 S1.
    public mutating func start(_ activation: KernelActivation, now: TapInstant) -> KernelStep {
        numbers = activation.unpredictableNumbers
        store = DataStore(activation, unpredictableNumber: numbers.next())
        store.setDefaults(Kernel2Defaults.objects)
        date = activation.transaction.date
        type = activation.transaction.type
        amount = activation.transaction.amount
        aid = activation.combination.aid
        authentication = activation.authentication
        risk = activation.combination.riskManagement
        isForcedOnline = activation.isForcedOnline
        failedMagStripeReads = activation.failedMagStripeReads
        torn = TornLog(activation.tornTransactions, store, now: now)
        do throws(CardDataError) { try store.storeFCI(activation) } catch { return finish(.selectNext(error.l2)) }
        guard store.isPresentNotEmpty(.dfName) else { return finish(.selectNext(.cardDataMissing)) }
        if capabilities(2) & 0x04 != 0 { fieldOff = store.byte(.fieldOffHoldTime) }
        store.set(.cvmResults, [0x00, 0x00, 0x00])
        store.set(
            .terminalCapabilities,
            [store.byte(.cardDataInputCapability) ?? 0, 0x00, store.byte(.securityCapability) ?? 0])
        for tag: Tag in [.dsSummaryStatus, .putDataStatusAfterCryptogram, .putDataStatusBeforeCryptogram] {
            store.set(tag, [0x00])
        }
        guard let (command, values) = ProcessingOptions.command(store) else { return fail(.cardDataError) }
        pdolData = values
        state = .processingOptions
        return KernelStep(.transmit(command))
    }

    public mutating func received(_ response: ResponseAPDU, now: TapInstant) -> KernelStep {
        switch state {
        case .processingOptions: return optionsReceived(response, now: now)
        case .relayResistance: return relayReceived(response, now: now)
        case .readingRecords: return recordReceived(response)
        case .balanceBefore: return balanceReceived(response, into: .balanceBeforeCryptogram)
        case .readingTransactionCounter: return transactionCounterReceived(response)
        case .readingOnlineCounter: return onlineCounterReceived(response)
        case .recoveringAC: return recoveryReceived(response)
        case .generatingAC: return cryptogramReceived(response)
        case .balanceAfter: return balanceReceived(response, into: .balanceAfterCryptogram)
        case .computingChecksum: return checksumReceived(response)
        case .idle, .finished: return fail(.cardDataError)
        }
    }

    /// Before the cryptogram command the tap simply starts over; afterwards the card may have counted the transaction.
    public mutating func cardLost(now: TapInstant) -> KernelStep {
        switch state {
        case .generatingAC, .recoveringAC, .computingChecksum:
            var outcome = Outcome.cardLeft(.endApplication, languagePreference: language)
            if state == .generatingAC, let records = torn.keep(store, now: now) { outcome.tornTransactions = records }
            if state == .computingChecksum { addPenalty(to: &outcome) }
            return finish(outcome)
        case .balanceAfter:
            // The cryptogram is there: the balance is only shown.
            let error = ErrorIndication(l1: .transmission, messageOnError: .presentCardAgain)
            return finish(pending ?? Outcome(.endApplication, error: error))
        case .idle, .processingOptions, .relayResistance, .readingRecords, .balanceBefore,
            .readingTransactionCounter, .readingOnlineCounter, .finished:
            return finish(.cardLeft(.tryAgain, languagePreference: language))
        }
    }

    public mutating func stop(now: TapInstant) -> Outcome { stopped() }

    func unusable(_ l2: ErrorIndication.L2, _ statusWord: StatusWord?) -> Outcome {
        .unusableCard(l2, statusWord: statusWord, shown: message(.insertSwipeOrTryAnotherCard, hold: holdTime))
    }

    /// Application Capabilities Information (9F5D), byte 1…3.
    func capabilities(_ byte: Int) -> UInt8 { store.byte(.applicationCapabilities, at: byte - 1) ?? 0 }

    var configuration: UInt8 { store.byte(.kernelConfiguration) ?? 0 }

    /// DF812D, n6 in units of 100 ms.
    var holdTime: UInt32 { UInt32(truncatingIfNeeded: store.digits(.messageHoldTime) ?? 0) }

    /// AIP byte 1 bit 2 and DF811B bit 6: card and reader know on-device cardholder verification.
    var hasOnDeviceCVM: Bool { (store.byte(.aip) ?? 0) & 0x02 != 0 && configuration & 0x20 != 0 }

    /// DF8126: kernel 2 compares with `>`.
    var exceedsCVMLimit: Bool { amount > store.digits(.readerCVMLimit) ?? 0 }

    var transactionLimit: UInt64 {
        store.digits(hasOnDeviceCVM ? .transactionLimitWithDeviceCVM : .transactionLimitWithoutDeviceCVM) ?? 0
    }
}
