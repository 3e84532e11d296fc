// SPDX-License-Identifier: Apache-2.0
/// What a kernel 8 card may have or leave out.
public struct CommonKernelOptions: Sendable {
    /// Certificates, and local authentication in the AIP.
    public var authenticatesLocally = true
    /// A phone that verifies its holder itself.
    public var verifiesCardholder = false
    /// The account and the card's certificate come encrypted.
    public var encryptsRecords = true
    /// Restart Indicator (9F8108) in the answer to GENERATE AC.
    public var restartIndicator: [UInt8]?
    /// Card TVR (9F8104), five bytes.
    public var cardTVR: [UInt8]?
    /// Value of the data envelope 9F8111.
    public var envelope: [UInt8] = Array("TEST ENVELOPE".utf8)

    public init() {}
}
