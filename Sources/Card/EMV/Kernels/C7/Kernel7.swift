// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Kernel 7, UnionPay qUICS (EMV Contactless Book C-7, by a qUICS implementation): the cryptogram comes with GET
/// PROCESSING OPTIONS, offline approvals are signed (fDDA).
///
/// Of C-7 only bit tables are public with their numbers. What a rule rests on stands at the rule: a clause of another
/// book, or a number K7-1 to K7-5 of docs/internals/conformance.md, which says how it was checked. Unless more is said there, its
/// source is one public implementation of qUICS.
///
/// Not done: offline data authentication for online authorisations (DF61 in the FCI), electronic cash, the SM
/// algorithms, CAPP transactions.
public struct Kernel7: Kernel, QualifiedKernel {
    let options: Kernel7Options
    var state = QualifiedState.idle
    var store = DataStore(kernel: .unionPay)
    var ttq = TTQ(rawValue: 0)
    var date = EMVDate(year: 0, month: 0, day: 0)
    var authentication: CardAuthentication?
    var records: RecordReader?
    var pdolData: [UInt8] = []

    /// K7-1. A primitive object that comes twice ends the application, save the PAN sequence number; what the terminal
    /// set is not the card's to change and left out.
    static let policy = CardDataPolicy(duplicates: .reject(except: [.panSequenceNumber]))

    public init(options: Kernel7Options = Kernel7Options()) { self.options = options }

    /// K7-1.
    public mutating func start(_ activation: KernelActivation, now: TapInstant) -> KernelStep {
        date = activation.transaction.date
        do throws(CardDataError) { try prepare(activation) } catch { return fail(error.l2) }
        store.set(.tvr, [0, 0, 0, 0, 0])
        guard store.list(in: .pdol, contains: .ttq) else { return finish(.selectNext(.cardDataError)) }
        return askForOptions()
    }

    public mutating func received(_ response: ResponseAPDU, now: TapInstant) -> KernelStep { answered(response) }

    /// K7-5. The card left: it may be presented again, with a fresh unpredictable number.
    public mutating func cardLost(_ loss: CardLoss, now: TapInstant) -> KernelStep {
        finish(.cardLeft(.tryAgain, loss, languagePreference: language))
    }

    public mutating func cardLost(now: TapInstant) -> KernelStep { cardLost(.timeOut, now: now) }

    public mutating func stop(now: TapInstant) -> Outcome { stopped() }

    /// K7-1. 6986 sends the holder to the device; any other status to the contact interface, or to the end.
    mutating func optionsReceived(_ response: ResponseAPDU) -> KernelStep {
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
