// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMVCrypto

/// Discover's D-PAS application as kernel 6 meets it: the cryptogram comes with GET PROCESSING OPTIONS, an approval with
/// a CDA signature over that answer.
struct DiscoverApplication: PaymentApplication {
    private(set) var files: ApplicationFiles
    private let card: CardPersonalisation
    private let disposition: CardDisposition
    /// A device that has verified its holder.
    private let isDevice: Bool
    private let secrets: CardSecrets
    private var counter = TransactionCounter()
    private var isOpen = false

    private static let interchangeProfile: [UInt8] = [0x01, 0x00]
    private static let locator: [UInt8] = .hex("08010101 10010200")
    private static let pdol: [UInt8] = .hex("9F66049F02069F03069F1A0295055F2A029A039C019F3704")

    init(
        _ card: CardPersonalisation, name: [UInt8] = .hex("A0000001523010"), label: String = "TEST DISCOVER",
        disposition: CardDisposition = .offlineWherePossible, isDevice: Bool = false
    ) {
        self.card = card
        self.disposition = disposition
        self.isDevice = isDevice
        files = ApplicationFiles(
            name: name,
            proprietary: [(0x50, Array(label.utf8)), (0x87, [0x01]), (0x9F38, DiscoverApplication.pdol)])
        let identity = TestIssuerIdentity.issuer(of: card.pan)
        secrets = CardSecrets(
            card, version: identity?.version ?? .mastercard20, key: TestPrivateKeys.mastercardICC)
        let account: [CardObject] = [
            (0x5A, card.panField), (0x5F24, card.expiry), (0x5F25, card.effective), (0x5F34, [card.sequence]),
            (0x5F28, card.country), (0x9F07, [0xFF, 0xC0]), (0x9F4A, [0x82]),
        ]
        files.setRecord(.init(1, 1), account)
        let staticData = ApplicationFiles.encoded(account) + DiscoverApplication.interchangeProfile
        guard let identity, let issuer = identity.certificate(), let key = secrets.key,
            let icc = identity.certificate(over: key, pan: card.pan, staticData: staticData)
        else { return }
        files.setRecord(
            .init(2, 1),
            [
                (0x8F, [card.caIndex]), (0x90, issuer.certificate), (0x92, issuer.remainder),
                (0x9F32, issuer.exponent),
            ])
        files.setRecord(
            .init(2, 2), [(0x9F46, icc.certificate), (0x9F47, icc.exponent), (0x9F48, icc.remainder)])
    }

    mutating func restart() { isOpen = false }

    mutating func answer(_ command: CommandAPDU) -> ResponseAPDU {
        switch (command.cla, command.ins) {
        case (0x80, 0xA8):
            switch files.processingOptions(command) {
            case .success(let data): process(data)
            case .failure(let refusal): ResponseAPDU(status: refusal.status)
            }
        case (0x00, 0xB2): files.refusal(ofRecord: command)
        case (0x80, 0xCA): answer(getData: command, from: [(0x9F36, counter.bytes)])
        default: refusal(of: command)
        }
    }

    private mutating func process(_ terminal: TransactionData) -> ResponseAPDU {
        guard !isOpen, let qualifiers = terminal[0x9F66], qualifiers.count == 4, qualifiers[0] & 0x20 != 0,
            counter.advance()
        else { return ResponseAPDU(status: .conditionsNotSatisfied) }
        isOpen = true
        let type = type(qualifiers)
        var data = terminal
        data.set(0x82, DiscoverApplication.interchangeProfile)
        data.set(0x9F36, counter.bytes)
        // Key index, version, eight bytes of card verification results; bit 2 of their second byte: device verified.
        let issuerData =
            [0x01, secrets.version.rawValue, type.verificationResult, isDevice ? 0x02 : 0x00]
            + [UInt8](repeating: 0, count: 6)
        data.set(0x9F10, issuerData)
        guard let cryptogram = secrets.cryptogram(data), let number = data[0x9F37] else {
            return ResponseAPDU(status: .conditionsNotSatisfied)
        }
        var objects: [CardObject] = [
            (0x82, DiscoverApplication.interchangeProfile), (0x94, DiscoverApplication.locator),
            (0x57, card.track2), (0x9F36, counter.bytes), (0x9F27, [type.rawValue]), (0x9F10, issuerData),
            (0x9F71, requirements(qualifiers)),
        ]
        guard type == .approved else { return template77(objects + [(0x9F26, cryptogram)]) }
        let hashed = sha1(terminal.received + ApplicationFiles.encoded(objects))
        let dynamicData = [0x08] + secrets.varying(counter, count: 8) + [type.rawValue] + cryptogram + hashed
        guard let signature = secrets.dynamicSignature(dynamicData, followedBy: number) else {
            return ResponseAPDU(status: .conditionsNotSatisfied)
        }
        objects.append((0x9F4B, signature))
        return template77(objects)
    }

    private func type(_ qualifiers: [UInt8]) -> CryptogramType {
        switch disposition {
        case .alwaysDeclines: .declined
        case .alwaysOnline: .online
        case .offlineWherePossible: qualifiers[1] & (isDevice ? 0x80 : 0xC0) == 0 ? .approved : .online
        }
    }

    /// Card Processing Requirements (9F71): byte 1 bit 8 online PIN, bit 7 signature.
    private func requirements(_ qualifiers: [UInt8]) -> [UInt8] {
        guard qualifiers[1] & 0x40 != 0, !isDevice else { return [0x00, 0x00] }
        if qualifiers[0] & 0x04 != 0 { return [0x80, 0x00] }
        return [qualifiers[0] & 0x02 != 0 ? 0x40 : 0x00, 0x00]
    }
}
