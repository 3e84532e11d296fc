// SPDX-License-Identifier: Apache-2.0
public import POSAPI
public import PaymentValues

/// What the schemes want on a receipt of a chip card: account type, application, AID, approval code, response code,
/// cryptogram, TVR, TSI and cardholder verification, and beside them what a dispute asks for. Hexadecimal as on the card.
public struct EMVBlock: Codable, Equatable, Sendable {
    /// 5F57: nothing here lets a customer choose an account, so it is always `default` (00).
    public var accountType = "default"
    public var application: String?
    public var aid: String?
    public var approvalCode: String?
    /// Authorisation Response Code (8A): the issuer's, or Y1 and Z1 for an approval and a decline by the card itself (EMV
    /// Book 4 §A6).
    public var responseCode: String?
    /// 9F26, and its type by 9F27: `TC`, `ARQC` or `AAC`.
    public var cryptogram: String?
    public var cryptogramType: String?
    public var tvr: String?
    /// Missing if the kernel leaves it out.
    public var tsi: String?
    public var verification: ChipData.Verification
    public var entryMode: EntryMode
    /// Application Transaction Counter (9F36).
    public var counter: String?
    /// PAN Sequence Number (5F34).
    public var sequenceNumber: String?

    init(_ chip: ChipData, _ result: PaymentResult?) {
        application = chip.application
        aid = chip.aid
        approvalCode = result?.approvalCode
        responseCode = result?.responseCode
        if responseCode == nil, result?.reason == .cardDeclined || result?.reason == .notAcceptedHere {
            responseCode = "Z1"
        }
        if responseCode == nil, chip.isOffline { responseCode = "Y1" }
        cryptogram = chip.cryptogram
        cryptogramType = chip.cryptogramInformation.flatMap(EMVBlock.type)
        tvr = chip.tvr
        tsi = chip.tsi
        verification = chip.verification
        entryMode = chip.entryMode
        counter = chip.counter
        sequenceNumber = chip.sequenceNumber
    }

    /// By bits 8 and 7 of the Cryptogram Information Data (EMV Book 3 table 15).
    private static func type(of information: String) -> String? {
        guard let value = UInt8(information, radix: 16) else { return nil }
        return ["AAC", "TC", "ARQC"].indices.contains(Int(value >> 6)) ? ["AAC", "TC", "ARQC"][Int(value >> 6)] : nil
    }
}
