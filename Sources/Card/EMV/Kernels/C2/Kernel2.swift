// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Kernel 2, Mastercard (EMV Contactless Book C-2): EMV mode with CDA and on-device cardholder verification, mag-stripe
/// mode where DF811B bit 8 is 0, relay resistance where DF811B bit 5 is 1, recovery of torn transactions where DF811D
/// is above 0.
///
/// It has a stored property for each data object that a later command or the outcome needs: a machine without I/O has
/// nowhere else to keep them.
///
/// Data exchange with the terminal (DEK/DET) and standalone data storage (SDS) are what the terminal's objects DF8112,
/// FF8102 and FF8103 ask for, integrated data storage (IDS) what DF810D and 9F5C do.
public struct Kernel2: Kernel, RecordReadingKernel {
    enum State: RecordReadingState {
        case idle
        /// The terminal is asked for what the PDOL lacks.
        case awaitingOptionsData
        case processingOptions
        case readingTags
        case relayResistance
        case readingRecords
        /// The terminal is told what was read, and asked for what the CDOL1 lacks.
        case awaitingCryptogramData
        case balanceBefore
        case readingTransactionCounter
        case readingOnlineCounter
        case writingBefore
        case recoveringAC
        case generatingAC
        case balanceAfter
        case writingAfter
        case computingChecksum
        case finished

