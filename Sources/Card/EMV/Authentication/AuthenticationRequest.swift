// SPDX-License-Identifier: Apache-2.0
/// Everything offline data authentication needs, as the card sent it (EMV Book 2 §5 and §6).
public struct AuthenticationRequest: Sendable {
    public enum Method: Sendable {
        /// Signed Static Application Data (93).
        case sda
        /// DDA and fDDA: `signature` is 9F4B; `terminalDynamicData` is what the hash takes in after the recovered part.
        case dda(terminalDynamicData: [UInt8])
        /// CDA: `transactionData` is what the transaction data hash is made of (PDOL values, CDOL values, the answer's
        /// objects without 9F4B); `cryptogramInformation` is 9F27 as sent in the clear.
        case cda(unpredictableNumber: [UInt8], transactionData: [UInt8], cryptogramInformation: UInt8)
    }

    public var method: Method
    /// First five bytes of the AID.
    public var rid: [UInt8]
    /// 8F.
    public var caIndex: UInt8
    /// 90.
    public var issuerCertificate: [UInt8]
    /// 9F32.
    public var issuerExponent: [UInt8]
    /// 92; empty where the card has none.
    public var issuerRemainder: [UInt8]
    /// 9F46; empty for SDA.
    public var iccCertificate: [UInt8]
    /// 9F47; empty for SDA.
    public var iccExponent: [UInt8]
    /// 9F48; empty where the card has none.
    public var iccRemainder: [UInt8]
    /// 93 or 9F4B.
    public var signature: [UInt8]
    /// 5A as received (cn with filler F).
    public var pan: [UInt8]
    /// Records in ODA order, with the AIP appended where 9F4A asks for it (EMV Book 3 §10.3).
    public var staticData: [UInt8]
    /// The terminal's date, against which certificates expire.
    public var date: EMVDate

    public init(
        method: Method, rid: [UInt8], caIndex: UInt8, issuerCertificate: [UInt8], issuerExponent: [UInt8],
        issuerRemainder: [UInt8], iccCertificate: [UInt8], iccExponent: [UInt8], iccRemainder: [UInt8],
        signature: [UInt8], pan: [UInt8], staticData: [UInt8], date: EMVDate
    ) {
        self.method = method
        self.rid = rid
        self.caIndex = caIndex
        self.issuerCertificate = issuerCertificate
        self.issuerExponent = issuerExponent
        self.issuerRemainder = issuerRemainder
        self.iccCertificate = iccCertificate
        self.iccExponent = iccExponent
        self.iccRemainder = iccRemainder
        self.signature = signature
        self.pan = pan
        self.staticData = staticData
        self.date = date
    }
}

extension AuthenticationRequest: CustomStringConvertible, CustomReflectable {
    public var description: String { "offline authentication with CA index \(caIndex)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
