// SPDX-License-Identifier: Apache-2.0
/// Terminal action analysis of kernel 2 (C-2 TAA): unlike the generic one it also rules on missing issuer codes by the
/// TVR itself.
enum Kernel2TAA {
    static func decide(_ tvr: TVR, _ codes: ActionCodes, _ type: TerminalType) -> ApplicationCryptogram {
        if !tvr.isDisjoint(with: codes.terminalDenial) { return .aac }
        if let denial = codes.issuerDenial, !tvr.isDisjoint(with: denial) { return .aac }
        switch type.rawValue {
        case 0x11, 0x21, 0x14, 0x24, 0x34:
            return .arqc
        case 0x23, 0x26, 0x36, 0x13, 0x16:
            return isClean(tvr, codes.terminalDefault, codes.issuerDefault) ? .tc : .aac
        case _:
            return isClean(tvr, codes.terminalOnline, codes.issuerOnline) ? .tc : .arqc
        }
    }

    private static func isClean(_ tvr: TVR, _ terminal: TVR, _ issuer: TVR?) -> Bool {
        guard let issuer else { return tvr.isEmpty }
        return tvr.isDisjoint(with: terminal.union(issuer))
    }
}