        var step: ProcessingStep {
            switch self {
            case .idle, .awaitingOptionsData: .initiation
            case .processingOptions: .processingOptions
            case .readingTags, .writingBefore, .writingAfter: .dataStorage
            case .awaitingCryptogramData: .cardData
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
    var exchange = Kernel2Exchange()
    var risk = RiskManagement()
    var isForcedOnline = false
    /// What GET DATA told for the velocity check; `nil` where it did not.
    var transactionCounter: UInt16?
    var lastOnlineCounter: UInt16?
    /// Wrong answers in mag-stripe mode in a row, at this tap's start.
    var failedMagStripeReads: UInt8 = 0

    let options: Kernel2Options

    /// Any repetition is a parsing error unless the first was empty; the terminal's objects are not the card's to send,
    /// and known objects have their templates and lengths (C-2 §4.5; the last two are unverified).
    static let policy = {
        var policy = CardDataPolicy(duplicates: .rejectUnlessEmpty, rejectsReservedTags: true)
        policy.rules = { Kernel2Objects.rule($0) }
        return policy
    }()

    public init(options: Kernel2Options = Kernel2Options()) { self.options = options }

    /// C-2 S1.
    public mutating func start(_ activation: KernelActivation, now: TapInstant) -> KernelStep {
        numbers = activation.unpredictableNumbers
        store = DataStore(activation, unpredictableNumber: numbers.next())
        store.setDefaults(Kernel2Defaults.objects)
        // KS.2: whatever the configuration says.
        store.set(.mobileSupportIndicator, [0x01])
        date = activation.transaction.date
        type = activation.transaction.type
        amount = activation.transaction.amount
        aid = activation.combination.aid
        authentication = activation.authentication
        risk = activation.combination.riskManagement
        isForcedOnline = activation.isForcedOnline
        failedMagStripeReads = activation.failedMagStripeReads
        torn = TornLog(activation.tornTransactions, store, now: now)
        do throws(CardDataError) {
            guard try takeFCI(activation.selection.data), store.isPresentNotEmpty(.dfName) else {
                return finish(.selectNext(.cardDataMissing))
            }
        } catch {
            return finish(.selectNext(error.l2))
        }
        if capabilities(2) & 0x04 != 0 { fieldOff = store.byte(.fieldOffHoldTime) }
        store.set(.cvmResults, [0x00, 0x00, 0x00])
        store.set(
            .terminalCapabilities,
            [store.byte(.cardDataInputCapability) ?? 0, 0x00, store.byte(.securityCapability) ?? 0])
        for tag: Tag in [.idsStatus, .dsSummaryStatus, .putDataStatusAfterCryptogram, .putDataStatusBeforeCryptogram] {
            store.set(tag, [0x00])
        }
        do throws(CardDataError) { exchange = try Kernel2Exchange(store) } catch { return fail(error.l2) }
        offerStorage()
        let missing = missingData(in: .pdol)
        return missing.isEmpty ? askForOptions() : askTerminal(for: missing, .awaitingOptionsData)
    }

    mutating func askForOptions() -> KernelStep {
        guard let (command, values) = ProcessingOptions.command(store) else { return fail(.cardDataError) }
        pdolData = values
        store.set(.pdolRelatedData, command.data)
        state = .processingOptions
        return KernelStep(.transmit(command))
    }

    /// C-2 S1.7.
    ///
    /// - Returns: `false` where the proprietary template (A5) is missing.
    private mutating func takeFCI(_ data: [UInt8]) throws(CardDataError) -> Bool {
        let template = try ResponseTemplate(data)
        guard template.tag == .fciTemplate else { throw .wrongTemplate }
        try store.store(data, in: template.value, of: .fci, policy: Kernel2.policy)
        do throws(TLVError) {
            return try TLV.children(data, in: template.value).contains { $0.tag == .fciProprietaryTemplate }
        } catch {
            throw .malformed(error)
        }
    }

    public mutating func received(_ response: ResponseAPDU, now: TapInstant) -> KernelStep {
        switch state {
        case .processingOptions: return optionsReceived(response, now: now)
        case .readingTags: return tagReceived(response)
        case .relayResistance: return relayReceived(response, now: now)
        case .readingRecords: return recordReceived(response)
        case .balanceBefore: return balanceReceived(response, into: .balanceBeforeCryptogram)
        case .readingTransactionCounter: return transactionCounterReceived(response)
        case .readingOnlineCounter: return onlineCounterReceived(response)
        case .writingBefore: return writtenBefore(response)
        case .writingAfter: return writtenAfter(response)
        case .recoveringAC: return recoveryReceived(response)
        case .generatingAC: return cryptogramReceived(response)
        case .balanceAfter: return balanceReceived(response, into: .balanceAfterCryptogram)
        case .computingChecksum: return checksumReceived(response)
        case .idle, .awaitingOptionsData, .awaitingCryptogramData, .finished: return fail(.cardDataError)
        }
    }

    /// While the options are awaited the tap simply starts over; later the application ends and begins again with the
    /// next presentation (C-2 S3.4, S4.4, SR1, S7.5). After GENERATE AC the card may have counted the transaction.
    public mutating func cardLost(_ loss: CardLoss, now: TapInstant) -> KernelStep {
        switch state {
        case .idle, .awaitingOptionsData, .processingOptions:
            return finish(.optionsLost(loss))
        case .balanceAfter, .writingAfter:
            // The cryptogram is there: the balance is only shown, and what was not written is told.
            if let pending { return finish(pending, signals: exchange.held) }
        case .generatingAC:
            return finish(cryptogramLost(loss, now: now))
        case .computingChecksum:
            var outcome = Outcome.cardLeft(.endApplication, loss, languagePreference: language)
            addPenalty(to: &outcome)
            return finish(outcome)
        case .readingTags, .relayResistance, .readingRecords, .awaitingCryptogramData, .balanceBefore,
            .readingTransactionCounter, .readingOnlineCounter, .writingBefore, .recoveringAC, .finished:
            break
        }
        return finish(.cardLeft(.endApplication, loss, languagePreference: language))
    }

    public mutating func cardLost(now: TapInstant) -> KernelStep { cardLost(.timeOut, now: now) }

    public mutating func stop(now: TapInstant) -> Outcome { stopped() }

    /// Once the cryptogram is asked for, the answer has to be awaited (C-2 S9, S13).
    public var ignoresStop: Bool {
        switch state {
        case .recoveringAC, .generatingAC, .balanceAfter, .writingAfter, .computingChecksum: true
        case .idle, .awaitingOptionsData, .processingOptions, .readingTags, .relayResistance, .readingRecords,
            .awaitingCryptogramData, .balanceBefore, .readingTransactionCounter, .readingOnlineCounter, .writingBefore,
            .finished:
            false
        }
    }

    /// After a refused READ RECORD the message does not stay (C-2 S4.10).
    func unusable(_ l2: ErrorIndication.L2, _ statusWord: StatusWord?) -> Outcome {
        let isRefusedRecord = state == .readingRecords && l2 == .statusBytes
        var outcome = Outcome.unusableCard(
            l2, statusWord: statusWord,
            shown: message(.insertSwipeOrTryAnotherCard, hold: isRefusedRecord ? 0 : holdTime))
        // S910.50 to S910.62: what was written cannot be taken back, so that the terminal gets the record.
        let awaitsCryptogram = state == .generatingAC || state == .recoveringAC
        if awaitsCryptogram, writesStorage, l2 != .idsWriteError {
            outcome.dataRecord = store.objects(Kernel2.recordTags)
        }
        return outcome
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
