// SPDX-License-Identifier: Apache-2.0
public import CardBytes
internal import Crypto

/// What both sides agree on in NEGOTIATE, and the keys that follow from it.
public struct SmartTapHandshake: Sendable {
    public let secrets: SmartTapSessionSecrets
    /// 4 bytes.
    public let collectorID: [UInt8]
    public let keyVersion: UInt32
    /// 32 bytes.
    public let deviceNonce: [UInt8]
    public let authentication: SmartTapTerminal.Authentication

    public init(
        secrets: SmartTapSessionSecrets, collectorID: [UInt8], keyVersion: UInt32, deviceNonce: [UInt8],
        authentication: SmartTapTerminal.Authentication = .live
    ) {
        self.secrets = secrets
        self.collectorID = collectorID
        self.keyVersion = keyVersion
        self.deviceNonce = deviceNonce
        self.authentication = authentication
    }

    public var readerNonce: [UInt8] { secrets.readerNonce }
    /// Compressed, 33 bytes.
    public var readerEphemeralKey: [UInt8] { secrets.ephemeralKey.compressedPublicKey }

    /// What the collector's key signs, 101 bytes: reader nonce, device nonce (zeros in its place where the signature
    /// is made beforehand), collector id, reader's ephemeral key.
    public var signedData: [UInt8] {
        switch authentication {
        case .live: transcript(nonce: deviceNonce)
        case .preSigned: transcript(nonce: [UInt8](repeating: 0, count: 32))
        }
    }

    /// The session's keys; `nil` where `devicePoint` (33 bytes as received) is no point of the curve.
    ///
    /// - Parameter signature: the bytes that were sent, without their format byte.
    public func keys(devicePoint: [UInt8], signature: [UInt8]) -> SmartTapSessionKeys? {
        guard let secret = secrets.ephemeralKey.sharedSecret(withCompressed: devicePoint) else { return nil }
        // With a signature made beforehand, whether zeros or the phone's nonce stand here is unverified.
        let material = secret.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: devicePoint, sharedInfo: transcript(nonce: deviceNonce) + signature,
            outputByteCount: 48)
        return SmartTapSessionKeys(material: material)
    }

    private func transcript(nonce: [UInt8]) -> [UInt8] { readerNonce + nonce + collectorID + readerEphemeralKey }
}

/// The keys of one session: 16 bytes for AES-128-CTR, 32 for HMAC-SHA-256.
///
/// Each `unsafe` hands over bytes for the length of a closure, whose number was checked, so that no copy has to be wiped.
public struct SmartTapSessionKeys: Sendable {
    let encryption: SymmetricKey
    let authentication: SymmetricKey

    /// From the 48 bytes of key material; `nil` for another length.
    public init?(material: SecretBytes) {
        guard material.count == 48 else { return nil }
        unsafe self.init(material: material.withUnsafeBytes { unsafe SymmetricKey(data: UnsafeRawBufferPointer($0)) })
    }

    init?(material: SymmetricKey) {
        guard material.bitCount == 384 else { return nil }
        (encryption, authentication) = unsafe material.withUnsafeBytes { bytes in
            unsafe (
                SymmetricKey(data: UnsafeRawBufferPointer(rebasing: bytes[0..<16])),
                SymmetricKey(data: UnsafeRawBufferPointer(rebasing: bytes[16..<48]))
            )
        }
    }
}

extension SmartTapSessionKeys: CustomStringConvertible, CustomReflectable {
    public var description: String { "<Smart Tap session keys>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
