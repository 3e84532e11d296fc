// SPDX-License-Identifier: Apache-2.0
/// Application File Locator (94; EMV Book 3 §10.2).
public struct ApplicationFileLocator: Equatable, Sendable {
    public struct Entry: Equatable, Sendable {
        /// Short file identifier, 1…30.
        public let sfi: UInt8
        public let first: UInt8
        public let last: UInt8
        /// So many records from `first` on enter offline data authentication.
        public let authenticated: UInt8
    }

    public private(set) var entries: [Entry] = []

    /// - Parameter bytes: `nil` where the list is empty, no multiple of four bytes, or names an impossible SFI, record or
    ///   count.
    public init?(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, bytes.count.isMultiple(of: 4) else { return nil }
        for offset in stride(from: 0, to: bytes.count, by: 4) {
            let sfi = bytes[offset] >> 3
            let first = bytes[offset + 1]
            let last = bytes[offset + 2]
            let authenticated = bytes[offset + 3]
            guard bytes[offset] & 0x07 == 0, (1...30).contains(sfi), first >= 1, last >= first,
                Int(authenticated) <= Int(last) - Int(first) + 1
            else { return nil }
            entries.append(Entry(sfi: sfi, first: first, last: last, authenticated: authenticated))
        }
    }

    /// Leaves the first entry out (kernel 2: the mag-stripe record, S3.30).
    mutating func removeFirst() { if !entries.isEmpty { entries.removeFirst() } }

    /// Leaves all entries but the first out (kernel 2 in mag-stripe mode, S3.70).
    mutating func keepFirst() { entries = Array(entries.prefix(1)) }
}
