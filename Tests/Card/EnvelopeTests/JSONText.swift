// SPDX-License-Identifier: Apache-2.0
import StrictJSON

@testable import Envelope

/// A text and its index together, because the testing macros do not take spans.
struct JSONText {
    let bytes: [UInt8]
    let index: JSONIndex

    init(_ bytes: [UInt8]) throws(JSONIndexError) {
        self.bytes = bytes
        index = try JSONIndex(bytes.span)
    }

    init(_ text: String) throws(JSONIndexError) { try self.init(Array(text.utf8)) }

    /// The decoded `x` and `y` (where there is one) of the key in member `name`.
    func point(_ name: String, hasY: Bool = true) throws -> [UInt8] {
        let members = try JWKMembers(index, object: index.index(of: name, in: 0, bytes.span) ?? -1)
        let x = try members.octets("x", bytes.span)
        return try hasY ? x + members.octets("y", bytes.span) : x
    }
}
