// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Kernel 7, UnionPay qUICS (EMV Contactless Book C-7, by a qUICS implementation): the cryptogram comes with GET
/// PROCESSING OPTIONS, offline approvals are signed (fDDA).
///
/// Of C-7 only bit tables are public with their numbers. What a rule rests on stands at the rule: a clause of another
/// book, or a number K7-1 to K7-5 of docs/conformance.md, which says how it was checked. Unless more is said there, its
/// source is one public implementation of qUICS.
///
/// Not done: offline data authentication for online authorisations (DF61 in the FCI), electronic cash, the SM
/// algorithms, CAPP transactions.
public struct Kernel7: Kernel, RecordReadingKernel {
    enum State: RecordReadingState {
        case idle
        case processingOptions
        case readingRecords
        case finished

        var step: ProcessingStep {
            switch self {
            case .idle: .initiation
            case .processingOptions: .processingOptions
            case .readingRecords, .finished: .records
            }
        }
    }

    let options: Kernel7Options
    var state = State.idle
    var store = DataStore(kernel: .unionPay)
    var ttq = TTQ(rawValue: 0)
    var date = EMVDate(year: 0, month: 0, day: 0)
    var authentication: CardAuthentication?
    var records: RecordReader?

    /// K7-1. A primitive object that comes twice ends the application, save the PAN sequence number; what the terminal
    /// set is not the card's to change and left out.
    static let policy = CardDataPolicy(duplicates: .reject(except: [.panSequenceNumber]))

    public init(options: Kernel7Options = Kernel7Options()) { self.options = options }

    /// K7-1.
    public mutating func start(_ activation: KernelActivation, now: TapInstant) -> KernelStep {
        var numbers = activation.unpredictableNumbers
        store = DataStore(activation, unpredictableNumber: numbers.next())
        store.set(.tvr, [0, 0, 0, 0, 0])
        date = activation.transaction.date
        ttq = activation.indicators.ttq ?? TTQ(rawValue: 0)
        if activation.isForcedOnline, !ttq.isOfflineOnly { ttq.requiresOnlineCryptogram = true }
        store.set(.ttq, ttq.bytes)
        authentication = CardAuthentication(activation)
        do throws(CardDataError) { try store.storeFCI(activation) } catch {
            return fail(error.l2)
        }
        guard store.list(in: .pdol, contains: .ttq) else { return finish(.selectNext(.cardDataError)) }
        guard let (command, _) = ProcessingOptions.command(store) else {
            return fail(.cardDataError)
        }
        state = .processingOptions
        return KernelStep(.transmit(command))
    }

    public mutating func received(_ response: ResponseAPDU, now: TapInstant) -> KernelStep {
        switch state {
        case .processingOptions: return optionsReceived(response)
        case .readingRecords: return recordReceived(response)
        case .idle, .finished: return fail(.cardDataError)
        }
    }

    /// K7-5. The card left: it may be presented again, with a fresh unpredictable number.
    public mutating func cardLost(now: TapInstant) -> KernelStep {
        finish(.cardLeft(.tryAgain, languagePreference: language))
    }

    public mutating func stop(now: TapInstant) -> Outcome { stopped() }

    /// K7-1. 6986 sends the holder to the device; any other status to the contact interface, or to the end.
    private mutating func optionsReceived(_ response: ResponseAPDU) -> KernelStep {
        if response.status == .commandNotAllowed {
            // The field goes off for a second.
            return finish(
                .seePhone(
                    message: .presentCardAgain, holdTime: 10, statusWord: response.status, languagePreference: language)
            )
        }
        guard response.status.isSuccess else {
            let error = ErrorIndication(l2: .statusBytes, statusWord: response.status)
            return finish(
                ttq.supportsContactChip
                    ? .tryContact(error) : .unusableCard(.statusBytes, statusWord: response.status))
        }
        do throws(CardDataError) {
            try ProcessingOptions.store(response.data, in: &store, formatOneMinimum: nil, policy: Kernel7.policy)
        } catch {
            return fail(error.l2)
        }
        guard store.count(.aip) == 2 else { return fail(.cardDataMissing) }
        return readRecords()
    }
}
