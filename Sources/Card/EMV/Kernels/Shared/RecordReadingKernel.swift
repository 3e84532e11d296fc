// SPDX-License-Identifier: Apache-2.0
import CardBytes

protocol RecordReadingState: KernelState {
    static var readingRecords: Self { get }
}

/// A kernel that reads the records of the AFL in the clear (EMV Book 3 §10.2): 2 to 7.
protocol RecordReadingKernel: StandardKernel where State: RecordReadingState {
    /// What the kernel takes of a card's objects.
    static var policy: CardDataPolicy { get }

    /// `nil` where the card names no records.
    var records: RecordReader? { get set }

    /// Every record is read, or there is none.
    mutating func recordsRead() -> KernelStep
}

extension RecordReadingKernel {
    /// Starts with the AFL (94) in the store; kernels 3, 6 and 7 go on without one.
    mutating func readRecords() -> KernelStep {
        guard let list = store.value(.afl) else { return recordsRead() }
        guard let locator = ApplicationFileLocator(list) else { return fail(.cardDataError) }
        records = RecordReader(locator)
        return nextRecord()
    }

    /// Every record has to be there and to be well formed.
    @inline(__always)
    mutating func recordReceived(_ response: ResponseAPDU) -> KernelStep {
        guard response.status.isSuccess else { return fail(.statusBytes, statusWord: response.status) }
        guard var reader = records.take() else { return recordsRead() }
        do throws(CardDataError) {
            try reader.take(response.data, into: &store, policy: Self.policy)
        } catch {
            return fail(error.l2)
        }
        records = reader
        return nextRecord()
    }

    @inline(__always)
    mutating func nextRecord() -> KernelStep {
        guard let command = records?.command else { return recordsRead() }
        state = .readingRecords
        return KernelStep(.transmit(command))
    }

    /// The static data to be authenticated: none without records, `nil` where a record that belongs to them cannot be
    /// used.
    var authenticatedRecords: [UInt8]? {
        guard let records else { return [] }
        return records.hasUnusableRecord ? nil : records.staticData
    }
}
