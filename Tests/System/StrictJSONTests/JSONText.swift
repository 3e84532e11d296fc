// SPDX-License-Identifier: Apache-2.0
import StrictJSON

/// A text and its index together, because the testing macros do not take spans.
struct JSONText {
    let bytes: [UInt8]
    let index: JSONIndex

    init(_ bytes: [UInt8]) throws(JSONIndexError) {
        self.bytes = bytes
        index = try JSONIndex(bytes.span)
    }

    init(_ text: String) throws(JSONIndexError) { try self.init(Array(text.utf8)) }

    var root: JSONIndex.Node { index.nodes[0] }

    func member(_ name: String, of parent: Int = 0) -> JSONIndex.Node? {
        index.member(name, of: parent, in: bytes.span)
    }

    func object(_ name: String) -> Int? { index.index(of: name, in: 0, bytes.span) }

    func string(_ node: JSONIndex.Node) -> String? { index.string(node, in: bytes.span) }

    func integer(_ node: JSONIndex.Node) -> UInt64? { index.integer(node, in: bytes.span) }
}
