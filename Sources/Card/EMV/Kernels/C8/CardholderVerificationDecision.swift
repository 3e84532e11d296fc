// SPDX-License-Identifier: Apache-2.0
/// What a kernel 8 card decided about cardholder verification (9F8102), and what it comes to (C-8 29.25 to 29.42).
struct CardholderVerificationDecision: Equatable {
    /// `nil` for N/A.
    let cvm: Outcome.CVM?
    /// 9F34.
    let results: [UInt8]
    let tvr: TVR

    private static let failed = CardholderVerificationDecision(
        cvm: nil, results: [0x3F, 0x00, 0x01], tvr: .cardholderVerificationFailed)

    private init(cvm: Outcome.CVM?, results: [UInt8], tvr: TVR = []) {
        self.cvm = cvm
        self.results = results
        self.tvr = tvr
    }

    /// - Parameters:
    ///   - decision: value of 9F8102; 0F says that there is nothing to verify.
    ///   - allowed: Terminal Risk Management Data (9F1D) byte 1. A method that it does not name has failed.
    init(_ decision: UInt8, allowed: UInt8) {
        switch decision {
        case 0x00 where allowed & 0x08 != 0: self.init(cvm: .noCVM, results: [0x1F, 0x00, 0x02])
        case 0x01 where allowed & 0x20 != 0: self.init(cvm: .obtainSignature, results: [0x1E, 0x00, 0x00])
        case 0x02 where allowed & 0x40 != 0:
            self.init(cvm: .onlinePIN, results: [0x02, 0x00, 0x00], tvr: .onlinePINEntered)
        case 0x03 where allowed & 0x04 != 0:
            self.init(cvm: .confirmationCodeVerified, results: [0x01, 0x00, 0x02])
        case 0x0F: self.init(cvm: nil, results: [0x3F, 0x00, 0x00])
        case _: self = .failed
        }
    }
}
