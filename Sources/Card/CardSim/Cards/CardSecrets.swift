// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMVCrypto

/// What only the card and its issuer know, and how the card uses it. TEST secrets throughout.
struct CardSecrets: Sendable {
    let pan: [UInt8]
    let version: CryptogramVersion
    /// `nil` for a card without dynamic signatures.
    let key: RSAPrivateKey?
    private let master: TripleDES?

    init(_ card: CardPersonalisation, version: CryptogramVersion, key: RSAPrivateKey? = nil) {
        pan = card.pan
        self.version = version
        self.key = key
        master = TestIssuerIdentity.issuer(of: card.pan)?.cardKey(pan: card.pan, sequence: card.sequence)
    }

    /// 9F26; `nil` where the DOL of the card does not ask for all that the cryptogram needs.
    func cryptogram(_ data: TransactionData) -> [UInt8]? {
        guard let master else { return nil }
        return try? version.cryptogram(master) { data[$0] }
    }

    /// The issuer's cryptogram over an answer, by the card's own key (`TestIssuer.authenticationData`).
    func responseCryptogram(request: [UInt8], responseCode: [UInt8]) -> [UInt8]? {
        master.map { $0.responseCryptogram(request: request, responseCode: responseCode) }
    }

    /// Signed Dynamic Application Data (EMV Book 2 §6.5.1): 9F4B.
    func dynamicSignature(_ dynamicData: [UInt8], followedBy terminalData: [UInt8]) -> [UInt8]? {
        guard let key else { return nil }
        return SignedFrame.signature(
            [0x05, 0x01, UInt8(truncatingIfNeeded: dynamicData.count)] + dynamicData, followedBy: terminalData,
            with: key)
    }

    /// Up to 20 bytes that change with every transaction. Derived from the counter, so that a run can be repeated;
    /// a real card takes random ones.
    func varying(_ counter: TransactionCounter, count: Int) -> [UInt8] {
        Array(sha1(pan, counter.bytes).prefix(count))
    }
}
