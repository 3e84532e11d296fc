// SPDX-License-Identifier: Apache-2.0
public import CardBytes

extension DataStore {
    /// A store filled with what a kernel starts with: terminal data, the combination's kernel data over it, the
    /// transaction, the TTQ, the AID and the Unpredictable Number.
    public init(_ activation: borrowing KernelActivation, unpredictableNumber: UInt32) {
        self.init(kernel: activation.combination.kernel, isReserved: true)
        for object in activation.terminalData { set(object.tag, object.value) }
        for object in activation.combination.kernelData { set(object.tag, object.value) }
        set(activation.transaction)
        set(.unpredictableNumber, binary: UInt64(unpredictableNumber), count: 4)
        set(.terminalAID, activation.combination.aid)
        if !activation.kernelIdentifier.isEmpty { set(.kernelIdentifierTerminal, activation.kernelIdentifier) }
        // In kernel 2 the tag is the card's bitmap of track 2.
        if kernel != .mastercard, let ttq = activation.indicators.ttq {
            set(.ttq, binary: UInt64(ttq.rawValue), count: 4)
        }
    }

    /// Amounts, currency, country, date, time, type and counter.
    mutating func set(_ transaction: Transaction) {
        set(.amountAuthorised, digits: transaction.amount, count: 6)
        if let other = transaction.otherAmount { set(.amountOther, digits: other, count: 6) }
        set(.terminalCountry, digits: UInt64(transaction.country), count: 2)
        set(.transactionCurrency, digits: UInt64(transaction.currency), count: 2)
        set(.transactionCurrencyExponent, digits: UInt64(transaction.exponent), count: 1)
        set(.transactionDate, transaction.date.yymmdd)
        set(.transactionTime, transaction.time.hhmmss)
        set(.transactionType, binary: UInt64(transaction.type.rawValue), count: 1)
        set(.transactionSequenceCounter, digits: UInt64(transaction.sequenceCounter), count: 4)
    }

    /// Stores the objects of the FCI; a repetition inside it is left out.
    ///
    /// - Throws: `CardDataError` for an FCI that is malformed, or with an object that a card may not send there.
    public mutating func storeFCI(_ activation: KernelActivation) throws(CardDataError) {
        try store(activation.selection.data, policy: CardDataPolicy(duplicates: .keepFirst))
    }

    /// The first of `tags` that is absent or empty.
    public func firstMissing(of tags: [Tag]) -> Tag? { tags.first { !isPresentNotEmpty($0) } }

    /// Whether 5A and 57 name different cards; `false` where one of them is absent.
    public var hasContradictingPANs: Bool {
        guard let pan = value(.pan), let track = value(.track2Equivalent) else { return false }
        return Track2Equivalent(track)?.packedPAN(count: pan.count) != pan
    }

    /// The PAN in format cn: 5A, or else the one of 57.
    public var packedPAN: [UInt8]? {
        value(.pan)
            ?? value(.track2Equivalent).flatMap { Track2Equivalent($0) }.flatMap {
                $0.packedPAN(count: ($0.pan.count + 1) / 2)
            }
    }
}
