// SPDX-License-Identifier: Apache-2.0
/// What a card has to prove its key with (EMV Contactless Book E §5 and §7.3).
public struct LocalAuthenticationRequest: Sendable {
    /// First five bytes of the DF name (84).
    public var rid: [UInt8]
    /// 8F.
    public var caIndex: UInt8
    /// 90: issuer certificate, format 12.
    public var issuerCertificate: [UInt8]
    /// 9F46: ICC certificate, format 14.
    public var iccCertificate: [UInt8]
    /// 5A as received, format cn.
    public var pan: [UInt8]
    /// SHA-256 over the static data to be authenticated, 32 bytes.
    public var staticDataHash: [UInt8]
    /// x-coordinate of the blinded card key, 32 bytes.
    public var blindedKey: [UInt8]
    /// The decrypted blinding factor, 32 bytes.
    public var blindingFactor: [UInt8]
    public var date: EMVDate
    /// Certificates name UTC; the terminal's own time is taken for it.
    public var time: EMVTime

    public init(
        rid: [UInt8], caIndex: UInt8, issuerCertificate: [UInt8], iccCertificate: [UInt8], pan: [UInt8],
        staticDataHash: [UInt8], blindedKey: [UInt8], blindingFactor: [UInt8], date: EMVDate, time: EMVTime
    ) {
        self.rid = rid
        self.caIndex = caIndex
        self.issuerCertificate = issuerCertificate
        self.iccCertificate = iccCertificate
        self.pan = pan
        self.staticDataHash = staticDataHash
        self.blindedKey = blindedKey
        self.blindingFactor = blindingFactor
        self.date = date
        self.time = time
    }
}

extension LocalAuthenticationRequest: CustomStringConvertible, CustomReflectable {
    public var description: String { "local authentication request" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
