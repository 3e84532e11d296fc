// SPDX-License-Identifier: Apache-2.0
/// Terminal action analysis of kernel 8 (C-8 TAA): the kernel's decision, as the cryptogram that stands for it. There
/// are no issuer action codes.
enum Kernel8TAA {
    /// - Parameter cardIsOnlineOnly: AIP byte 2 bit 4 is 0.
    static func decide(
        _ tvr: TVR, denial: TVR, online: TVR, _ type: TerminalType, cardIsOnlineOnly: Bool
    ) -> ApplicationCryptogram {
        if !tvr.isDisjoint(with: denial) { return .aac }
        switch type.rawValue {
        case 0x11, 0x21, 0x14, 0x24, 0x34: return .arqc
        case 0x13, 0x16, 0x23, 0x26, 0x36: return cardIsOnlineOnly ? .aac : .tc
        case _: return cardIsOnlineOnly || !tvr.isDisjoint(with: online) ? .arqc : .tc
        }
    }
}
