// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Where a kernel stands that has its cryptogram with the options.
enum QualifiedState: RecordReadingState {
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

/// What kernels 6 and 7 do alike: the cryptogram comes with GET PROCESSING OPTIONS, by the Terminal Transaction
/// Qualifiers (9F66).
protocol QualifiedKernel: CertifiedKernel where State == QualifiedState {
    var ttq: TTQ { get set }
    var authentication: CardAuthentication? { get set }
    /// Values of the PDOL as sent.
    var pdolData: [UInt8] { get set }

    mutating func optionsReceived(_ response: ResponseAPDU) -> KernelStep
}

extension QualifiedKernel {
    /// Store, qualifiers, CA keys and the card's FCI.
    mutating func prepare(_ activation: KernelActivation) throws(CardDataError) {
        var numbers = activation.unpredictableNumbers
        store = DataStore(activation, unpredictableNumber: numbers.next())
        ttq = activation.indicators.ttq ?? TTQ(rawValue: 0)
        if activation.isForcedOnline, !ttq.isOfflineOnly { ttq.requiresOnlineCryptogram = true }
        store.set(.ttq, ttq.bytes)
        authentication = CardAuthentication(activation)
        try store.storeFCI(activation)
    }

    mutating func askForOptions() -> KernelStep {
        guard let (command, values) = ProcessingOptions.command(store) else { return fail(.cardDataError) }
        pdolData = values
        state = .processingOptions
        return KernelStep(.transmit(command))
    }

    mutating func answered(_ response: ResponseAPDU) -> KernelStep {
        switch state {
        case .processingOptions: optionsReceived(response)
        case .readingRecords: recordReceived(response)
        case .idle, .finished: fail(.cardDataError)
        }
    }
}
