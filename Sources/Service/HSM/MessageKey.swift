// SPDX-License-Identifier: Apache-2.0
import CPKCS11
import CardBytes
import Envelope

/// A key of the token by which messages between this machine and another one are authenticated.
public enum MessageKey: Hashable, Sendable {
    /// AES of this label: CMAC (NIST SP 800-38B), 16 bytes.
    case cmac(label: String)
    /// DES with two keys of this label: the retail MAC, 8 bytes (ISO 9797-1 algorithm 3, padding method 1; ANSI X9.19). A second key has `-left` behind the
    /// label: the left one of the two, three times, as DES with three keys.
    case retail(label: String)
    /// AES for CMAC, as the other side has wrapped it (RFC 3394) by the AES key of this label. It is unwrapped in the token.
    case wrapped([UInt8], under: String)
    /// Two keys of DES for the retail MAC, as the other side has wrapped them (RFC 3394) by the AES key of this label: K1 K2 and behind it K1 K1, or K1 K2 K1 and
    /// K1 K1 K1. They are unwrapped in the token.
    case wrappedRetail([UInt8], under: String)

    /// What the token has to have for it.
    public var tokenKeys: [TokenKey] {
        switch self {
        case .cmac(let label), .wrapped(_, let label), .wrappedRetail(_, let label):
            [TokenKey(label: label, kind: .secret)]
        case .retail(let label):
            [TokenKey(label: label, kind: .des), TokenKey(label: label + "-left", kind: .des)]
        }
    }

    /// What a key's check value is the code of, as its first three bytes: a block of zeros (ANSI X9.24-1:2017, A.3, for AES by CMAC; for DES the block
    /// encrypted).
    public var checked: [UInt8] {
        switch self {
        case .cmac, .wrapped: [UInt8](repeating: 0, count: 16)
        case .retail, .wrappedRetail: [UInt8](repeating: 0, count: 8)
        }
    }
}

extension LiveSession {
    mutating func code(of message: [UInt8], with key: MessageKey) throws(TokenFailure) -> [UInt8] {
        switch key {
        case .cmac(let label):
            return try cmac(message, label, try self.key(TokenKey(label: label, kind: .secret)).object)
        case .wrapped(let wrapped, let label):
            // 16, 24 or 32 bytes of a key, and 8 by which it is known to be whole.
            guard [24, 32, 40].contains(wrapped.count) else { throw .error(.envelope(.malformedToken)) }
            return try cmac(message, label, try unwrapped(wrapped, CKK_AES, label))
        case .wrappedRetail(let wrapped, let label):
            // 16 or 24 bytes of each, and 8.
            guard [48, 64].contains(wrapped.count) else { throw .error(.envelope(.malformedToken)) }
            let type = wrapped.count == 48 ? CKK_DES2 : CKK_DES3
            let whole = try unwrapped(Array(wrapped.prefix(wrapped.count / 2)), type, label)
            let left = try unwrapped(Array(wrapped.suffix(wrapped.count / 2)), type, label)
            return try retail(message, whole: (label, whole), left: (label, left))
        case .retail(let label):
            let (whole, left) = (TokenKey(label: label, kind: .des), TokenKey(label: label + "-left", kind: .des))
            return try retail(
                message, whole: (whole.label, try self.key(whole).object), left: (left.label, try self.key(left).object)
            )
        }
    }

    private func cmac(_ message: [UInt8], _ label: String, _ object: CK_OBJECT_HANDLE) throws(TokenFailure) -> [UInt8] {
        let code = try call(.sign, of: label) { (calls) throws(TokenCode) in
            try calls.sign(SecretBytes(message), mechanism: CKM_AES_CMAC, key: object)
        }
        guard code.count == 16 else { throw .error(.unfitKey(label, .otherKind)) }
        return code
    }

    /// All blocks but the last one by the left key, chained; the last one by both. Three times the same key is DES with one, which tokens have no more.
    private func retail(
        _ message: [UInt8], whole: (label: String, object: CK_OBJECT_HANDLE),
        left: (label: String, object: CK_OBJECT_HANDLE)
    ) throws(TokenFailure) -> [UInt8] {
        let blocks = message + [UInt8](repeating: 0, count: (8 - message.count % 8) % 8)
        guard blocks.count >= 8 else { throw .error(.envelope(.malformedToken)) }
        var last = Array(blocks.suffix(8))
        if blocks.count > 8 {
            let chained = try call(.encrypt, of: left.label) { (calls) throws(TokenCode) in
                try calls.encrypt(Array(blocks.dropLast(8)), mechanism: CKM_DES3_CBC, key: left.object)
            }
            for (index, byte) in chained.suffix(8).enumerated() { last[index] ^= byte }
        }
        let code = try call(.encrypt, of: whole.label) { (calls) throws(TokenCode) in
            try calls.encrypt(last, mechanism: CKM_DES3_ECB, key: whole.object)
        }
        guard code.count == 8 else { throw .error(.unfitKey(whole.label, .otherKind)) }
        return code
    }

    /// The few that are in use at a time: the one of now, the one before it, and for the retail MAC the left one of each.
    private static let mostUnwrapped = 8

    private mutating func unwrapped(
        _ wrapped: [UInt8], _ type: Int, _ label: String
    ) throws(TokenFailure) -> CK_OBJECT_HANDLE {
        let zone = try self.key(TokenKey(label: label, kind: .secret)).object
        let key = UnwrappedKey(wrapped: wrapped, type: type, zone: label)
        if let known = unwrapped.first(where: { $0.key == key }) { return known.object }
        let object: CK_OBJECT_HANDLE
        do throws(TokenCode) { object = try calls.unwrap(wrapped, type, by: zone) } catch {
            guard !error.isOfUse else { throw .error(.unfitKey(label, .forbidden(.unwrap))) }
            // SoftHSM 2.6.1 calls a wrong wrapping a general error.
            guard error.loss == nil || [CKR_GENERAL_ERROR, CKR_FUNCTION_FAILED].contains(Int(error.number)) else {
                throw .code(error)
            }
            throw .error(.envelope(.notAuthentic))
        }
        unwrapped.append((key, object))
        if unwrapped.count > Self.mostUnwrapped { calls.destroy(unwrapped.removeFirst().object) }
        return object
    }
}
