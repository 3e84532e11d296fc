// SPDX-License-Identifier: Apache-2.0
/// Terminal action analysis of kernel 5 (K5-3; EMV Book 3 §10.7): a terminal that is always online follows the online
/// codes as well, and gets there by the floor limit bit.
enum Kernel5TAA {
    /// - Parameter isRefund: refunds ask for an AAC.
    static func decide(_ tvr: TVR, _ codes: ActionCodes, _ type: TerminalType, isRefund: Bool) -> ApplicationCryptogram
    {
        let all = TVR(rawValue: .max)
        if isRefund || !tvr.isDisjoint(with: codes.terminalDenial.union(codes.issuerDenial ?? [])) { return .aac }
        if type.isOfflineOnly {
            return tvr.isDisjoint(with: codes.terminalDefault.union(codes.issuerDefault ?? all)) ? .tc : .aac
        }
        return tvr.isDisjoint(with: codes.terminalOnline.union(codes.issuerOnline ?? all)) ? .tc : .arqc
    }
}
