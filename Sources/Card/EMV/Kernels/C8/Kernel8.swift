// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Kernel 8, the common kernel (EMV Contactless Book C-8 with Book E): secure channel under a blinded card key,
/// encrypted records, local authentication by ECC certificates, IAD-MAC and EDA-MAC, READ DATA and WRITE DATA, relay
/// resistance where 9F8209 bit 5 is 1. Algorithm suite 00 only.
///
/// It has a stored property for each data object that a later command or the outcome needs: a machine without I/O has
/// nowhere else to keep them.
///
/// Not done: RSA certificates (a configuration that asks for them ends the application), SM2, data exchange with the
/// terminal during the transaction, the processing restrictions, which this kernel leaves to the card.
public struct Kernel8: Kernel, StandardKernel {
    enum State: KernelState {
        case idle
        case processingOptions
        case relayResistance
        case readingRecords
        case readingData
        case generatingAC
        case writingData
        case finished

        var step: ProcessingStep {
            switch self {
            case .idle: .initiation
            case .processingOptions: .processingOptions
            case .relayResistance: .relayResistance
            case .readingRecords: .records
            case .readingData, .writingData: .dataStorage
            case .generatingAC, .finished: .cryptogram
            }
        }
    }

    var state = State.idle
    var store = DataStore(kernel: .c8)
    var date = EMVDate(year: 0, month: 0, day: 0)
    var time = EMVTime(hour: 0, minute: 0, second: 0)
    var type = TransactionType.purchase
    var amount: UInt64 = 0
    var aid: [UInt8] = []
    var cryptography = SecureChannelCryptography.unavailable
    var numbers = UnpredictableNumbers.system
    var tvr: TVR = []
    /// Ephemeral; forgotten once the channel is open.
    var privateKey: [UInt8] = []
    var channel: SecureChannel?
    var records: Kernel8Records?
    var relay: RelayResistance?
    var relayStarted = TapInstant(nanoseconds: 0)
    var pdolData: [UInt8] = []
    var cdolData: [UInt8] = []
    /// The kernel's decision before GENERATE AC: the type of cryptogram asked for.
    var requested = ApplicationCryptogram.tc
    /// The kernel's decision with all that the card said.
    var decision = ApplicationCryptogram.tc
    var iadMAC: [UInt8] = []
    var cvm: Outcome.CVM?
    var needsReceipt = false
    var fieldOff: UInt8?
    /// Data envelopes still to be read (tags) and written (encoded objects).
    var toRead: [Tag] = []
    var toWrite: [[UInt8]] = []

    /// A repetition has to be identical; the terminal's objects are not the card's to send; known objects have to have
    /// their length (C-8 §4.1).
    static let policy = CardDataPolicy(
        duplicates: .rejectUnlessIdentical, rejectsReservedTags: true, checksLengths: true)

    public init() {}

    public mutating func start(_ activation: KernelActivation, now: TapInstant) -> KernelStep {
        prepare(activation)
        do throws(CardDataError) {
            guard try ResponseTemplate(activation.selection.data).tag == .fciTemplate else {
                return finish(.selectNext(.parsingError))
            }
            try store.store(activation.selection.data, policy: Kernel8.policy)
        } catch {
            return finish(.selectNext(error.l2))
        }
        guard store.isPresentNotEmpty(.dfName), let qualifier = CardQualifier(store.value(.cardQualifier)) else {
            return finish(.selectNext(.cardDataMissing))
        }
        if qualifier.detectsFieldOff { fieldOff = store.byte(.c8FieldOffHoldTime) }
        return open(qualifier)
    }

    private mutating func prepare(_ activation: KernelActivation) {
        numbers = activation.unpredictableNumbers
        store = DataStore(activation, unpredictableNumber: numbers.next())
        store.setDefaults(Kernel8Defaults.objects)
        date = activation.transaction.date
        time = activation.transaction.time
        type = activation.transaction.type
        amount = activation.transaction.amount
        aid = activation.combination.aid
        cryptography = activation.authentication.secureChannel
        tvr = .kernel8Format
        store.set(.cvmResults, [0x00, 0x00, 0x00])
        store.set(
            .terminalCapabilities,
            [store.byte(.c8CardDataInputCapability) ?? 0, 0x00, store.byte(.c8SecurityCapability) ?? 0])
        store.set(.relayTimeExcess, [0x00, 0x00])
        store.set(.readDataStatus, [0x80])
        store.set(.writeDataStatus, [0x00])
    }

    public mutating func received(_ response: ResponseAPDU, now: TapInstant) -> KernelStep {
        switch state {
        case .processingOptions: return optionsReceived(response, now: now)
        case .relayResistance: return relayReceived(response, now: now)
        case .readingRecords: return recordReceived(response)
        case .readingData: return dataReceived(response)
        case .generatingAC: return cryptogramReceived(response)
        case .writingData: return writeAnswered(response)
        case .idle, .finished: return fail(.cardDataError)
        }
    }

    /// Unverified for kernel 8; as kernel 2 does it.
    public mutating func cardLost(_ loss: CardLoss, now: TapInstant) -> KernelStep {
        switch state {
        case .idle, .processingOptions:
            return finish(.optionsLost(loss))
        case .writingData:
            // The cryptogram is there; Write Data Status (9F821B) tells what was not written.
            return conclude()
        case .relayResistance, .readingRecords, .readingData, .generatingAC, .finished:
            return finish(.cardLeft(.endApplication, loss, languagePreference: language))
        }
    }

    public mutating func cardLost(now: TapInstant) -> KernelStep { cardLost(.timeOut, now: now) }

    public mutating func stop(now: TapInstant) -> Outcome { stopped() }

    func unusable(_ l2: ErrorIndication.L2, _ statusWord: StatusWord?) -> Outcome {
        .unusableCard(l2, statusWord: statusWord, shown: message(.insertSwipeOrTryAnotherCard, hold: holdTime))
    }

    /// Kernel Configuration (9F8209) byte 1: bit 6 RSA certificates, bit 5 relay resistance, bit 4 report failed local
    /// authentication in the TVR.
    var configuration: UInt8 { store.byte(.c8KernelConfiguration) ?? 0 }

    /// 9F8211, n6 in units of 100 ms.
    var holdTime: UInt32 { UInt32(truncatingIfNeeded: store.digits(.c8MessageHoldTime) ?? 0) }
}
