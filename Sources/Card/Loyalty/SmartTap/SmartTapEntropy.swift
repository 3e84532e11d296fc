// SPDX-License-Identifier: Apache-2.0
internal import CardBytes
internal import Crypto

/// What is fresh in one Smart Tap session on the terminal's side.
public struct SmartTapSessionSecrets: Sendable {
    public let ephemeralKey: P256PrivateKey
    /// 32 bytes.
    public let readerNonce: [UInt8]
    /// 8 bytes.
    public let sessionID: [UInt8]

    /// - Returns: `nil` where nonce or session id have another length.
    public init?(ephemeralKey: P256PrivateKey, readerNonce: [UInt8], sessionID: [UInt8]) {
        guard readerNonce.count == 32, sessionID.count == 8 else { return nil }
        self.ephemeralKey = ephemeralKey
        self.readerNonce = readerNonce
        self.sessionID = sessionID
    }
}

/// Where the fresh values of a session come from: the system's generator, or a recording that is replayed.
public struct SmartTapEntropy: Sendable {
    /// Fresh values for one session; `nil` where there are none (left).
    public let next: @Sendable () -> SmartTapSessionSecrets?

    public init(next: @escaping @Sendable () -> SmartTapSessionSecrets?) { self.next = next }

    /// From the kernel's random number generator.
    public static let system = SmartTapEntropy {
        var generator = SystemRandomNumberGenerator()
        func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) } }
        let scalar = P256.KeyAgreement.PrivateKey(compactRepresentable: false).rawRepresentation
        let secret = SecretBytes(capacity: 32) { $0.append(contentsOf: scalar) }
        guard let key = try? P256PrivateKey(secret) else { return nil }
        return SmartTapSessionSecrets(ephemeralKey: key, readerNonce: bytes(32), sessionID: bytes(8))
    }

    /// The same in every session, for replaying a transcript. Never for a real phone.
    public static func fixed(_ secrets: SmartTapSessionSecrets) -> SmartTapEntropy {
        SmartTapEntropy { secrets }
    }
}
