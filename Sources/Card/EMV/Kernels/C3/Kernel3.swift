// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Kernel 3, Visa qVSDC (EMV Contactless Book C-3): the cryptogram comes with GET PROCESSING OPTIONS, records are read
/// only where the card names them. Mag-stripe mode where TTQ byte 1 bit 8 is 1, offline data authentication of online
/// transactions where bit 1 is.
public struct Kernel3: Kernel, CertifiedKernel, IssuerUpdatingKernel {
    enum State: RecordReadingState, IssuerUpdateState {
        case idle
        case processingOptions
        case readingRecords
        case updating
        case finished

        var step: ProcessingStep {
            switch self {
            case .idle: .initiation
            case .processingOptions: .processingOptions
            case .readingRecords, .finished: .records
            case .updating: .issuerUpdate
            }
        }
    }

    let options: Kernel3Options
    var state = State.idle
    var store = DataStore(kernel: .visa)
    var transaction: Transaction?
    var risk = RiskManagement()
    var authentication: CardAuthentication?
    var ttq = TTQ(rawValue: 0)
    var records: RecordReader?
    var update: IssuerUpdate?
    /// Of the last answer.
    var now = TapInstant(nanoseconds: 0)

    /// A primitive object that the card sends twice ends the application (C-3 5.4.2.2).
    static let policy = CardDataPolicy(duplicates: .reject(except: []))

    /// The second presentment ends without a wish of the card for a language.
    var updateOutcome: Outcome { IssuerUpdate.outcome(of: update) }

    public init(options: Kernel3Options = Kernel3Options()) { self.options = options }

    public mutating func start(_ activation: KernelActivation, now: TapInstant) -> KernelStep {
        var numbers = activation.unpredictableNumbers
        store = DataStore(activation, unpredictableNumber: numbers.next())
        transaction = activation.transaction
        risk = activation.combination.riskManagement
        authentication = CardAuthentication(activation)
        do throws(CardDataError) { try store.storeFCI(activation) } catch { return fail(error.l2) }
        if activation.isRestart, let response = activation.onlineResponse, response.hasCardData {
            return startUpdate(response)
        }
        let indicators = dynamicIndicators(activation) ?? activation.indicators
        if indicators.contactlessNotAllowed { return finish(Kernel3.insertOrSwipe) }
        ttq = indicators.ttq ?? TTQ(rawValue: 0)
        // A.2 has the same for a terminal type that only goes online (one source). Not followed: a floor limit is how a shop
        // lets cards decide while its payment service is away, whatever type its terminal declares.
        if activation.isForcedOnline, !ttq.isOfflineOnly {
            ttq.requiresOnlineCryptogram = true
        }
        store.set(.ttq, binary: UInt64(ttq.rawValue), count: 4)
        // 2.1: a Visa card knows cashback by 9F03, and 9C of a purchase (one source).
        if activation.transaction.type == .purchaseWithCashback {
            store.set(.transactionType, [TransactionType.purchase.rawValue])
        }
        guard let (command, _) = ProcessingOptions.command(store) else { return fail(.cardDataError) }
        state = .processingOptions
        return KernelStep(.transmit(command))
    }

    public mutating func received(_ response: ResponseAPDU, now: TapInstant) -> KernelStep {
        self.now = now
        switch state {
        case .processingOptions: return optionsReceived(response)
        case .readingRecords: return recordReceived(response)
        case .updating: return updateReceived(response)
        case .idle, .finished: return fail(.cardDataError)
        }
    }

    /// The card left: it may be presented again, the transaction starts over with a fresh unpredictable number. The
    /// message is unverified.
    public mutating func cardLost(_ loss: CardLoss, now: TapInstant) -> KernelStep {
        if state == .updating { return finish(updateOutcome) }
        return finish(
            Outcome(
                .tryAgain, start: .b, uiOnRestart: UIRequest(.presentCardAgain, .readyToRead),
                error: ErrorIndication(l1: ErrorIndication.L1(loss))))
    }

    public mutating func cardLost(now: TapInstant) -> KernelStep { cardLost(.timeOut, now: now) }

    public mutating func stop(now: TapInstant) -> Outcome { stopped() }

    /// C-3 5.2.2: the status words of GET PROCESSING OPTIONS; 5.3: both formats of its answer.
    private mutating func optionsReceived(_ response: ResponseAPDU) -> KernelStep {
        switch response.status {
        case .success: break
        case .referenceDataInvalidated where ttq.supportsEMV:
            return finish(.tryContact(ErrorIndication(l2: .statusBytes, statusWord: response.status)))
        case .conditionsNotSatisfied:
            return finish(.selectNext(.statusBytes, statusWord: response.status))
        case .commandNotAllowed where ttq.supportsEMV:
            return finish(.seePhone(statusWord: response.status))
        case _:
            return fail(.statusBytes, statusWord: response.status)
        }
        do throws(CardDataError) {
            try ProcessingOptions.store(response.data, in: &store, formatOneMinimum: 2, policy: Kernel3.policy)
        } catch {
            return fail(error.l2)
        }
        return readRecords()
    }

    /// Dynamic reader limits: the set whose program identifier is the longest prefix of the card's 9F5A.
    ///
    /// - Returns: `nil` where the reader has none for this card, and the combination's own limits count.
    private func dynamicIndicators(_ activation: KernelActivation) -> PreProcessingIndicators? {
        guard let identifier = store.value(.applicationProgramIdentifier) else { return nil }
        let matching = activation.combination.dynamicLimits.filter { identifier.starts(with: $0.programIdentifier) }
        guard var limits = matching.max(by: { $0.programIdentifier.count < $1.programIdentifier.count })?.limits else {
            return nil
        }
        limits.ttq = activation.combination.limits.ttq
        return PreProcessing.indicators(limits, activation.transaction)
    }
}
