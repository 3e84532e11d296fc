// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension GenerateACApplication {
    /// CDOL1 (8C): amounts, country, TVR, currency, date, type, UN, terminal type, DAC, ICC number, CVM results.
    static let cdol: [UInt8] = .hex("9F02069F03069F1A0295055F2A029A039C019F37049F35019F45029F4C089F34039F21039F7C14")

    /// Cardholder verification method list (8E): online PIN, then signature, then none, each where the terminal has it.
    static let verificationMethods: [UInt8] = .hex("000000000000000042031E031F03")

    /// The same behind method 01, which stands for the device in kernel 4.
    static let deviceVerificationMethods: [UInt8] = .hex("0000000000000000410342031E031F03")

    /// An application personalised for the kernel of its PAN's issuer.
    ///
    /// - Parameters:
    ///   - signsCombined: with certificates for CDA.
    ///   - verifiesCardholder: a phone that verifies its holder itself.
    ///   - isMobile: a device of kernel 4; verification by it comes first in the list.
    ///   - applicationVersion: 9F08.
    ///   - pdol: 9F38; `nil` for an application without.
    public static func personalised(
        _ card: CardPersonalisation, name: [UInt8] = [0xA0, 0x00, 0x00, 0x00, 0x04, 0x10, 0x10],
        label: String = "TEST MASTERCARD", disposition: CardDisposition = .offlineWherePossible,
        signsCombined: Bool = true, verifiesCardholder: Bool = false, isMobile: Bool = false,
        applicationVersion: [UInt8] = [0x00, 0x02], pdol: [UInt8]? = nil, cdol: [UInt8]? = nil
    ) -> GenerateACApplication {
        var files = ApplicationFiles(
            name: name,
            proprietary: [
                (0x50, Array(label.utf8)), (0x87, [0x01]), (0x5F2D, Array("deen".utf8)), (0x9F11, [0x01]),
                (0x9F12, Array(label.utf8)),
            ])
        if let pdol { files.proprietary.insert((0x9F38, pdol), at: 2) }
        let cdol = cdol ?? GenerateACApplication.cdol
        // Cardholder verification and terminal risk management; on-device verification; CDA; EMV mode.
        let profile: [UInt8] = [
            0x18 | (verifiesCardholder ? 0x02 : 0) | (signsCombined ? 0x01 : 0), isMobile ? 0xC0 : 0x80,
        ]
        let methods = isMobile ? deviceVerificationMethods : verificationMethods
        let signed = account(card, methods, signsCombined: signsCombined)
        files.setRecord(.init(2, 1), signed)
        files.setRecord(
            .init(2, 2),
            [
                (0x8C, cdol), (0x8D, .hex("910A8A0295059F37049F4C08")), (0x57, card.track2),
                (0x5F20, card.nameField), (0x9F08, applicationVersion), (0x9F42, [0x09, 0x78]),
            ])
        var locator: [UInt8] = .hex("10010201")
        if signsCombined,
            addCertificates(card, over: ApplicationFiles.encoded(signed) + profile, &files)
        {
            locator += .hex("1801020020010100")
        }
        return GenerateACApplication(
            interchangeProfile: profile, locator: locator, cdol: (try? DOL(cdol)) ?? DOL(entries: []),
            disposition: disposition,
            secrets: CardSecrets(
                card, version: TestIssuerIdentity.issuer(of: card.pan)?.version ?? .mastercard20,
                key: signsCombined ? TestPrivateKeys.mastercardICC : nil),
            files: files)
    }

    /// The record that offline authentication covers.
    private static func account(
        _ card: CardPersonalisation, _ methods: [UInt8], signsCombined: Bool
    ) -> [CardObject] {
        let objects: [CardObject] = [
            (0x5A, card.panField), (0x5F24, card.expiry), (0x5F25, card.effective), (0x5F34, [card.sequence]),
            (0x5F28, card.country), (0x9F07, [0xFF, 0xC0]), (0x8E, methods),
            (0x9F0D, .hex("F45084800C")), (0x9F0E, .hex("0000000000")), (0x9F0F, .hex("F45084800C")),
        ]
        return signsCombined ? objects + [(0x9F4A, [0x82])] : objects
    }

    private static func addCertificates(
        _ card: CardPersonalisation, over staticData: [UInt8], _ files: inout ApplicationFiles
    ) -> Bool {
        guard let identity = TestIssuerIdentity.issuer(of: card.pan), let issuer = identity.certificate(),
            let key = TestPrivateKeys.mastercardICC,
            let icc = identity.certificate(
                over: key, pan: card.pan, staticData: staticData, expiry: card.certificateExpiry)
        else { return false }
        // A certificate of 248 bytes fills a record by itself.
        files.setRecord(.init(3, 1), [(0x90, issuer.certificate)])
        var issuerObjects: [CardObject] = [(0x8F, [card.caIndex]), (0x9F32, issuer.exponent)]
        if !issuer.remainder.isEmpty { issuerObjects.append((0x92, issuer.remainder)) }
        files.setRecord(.init(3, 2), issuerObjects)
        var cardObjects: [CardObject] = [(0x9F46, icc.certificate), (0x9F47, icc.exponent)]
        if !icc.remainder.isEmpty { cardObjects.append((0x9F48, icc.remainder)) }
        files.setRecord(.init(4, 1), cardObjects)
        return true
    }
}
