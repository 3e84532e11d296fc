// SPDX-License-Identifier: Apache-2.0
public import CardBytes
internal import Crypto

/// A pass as an iPhone seals it for its merchant (tag 9F27): key id, ephemeral key, ciphertext, authentication tag.
public struct VASCryptogram: Equatable, Sendable {
    /// The shortest there can be, in bytes: an empty message.
    public static let minimumLength = 56

    /// As received, for whoever holds the key.
    public let bytes: [UInt8]

    /// - Returns: `nil` below 56 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count >= VASCryptogram.minimumLength else { return nil }
        self.bytes = bytes
    }

    /// Names the merchant key it is sealed to, 4 bytes.
    public var keyID: [UInt8] { Array(bytes[0..<4]) }
    /// X coordinate of the phone's ephemeral key, 32 bytes; its Y is not transmitted and not needed.
    public var ephemeralX: [UInt8] { Array(bytes[4..<36]) }
    /// Time and message, sealed with AES-256-GCM.
    public var ciphertext: [UInt8] { Array(bytes[36..<bytes.count - 16]) }
    /// 16 bytes.
    public var tag: [UInt8] { Array(bytes[(bytes.count - 16)...]) }

    /// Opens the pass with that one of `keys` whose id the cryptogram names.
    public func open(with keys: [VASKey], merchantID: [UInt8]) -> Result<OpenedVASPass, VASOpeningError> {
        let candidates = keys.filter { $0.keyID == keyID }
        guard !candidates.isEmpty else { return .failure(.unknownKey(keyID)) }
        return open(trying: candidates, merchantID: merchantID)
    }

    /// Opens the pass with any of `keys`, whatever key id it names.
    public func open(trying keys: [VASKey], merchantID: [UInt8]) -> Result<OpenedVASPass, VASOpeningError> {
        for key in keys {
            guard let secret = key.privateKey.sharedSecret(withX: ephemeralX) else { return .failure(.invalidPoint) }
            for scheme in VASScheme.allCases {
                guard let plaintext = scheme.open(self, secret: secret, merchantID: merchantID) else { continue }
                return OpenedVASPass(plaintext: plaintext).map { .success($0) } ?? .failure(.plaintextTooShort)
            }
        }
        return .failure(.notAuthentic)
    }
}

extension VASCryptogram: CustomStringConvertible, CustomReflectable {
    public var description: String { "<VAS cryptogram of \(bytes.count) bytes>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Why a cryptogram could not be opened.
public enum VASOpeningError: Error, Equatable, Sendable {
    /// None of the keys has the id that the cryptogram names.
    case unknownKey([UInt8])
    case invalidPoint
    case notAuthentic
    /// Authentic, but without room for the time.
    case plaintextTooShort

    public var defect: PassDefect {
        switch self {
        case .unknownKey(let keyID): .unknownKey(keyID)
        case .invalidPoint: .invalidPoint
        case .notAuthentic: .notAuthentic
        case .plaintextTooShort: .tooShort
        }
    }
}

/// What was in a pass.
public struct OpenedVASPass: Sendable {
    public let timestamp: PassTimestamp
    /// UTF-8, at most 64 bytes on iOS.
    public let message: SecretBytes

    init?(plaintext: SecretBytes) {
        guard plaintext.count >= 4 else { return nil }
        let seconds = plaintext.withSpan { bytes in
            UInt32(bytes[0]) << 24 | UInt32(bytes[1]) << 16 | UInt32(bytes[2]) << 8 | UInt32(bytes[3])
        }
        timestamp = PassTimestamp(secondsSince2001: seconds)
        message = plaintext.withSpan { bytes in
            SecretBytes(capacity: bytes.count) { writer in
                for index in 4..<bytes.count { writer.append(bytes[index]) }
            }
        }
    }
}
