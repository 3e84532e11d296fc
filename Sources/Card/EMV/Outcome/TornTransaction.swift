// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// What a kernel keeps of a transaction whose card left before it answered the cryptogram command, so that the next tap
/// of the same card can recover the cryptogram (kernel 2: FF8101).
public struct TornTransaction: Equatable, Sendable {
    public var record: [DataObject]
    public var tornAt: TapInstant

    public init(record: [DataObject], tornAt: TapInstant) {
        self.record = record
        self.tornAt = tornAt
    }
}
