import CardBytes

/// A list of tags without lengths (9F810A, 9F8203, 9F821F, 9F8221).
struct TagList: Equatable {
    private(set) var tags: [Tag] = []

    /// - Parameter bytes: `nil` where the last tag is cut off or one is longer than four bytes.
    init?(_ bytes: [UInt8]) {
        var offset = 0
        while offset < bytes.count {
            let start = offset
            var raw = UInt32(bytes[offset])
            offset += 1
            if raw & 0x1F == 0x1F {
                var more = true
                while more {
                    guard offset < bytes.count, offset - start < 4 else { return nil }
                    raw = raw << 8 | UInt32(bytes[offset])
                    more = bytes[offset] & 0x80 != 0
                    offset += 1
                }
            }
            tags.append(Tag(raw))
        }
    }
}
