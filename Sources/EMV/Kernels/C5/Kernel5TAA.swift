/// Terminal action analysis of kernel 5 (C-5): a terminal that is always online follows the online codes as well, and
/// gets there by the floor limit bit.
enum Kernel5TAA {
    /// - Parameter isRefund: refunds ask for an AAC.
    static func decide(_ tvr: TVR, _ codes: ActionCodes, _ type: TerminalType, isRefund: Bool) -> CryptogramType {
        let all = TVR(rawValue: .max)
        if isRefund || !tvr.isDisjoint(with: codes.terminalDenial.union(codes.issuerDenial ?? [])) { return .aac }
        if type.isOfflineOnly {
            return tvr.isDisjoint(with: codes.terminalDefault.union(codes.issuerDefault ?? all)) ? .tc : .aac
        }
        return tvr.isDisjoint(with: codes.terminalOnline.union(codes.issuerOnline ?? all)) ? .tc : .arqc
    }
}
