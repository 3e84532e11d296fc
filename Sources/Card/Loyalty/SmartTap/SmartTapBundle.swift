// SPDX-License-Identifier: Apache-2.0
public import CardBytes
internal import Crypto
internal import CryptoExtras

/// The `reb` record: the passes as a phone sends them, usually encrypted and often compressed.
public struct SmartTapBundle: Equatable, Sendable {
    public struct Flags: OptionSet, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        public static let encrypted = Flags(rawValue: 0x01)
        public static let compressed = Flags(rawValue: 0x02)
    }

    /// Initialisation vector and authentication code, which frame the ciphertext.
    public static let minimumEncryptedLength = 44

    public let flags: Flags
    let body: [UInt8]

    /// - Parameter payload: of the record: one byte of flags, then the body.
    /// - Returns: `nil` for an empty payload, or an encrypted body below 44 bytes.
    public init?(payload: [UInt8]) {
        guard let first = payload.first else { return nil }
        flags = Flags(rawValue: first)
        body = Array(payload.dropFirst())
        guard !flags.contains(.encrypted) || body.count >= SmartTapBundle.minimumEncryptedLength else { return nil }
    }

    /// Checks, decrypts and decompresses; the result is an NDEF message of `asv` records.
    ///
    /// - Parameter keys: of the session; not used for a bundle in the clear.
    public func open(with keys: SmartTapSessionKeys) -> Result<SecretBytes, SmartTapBundleError> {
        let plaintext: SecretBytes
        if flags.contains(.encrypted) {
            guard let decrypted = decrypt(keys) else { return .failure(.notAuthentic) }
            plaintext = decrypted
        } else {
            plaintext = SecretBytes(body)
        }
        guard flags.contains(.compressed) else { return .success(plaintext) }
        do throws(InflateError) {
            return .success(try Inflate.zlib(plaintext, limit: SmartTap.maximumBundleLength))
        } catch .tooLarge {
            return .failure(.tooLarge)
        } catch {
            return .failure(.notCompressedProperly)
        }
    }

    /// The authentication code is checked, in constant time, before a byte is decrypted.
    private func decrypt(_ keys: SmartTapSessionKeys) -> SecretBytes? {
        let code = Array(body.suffix(32))
        let authenticated = Array(body.dropLast(32))
        guard
            HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: authenticated, using: keys.authentication)
        else { return nil }
        let ciphertext = Array(authenticated.dropFirst(12))
        return AESCounter(key: keys.encryption, nonce: Array(authenticated.prefix(12))).apply(to: ciphertext)
    }
}

/// AES in counter mode, block by block into locked memory: the library's own function returns ordinary memory.
private struct AESCounter {
    let key: SymmetricKey
    /// 12 bytes; the other four count from zero, big-endian.
    let nonce: [UInt8]

    func apply(to bytes: [UInt8]) -> SecretBytes? {
        var isComplete = true
        let result = SecretBytes(capacity: bytes.count) { writer in
            var block: UInt32 = 0
            for start in stride(from: 0, to: bytes.count, by: 16) {
                var stream = nonce + SmartTapCollector.bytes(block)
                do { try AES.permute(&stream, key: key) } catch { isComplete = false }
                for index in start..<min(start + 16, bytes.count) {
                    writer.append(bytes[index] ^ stream[index - start])
                }
                wipe(&stream)
                block &+= 1
            }
        }
        return isComplete ? result : nil
    }
}

/// Why a bundle was dropped.
public enum SmartTapBundleError: Error, Equatable, Sendable {
    /// The authentication code does not match; nothing was decrypted.
    case notAuthentic
    case tooLarge
    case notCompressedProperly

    public var defect: PassDefect {
        switch self {
        case .notAuthentic: .notAuthentic
        case .tooLarge: .tooLarge
        case .notCompressedProperly: .malformed
        }
    }
}

extension SmartTapBundle: CustomStringConvertible, CustomReflectable {
    public var description: String { "<Smart Tap bundle of \(body.count) bytes>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
