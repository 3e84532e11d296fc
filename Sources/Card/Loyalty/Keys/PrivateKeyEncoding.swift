// SPDX-License-Identifier: Apache-2.0
internal import CardBytes

/// Finds the scalar in an encoded EC private key without leaving copies of it outside `SecretBytes`.
enum PrivateKeyEncoding {
    static func scalar(_ encoded: SecretBytes) throws(P256PrivateKeyError) -> SecretBytes {
        if encoded.withSpan({ isPEM($0) }) { return try scalar(der: decodePEM(encoded)) }
        return encoded.count == 32 ? encoded : try scalar(der: encoded)
    }

    private static func isPEM(_ bytes: borrowing Span<UInt8>) -> Bool {
        guard bytes.count >= 5 else { return false }
        for index in 0..<5 where bytes[index] != UInt8(ascii: "-") { return false }
        return true
    }

    /// SEC 1 (RFC 5915) or PKCS #8 (RFC 5208) around it.
    private static func scalar(der: SecretBytes) throws(P256PrivateKeyError) -> SecretBytes {
        let range = try der.withSpan { (bytes) throws(P256PrivateKeyError) in try scalarRange(bytes) }
        return der.withSpan { bytes in
            SecretBytes(capacity: 32) { writer in
                for index in range { writer.append(bytes[index]) }
            }
        }
    }

    private static func scalarRange(_ bytes: borrowing Span<UInt8>) throws(P256PrivateKeyError) -> Range<Int> {
        let outer = try members(bytes, in: 0..<bytes.count)
        guard outer.count >= 3, outer[0].tag == 0x02, outer[0].value.count == 1 else { throw .notAKey }
        if bytes[outer[0].value.lowerBound] == 1 { return try sec1Scalar(bytes, outer) }
        guard outer[1].tag == 0x30, outer[2].tag == 0x04 else { throw .notAKey }
        guard isP256(bytes, outer[1].value) else { throw .wrongCurve }
        return try sec1Scalar(bytes, members(bytes, in: outer[2].value))
    }

    private static func sec1Scalar(
        _ bytes: borrowing Span<UInt8>, _ members: [TLVNode]
    ) throws(P256PrivateKeyError) -> Range<Int> {
        guard members.count >= 2, members[1].tag == 0x04 else { throw .notAKey }
        if let parameters = members.first(where: { $0.tag == 0xA0 }), !isP256(bytes, parameters.value) {
            throw .wrongCurve
        }
        guard members[1].value.count == 32 else { throw .wrongCurve }
        return members[1].value
    }

    /// The members of the one SEQUENCE in `range`.
    private static func members(
        _ bytes: borrowing Span<UInt8>, in range: Range<Int>
    ) throws(P256PrivateKeyError) -> [TLVNode] {
        var nodes: [TLVNode] = []
        do throws(TLVError) {
            try TLV.walk(bytes, in: range) { node in
                if node.depth <= 1 { nodes.append(node) }
                return true
            }
        } catch {
            throw .notAKey
        }
        guard let sequence = nodes.first, sequence.tag == 0x30, sequence.start == range.lowerBound else {
            throw .notAKey
        }
        return nodes.filter { $0.depth == 1 && $0.start < sequence.end }
    }

    /// Whether the object identifier of P-256 (1.2.840.10045.3.1.7) stands in `range`.
    private static func isP256(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) -> Bool {
        let identifier: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        guard range.count >= identifier.count else { return false }
        for start in range.lowerBound...(range.upperBound - identifier.count) {
            var matches = true
            for index in identifier.indices where bytes[start + index] != identifier[index] { matches = false }
            if matches { return true }
        }
        return false
    }

    /// The Base64 (RFC 4648 §4) between the first pair of `-----` lines (RFC 7468).
    private static func decodePEM(_ text: SecretBytes) throws(P256PrivateKeyError) -> SecretBytes {
        try text.withSpan { (bytes) throws(P256PrivateKeyError) -> SecretBytes in
            var decoder = PEMDecoder()
            return try SecretBytes(capacity: bytes.count) { (writer: inout SecretWriter) throws(P256PrivateKeyError) in
                for index in bytes.indices {
                    guard let decoded = try decoder.take(bytes[index]) else { continue }
                    writer.append(decoded)
                }
                guard decoder.isComplete else { throw .notAKey }
            }
        }
    }
}

/// One pass over the characters of a PEM file.
private struct PEMDecoder {
    private enum Part { case before, begin, body, end }

    private var part = Part.before
    private var bits: UInt32 = 0
    private var bitCount: UInt32 = 0
    private var atLineStart = true

    var isComplete: Bool { part == .end }

    /// - Returns: the byte that `character` completes.
    mutating func take(_ character: UInt8) throws(P256PrivateKeyError) -> UInt8? {
        let isLineEnd = character == 0x0A || character == 0x0D
        defer { atLineStart = isLineEnd }
        switch part {
        case .before:
            if atLineStart, character == UInt8(ascii: "-") { part = .begin }
        case .begin:
            if isLineEnd { part = .body }
        case .body:
            if character == UInt8(ascii: "-"), atLineStart {
                part = .end
            } else if !isLineEnd, character != UInt8(ascii: "="), character != 0x20 {
                return try bits(of: character)
            }
        case .end:
            break
        }
        return nil
    }

    private mutating func bits(of character: UInt8) throws(P256PrivateKeyError) -> UInt8? {
        let value: UInt8
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): value = character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): value = character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): value = 62
        case UInt8(ascii: "/"): value = 63
        default: throw .notAKey
        }
        bits = bits << 6 | UInt32(value)
        bitCount += 6
        guard bitCount >= 8 else { return nil }
        bitCount -= 8
        return UInt8(truncatingIfNeeded: bits >> bitCount)
    }
}
