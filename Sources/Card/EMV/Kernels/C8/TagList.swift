// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// A list of tags without lengths (9F810A, 9F8203, 9F821F, 9F8221).
struct TagList: Equatable {
    private(set) var tags: [Tag] = []

    /// - Parameter bytes: `nil` where the last tag is cut off or one is longer than four bytes.
    init?(_ bytes: [UInt8]) {
        var offset = 0
        while offset < bytes.count {
            guard let tag = DOLCursor.tag(bytes, &offset, bytes.count) else { return nil }
            tags.append(tag)
        }
    }
}
