// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Crypto

extension CommonKernelApplication {
    /// DF name: not registered, after the RID that the test certificates name.
    public static let name: [UInt8] = ECCTestKeys.rid + [0x43, 0x38, 0x01, 0x01]

    /// PDOL: Kernel Key Data and Kernel Qualifier.
    private static let pdol: [UInt8] = .hex("9E409F2B08")
    /// CDOL1: what the cryptogram is taken over, and Terminal Risk Management Data.
    static let cdolList: [UInt8] = .hex("9F02069F03069F1A0295055F2A029A039C019F37049F1D08")

    /// An application personalised for kernel 8.
    public static func personalised(
        _ card: CardPersonalisation = .commonKernel, disposition: CardDisposition = .offlineWherePossible,
        options: CommonKernelOptions = CommonKernelOptions()
    ) -> CommonKernelApplication {
        // Local authentication; offline-capable, IAD-MAC at the reader's default offset, relay resistance.
        let profile: [UInt8] = [options.authenticatesLocally ? 0x01 : 0x00, 0x0B]
        var files = ApplicationFiles(
            name: name,
            proprietary: [
                (0x50, Array("TEST C-8".utf8)), (0x87, [0x01]), (0x9F38, pdol), (0x5F2D, Array("en".utf8)),
                (0x9F2C, [0x02, 0x00, 0xFF, 0xFF, 0x00, 0x00, 0x00]),
            ])
        let account = ApplicationFiles.encoded(account(card))
        // The Extended SDA Tag List in the account adds the DF name.
        let extended = ApplicationFiles.encoded([(0x84, name)])
        let staticDataHash = Array(SHA256.hash(data: account + extended + profile))
        var contents: [ApplicationFiles.RecordName: [UInt8]] = [.init(2, 1): account]
        var locator: [UInt8] = .hex("10010101")
        if options.authenticatesLocally, let issuer = ECCCertificate.issuer,
            let own = ECCCertificate.card(staticDataHash: staticDataHash)
        {
            files.setRecord(.init(1, 1), [(0x8F, [ECCTestKeys.caIndex]), (0x90, issuer)])
            contents[.init(1, 2)] = ApplicationFiles.encoded([(0x9F46, own)])
            locator = .hex("08010200") + locator
        }
        if !options.encryptsRecords {
            for (name, content) in contents {
                var writer = TLVWriter()
                writer.append(0x70, content)
                files.records[name] = writer.bytes
            }
            contents = [:]
        }
        return CommonKernelApplication(
            files: files, encrypted: contents, interchangeProfile: profile, locator: locator, cdol: cdolList,
            staticDataHash: staticDataHash, card: card, disposition: disposition, options: options)
    }

    private static func account(_ card: CardPersonalisation) -> [CardObject] {
        [
            (0x5A, card.panField), (0x57, card.track2), (0x5F24, card.expiry), (0x5F25, card.effective),
            (0x5F34, [card.sequence]), (0x5F28, card.country), (0x9F07, [0xFF, 0xC0]),
            (0x9F810A, [0x84]),
        ]
    }
}

extension CardPersonalisation {
    /// 9 and country code 999: nobody's number.
    public static let commonKernel = CardPersonalisation(pan: "9999990000000014")
}
