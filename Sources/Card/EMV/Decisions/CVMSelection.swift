// SPDX-License-Identifier: Apache-2.0
/// What cardholder verification came to: CVM Results (9F34), the outcome's CVM and TVR bits.
public struct CVMSelection: Equatable, Sendable {
    public var cvm: Outcome.CVM
    /// 9F34: CVM code as the card's list has it, with bit 7 (EMV Book 4 Annex A4), condition, result (00 unknown, 01
    /// failed, 02 successful).
    public var results: [UInt8]
    public var tvr: TVR
    /// A signature has to be obtained.
    public var receipt: Bool

    public init(cvm: Outcome.CVM, results: [UInt8], tvr: TVR = [], receipt: Bool = false) {
        self.cvm = cvm
        self.results = results
        self.tvr = tvr
        self.receipt = receipt
    }

    /// No verification is to be made: 3F 00 00.
    public static let notPerformed = CVMSelection(cvm: .noCVM, results: [0x3F, 0x00, 0x00])
    /// No rule led to a method: 3F 00 01.
    public static let failed = CVMSelection(
        cvm: .noCVM, results: [0x3F, 0x00, 0x01], tvr: .cardholderVerificationFailed)

    /// Walks a CVM list (C-2 CVM.9 to CVM.25; EMV Book 3 §10.5).
    public static func walk(_ list: CVMList, _ conditions: CVMConditions) -> CVMSelection {
        var tvr: TVR = []
        for (position, rule) in list.rules.enumerated() {
            guard conditions.hold(for: rule, in: list) else { continue }
            if let method = CVMMethod(rawValue: rule.method) {
                if method != .fail, conditions.supports(method), let done = successful(method, rule, tvr) {
                    return done
                }
            } else {
                tvr.insert(.unrecognisedCVM)
            }
            // CVM.19 to CVM.21: the last rule has none to go on with.
            if rule.appliesSucceeding, position + 1 < list.rules.count { continue }
            var result = CVMSelection.failed
            if rule.method == CVMMethod.fail.rawValue { result.results = [rule.code, rule.condition, 0x01] }
            result.tvr.formUnion(tvr)
            return result
        }
        var result = CVMSelection.failed
        result.tvr.formUnion(tvr)
        return result
    }

    private static func successful(_ method: CVMMethod, _ rule: CVMList.Rule, _ tvr: TVR) -> CVMSelection? {
        switch method {
        case .onlinePIN:
            CVMSelection(
                cvm: .onlinePIN, results: [rule.code, rule.condition, 0x00], tvr: tvr.union(.onlinePINEntered))
        case .signature:
            CVMSelection(cvm: .obtainSignature, results: [rule.code, rule.condition, 0x00], tvr: tvr, receipt: true)
        case .noCVM:
            CVMSelection(cvm: .noCVM, results: [rule.code, rule.condition, 0x02], tvr: tvr)
        case .fail, .plaintextPIN, .plaintextPINAndSignature, .encipheredPIN, .encipheredPINAndSignature:
            nil
        }
    }
}
