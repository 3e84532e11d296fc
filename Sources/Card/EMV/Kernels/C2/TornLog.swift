// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Log of torn transactions (C-2 §3.7): what is needed to ask a card for the cryptogram that it may have computed just
/// before it left.
struct TornLog: Sendable {
    private var records: [TornTransaction] = []
    private let capacity: Int
    /// The records that got too old or had no room, the newest first; they go into the discretionary data (C-2 S1.5,
    /// S9.13).
    private(set) var removed: [TornTransaction] = []
    private(set) var isChanged = false
    /// The record whose card could not recover and may have written its data storage: until GENERATE AC is answered it is
    /// still of use (C-2 S11.11, S11.91).
    private(set) var retried: TornTransaction?

    private static let tags: [Tag] = [
        .amountAuthorised, .amountOther, .pan, .panSequenceNumber, .balanceBeforeCryptogram, .cdol1RelatedData,
        .cvmResults, .drdolRelatedData, .interfaceDeviceSerialNumber, .pdolRelatedData, .referenceControlParameter,
        .terminalCapabilities, .terminalCountry, .terminalType, .tvr, .transactionCategoryCode, .transactionCurrency,
        .transactionDate, .transactionTime, .transactionType, .unpredictableNumber, .dsSummary1, .idsStatus,
        .terminalRelayEntropy, .deviceRelayEntropy, .minimumRelayTime, .maximumRelayTime,
        .estimatedRelayTransmissionTime, .measuredRelayTime, .relayCounter,
    ]

    init() { capacity = 0 }

    /// Drops records older than DF811C (seconds); keeps none where DF811D is 0.
    init(_ earlier: [TornTransaction], _ store: DataStore, now: TapInstant) {
        capacity = Int(store.byte(.tornRecordCapacity) ?? 0)
        let lifetime = (store.number(.tornRecordLifetime, count: 2) ?? 0) * 1_000_000_000
        guard capacity > 0 else { return }
        for record in earlier {
            if now.nanoseconds(since: record.tornAt) > lifetime {
                removed.insert(record, at: 0)
                isChanged = true
            } else {
                records.append(record)
            }
        }
    }

    /// The newest record of the card in `store`, by PAN and PAN sequence number.
    func record(of store: DataStore) -> TornTransaction? {
        guard capacity > 0, let pan = store.value(.pan) else { return nil }
        let sequence = store.value(.panSequenceNumber)
        return records.last { $0.record.value(of: .pan) == pan && $0.record.value(of: .panSequenceNumber) == sequence }
    }

    mutating func remove(_ record: TornTransaction) {
        records.removeAll { $0 == record }
        isChanged = true
    }

    /// The card cannot recover, and is asked for a new cryptogram.
    mutating func retry(_ record: TornTransaction) {
        remove(record)
        if let status = record.record.value(of: .idsStatus)?.first, status & 0x40 != 0 { retried = record }
    }

    func canKeep(_ store: DataStore) -> Bool {
        capacity > 0 && store.isPresentNotEmpty(.drdol) && store.isPresentNotEmpty(.pan)
    }

    /// Adds the transaction in `store`; the oldest records make room.
    ///
    /// - Returns: the new log, or `nil` where this card or configuration cannot recover.
    mutating func keep(_ store: DataStore, now: TapInstant) -> [TornTransaction]? {
        guard canKeep(store) else { return isChanged ? records : nil }
        if let retried { records.append(retried) }
        while records.count >= capacity, !records.isEmpty { removed.insert(records.removeFirst(), at: 0) }
        records.append(TornTransaction(record: store.objects(TornLog.tags), tornAt: now))
        isChanged = true
        return records
    }

    /// The log as it is now, where it differs from the one of the start.
    var changed: [TornTransaction]? { isChanged ? records : nil }
}
