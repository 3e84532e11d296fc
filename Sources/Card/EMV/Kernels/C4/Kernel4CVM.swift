// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Cardholder verification of kernel 4 (K4-5): the list of EMV Book 3 §10.5, with method 01 for the consumer device.
struct Kernel4CVM {
    enum Result: Equatable {
        case selected(CVMSelection)
        /// The consumer device has not verified its holder yet.
        case seePhone
        /// No rule leads to a method; `CVMSelection.failed` with the bits found on the way.
        case impossible(CVMSelection)
    }

    let conditions: CVMConditions
    /// The reader (9F6E byte 2 bit 8) and the card (AIP byte 2 bit 7) know mobile CVM.
    let supportsMobileCVM: Bool
    /// Mobile CVM Results (9F71).
    let mobileResults: MobileCVMResults
    /// The holder was sent to the device once in this transaction.
    let isSecondTap: Bool

    /// Walks the list where a verification is required; a rule for "no CVM" is no help then.
    func walk(_ list: CVMList) -> Result {
        var tvr: TVR = []
        for rule in list.rules where holds(rule, in: list) {
            switch CVMMethod(rawValue: rule.method) {
            case .plaintextPIN where supportsMobileCVM:
                switch mobileResults {
                case .successful:
                    return .selected(
                        CVMSelection(
                            cvm: .confirmationCodeVerified, results: [rule.code, rule.condition, 0x02], tvr: tvr))
                case .notPerformed, .failed:
                    if !isSecondTap { return .seePhone }
                case .blocked: tvr.insert(.pinTryLimitExceeded)
                }
            case .onlinePIN where conditions.supports(.onlinePIN):
                return .selected(
                    CVMSelection(
                        cvm: .onlinePIN, results: [rule.code, rule.condition, 0x00],
                        tvr: tvr.union(.onlinePINEntered)))
            case .signature where conditions.supports(.signature):
                return .selected(
                    CVMSelection(
                        cvm: .obtainSignature, results: [rule.code, rule.condition, 0x00], tvr: tvr, receipt: true))
            case .fail, .plaintextPIN, .onlinePIN, .plaintextPINAndSignature, .encipheredPIN,
                .encipheredPINAndSignature, .signature, .noCVM:
                break
            case nil: tvr.insert(.unrecognisedCVM)
            }
            if !rule.appliesSucceeding { return .impossible(failed(rule, tvr)) }
        }
        return .impossible(failed(nil, tvr))
    }

    private func holds(_ rule: CVMList.Rule, in list: CVMList) -> Bool {
        if rule.method == CVMMethod.plaintextPIN.rawValue, rule.condition == 0x03 { return supportsMobileCVM }
        return conditions.hold(for: rule, in: list)
    }

    private func failed(_ rule: CVMList.Rule?, _ tvr: TVR) -> CVMSelection {
        var selection = CVMSelection.failed
        if let rule, rule.method == CVMMethod.fail.rawValue { selection.results = [rule.code, rule.condition, 0x01] }
        selection.tvr.formUnion(tvr)
        return selection
    }
}
