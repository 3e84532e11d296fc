// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Goes through the records that an AFL names, in its order (EMV Book 3 §10.2).
struct RecordCursor: Sendable {
    private let entries: [ApplicationFileLocator.Entry]
    private var index = 0
    private var record: Int

    init(_ locator: ApplicationFileLocator) {
        entries = locator.entries
        record = Int(locator.entries.first?.first ?? 1)
    }

    /// READ RECORD for the record that is next, `nil` once all are read.
    var command: CommandAPDU? {
        guard let file else { return nil }
        return ShortCommand.make(0x00, 0xB2, UInt8(truncatingIfNeeded: record), file << 3 | 0x04)
    }

    /// Short file identifier of the record that is next.
    var file: UInt8? { index < entries.count ? entries[index].sfi : nil }

    /// Whether the record that is next enters offline data authentication.
    var isAuthenticated: Bool {
        guard index < entries.count else { return false }
        return record < Int(entries[index].first) + Int(entries[index].authenticated)
    }

    mutating func advance() {
        guard index < entries.count else { return }
        record += 1
        guard record > Int(entries[index].last) else { return }
        index += 1
        if index < entries.count { record = Int(entries[index].first) }
    }
}
