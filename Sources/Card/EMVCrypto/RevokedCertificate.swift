// SPDX-License-Identifier: Apache-2.0
/// An issuer certificate that must not be used any more (EMV Book 2 §5.3 step 10).
public struct RevokedCertificate: Hashable, Sendable {
    /// Five bytes.
    public let rid: [UInt8]
    public let caIndex: UInt8
    /// Serial number of the certificate, three bytes.
    public let serial: [UInt8]

    public init(rid: [UInt8], caIndex: UInt8, serial: [UInt8]) {
        self.rid = rid
        self.caIndex = caIndex
        self.serial = serial
    }
}
