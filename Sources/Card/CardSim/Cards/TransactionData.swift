// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// What the terminal handed over in answer to a DOL, and what the card adds to it.
struct TransactionData: Sendable {
    /// The bytes as received, for the hash of CDA.
    private(set) var received: [UInt8] = []
    private(set) var values: [Tag: [UInt8]] = [:]

    /// Cuts `data` into the values that `dol` asks for. Of a tag that occurs twice the first counts.
    ///
    /// - Returns: whether the length is right; if not, nothing is kept.
    mutating func add(_ data: [UInt8], by dol: DOL) -> Bool {
        guard data.count == dol.totalLength else { return false }
        received += data
        var offset = 0
        for entry in dol.entries {
            let value = Array(data[offset..<(offset + entry.length)])
            if values[entry.tag] == nil { values[entry.tag] = value }
            offset += entry.length
        }
        return true
    }

    mutating func set(_ tag: Tag, _ value: [UInt8]) { values[tag] = value }

    subscript(_ tag: Tag) -> [UInt8]? { values[tag] }

    /// The PDOL values in a GET PROCESSING OPTIONS command (EMV Book 3 §6.5.8): the value of its template 83.
    static func template83(_ data: [UInt8]) -> [UInt8]? {
        guard let objects = try? TLV.children(data), let first = objects.first, objects.count == 1,
            first.start == 0, first.tag == 0x83
        else { return nil }
        return Array(data[first.value])
    }
}
