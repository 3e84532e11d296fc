// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension VisaApplication {
    /// What the card asks the terminal for (9F38).
    static let pdol: [UInt8] = .hex("9F66049F02069F03069F1A0295055F2A029A039C019F3704")

    /// An application personalised for kernel 3.
    ///
    /// - Parameters:
    ///   - name: DF name.
    ///   - label: 50 in ASCII.
    ///   - hasRecords: whether there are records beside the answer to GET PROCESSING OPTIONS.
    ///   - fastDDA: with certificates for offline authentication; implies records.
    ///   - verifiesCardholder: a phone that has verified its holder.
    ///   - version: of the cryptogram; `nil` for the one that Visa's cards of this kind have.
    ///   - further: objects that the signed record holds besides.
    static func personalised(
        _ card: CardPersonalisation, name: [UInt8] = [0xA0, 0x00, 0x00, 0x00, 0x03, 0x10, 0x10],
        label: String = "TEST VISA", disposition: CardDisposition = .alwaysOnline, hasRecords: Bool = false,
        fastDDA: FastDDA? = nil, verifiesCardholder: Bool = false, pdol: [UInt8]? = nil,
        version: CryptogramVersion? = nil, further: [CardObject] = []
    ) -> VisaApplication {
        var files = ApplicationFiles(
            name: name,
            proprietary: [
                (0x50, Array(label.utf8)), (0x87, [0x01]), (0x9F38, pdol ?? VisaApplication.pdol),
                (0x5F2D, Array("deen".utf8)), (0x9F11, [0x01]), (0x9F12, Array(label.utf8)),
            ])
        var options = VisaOptions()
        options.disposition = disposition
        options.formFactor = [verifiesCardholder ? 0x23 : 0x20, 0x70, 0x00, 0x00]
        options.verifiesCardholder = verifiesCardholder
        if hasRecords || fastDDA != nil {
            var account: [CardObject] = [
                (0x5A, card.panField), (0x5F24, card.expiry), (0x5F34, [card.sequence]), (0x5F28, card.country),
                (0x9F07, [0xFF, 0x80]),
            ]
            account += further
            files.setRecord(.init(3, 1), account)
            options.shortLocator = [0x18, 0x01, 0x01, 0x01]
            options.locator = options.shortLocator
            if let fastDDA { addCertificates(card, fastDDA, over: account, &files, &options) }
        }
        let usual: CryptogramVersion =
            switch fastDDA {
            case .version00: .visa17
            case .version01: .visa10
            case .none: .visa18
            }
        let secrets = CardSecrets(
            card, version: version ?? usual, key: fastDDA == nil ? nil : TestPrivateKeys.visaICC)
        return VisaApplication(card, options, secrets: secrets, files: files)
    }

    private static func addCertificates(
        _ card: CardPersonalisation, _ fastDDA: FastDDA, over account: [CardObject],
        _ files: inout ApplicationFiles, _ options: inout VisaOptions
    ) {
        guard let identity = TestIssuerIdentity.issuer(of: card.pan), let issuer = identity.certificate(),
            let key = TestPrivateKeys.visaICC,
            let icc = identity.certificate(
                over: key, pan: card.pan, staticData: ApplicationFiles.encoded(account),
                expiry: card.certificateExpiry)
        else { return }
        files.setRecord(
            .init(2, 1),
            [
                (0x8F, [card.caIndex]), (0x90, issuer.certificate), (0x92, issuer.remainder),
                (0x9F32, issuer.exponent),
            ])
        let objects: [CardObject] = [
            (0x9F46, icc.certificate), (0x9F47, icc.exponent), (0x9F48, icc.remainder),
        ]
        options.certificateRecord = (.init(2, 3), objects)
        options.fastDDA = fastDDA
        options.interchangeProfile = [0x20, 0x00]
        options.locator = .hex("180101011001010010030300")
    }
}
