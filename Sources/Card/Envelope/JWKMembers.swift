// SPDX-License-Identifier: Apache-2.0
import CardBytes
import StrictJSON

/// The members of one JWK object (RFC 7517 §4), checked for type as they are asked for.
struct JWKMembers {
    private let index: JSONIndex
    private let object: Int

    /// - Throws: `.notJSON` where `object` is no object.
    init(_ index: JSONIndex, object: Int = 0) throws(RecipientKeyError) {
        guard index.nodes.indices.contains(object), index.nodes[object].kind == .object else { throw .notJSON }
        self.index = index
        self.object = object
    }

    func has(_ name: String, _ bytes: borrowing Span<UInt8>) -> Bool {
        index.member(name, of: object, in: bytes) != nil
    }

    func text(_ name: String, _ bytes: borrowing Span<UInt8>) throws(RecipientKeyError) -> String? {
        guard let node = index.member(name, of: object, in: bytes) else { return nil }
        guard let text = index.string(node, in: bytes) else { throw .malformedMember(name) }
        return text
    }

    func requiredText(_ name: String, _ bytes: borrowing Span<UInt8>) throws(RecipientKeyError) -> String {
        guard let text = try text(name, bytes) else { throw .missingMember(name) }
        return text
    }

    /// Whole seconds since 1970.
    func seconds(_ name: String, _ bytes: borrowing Span<UInt8>) throws(RecipientKeyError) -> UInt64? {
        guard let node = index.member(name, of: object, in: bytes) else { return nil }
        guard let seconds = index.integer(node, in: bytes) else { throw .malformedMember(name) }
        return seconds
    }

    /// A base64url value, of exactly `count` bytes where given.
    func octets(
        _ name: String, count: Int? = nil, _ bytes: borrowing Span<UInt8>
    ) throws(RecipientKeyError) -> [UInt8] {
        guard let octets = Base64URL.decode(try requiredText(name, bytes).utf8) else { throw .notBase64URL(name) }
        if let count, octets.count != count { throw .wrongLength(name, bytes: octets.count, expected: count) }
        return octets
    }

    /// Where the text of a secret member stands, for a decoder that leaves no copy.
    private func secretRange(_ name: String, _ bytes: borrowing Span<UInt8>) throws(RecipientKeyError) -> Range<Int> {
        guard let node = index.member(name, of: object, in: bytes) else { throw .missingMember(name) }
        guard node.kind == .string else { throw .malformedMember(name) }
        return node.value
    }

    /// A secret base64url value, decoded straight into locked memory.
    func secretOctets(_ name: String, _ bytes: borrowing Span<UInt8>) throws(RecipientKeyError) -> SecretBytes {
        let range = try secretRange(name, bytes)
        return try SecretBytes(capacity: range.count) { (writer) throws(RecipientKeyError) in
            var decoder = Base64URLDecoder()
            for offset in range {
                guard decoder.accept(bytes[offset]) else { throw .malformedMember(name) }
                if let byte = decoder.next() { writer.append(byte) }
            }
            guard decoder.isComplete else { throw .malformedMember(name) }
        }
    }
}
