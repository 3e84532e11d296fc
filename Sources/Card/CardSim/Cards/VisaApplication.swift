// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Visa's contactless application as kernel 3 meets it (qVSDC): the cryptogram comes with GET PROCESSING OPTIONS.
/// UnionPay's (qUICS, kernel 7) has the same shape and is played by it too.
public struct VisaApplication: PaymentApplication {
    /// Version of fast dynamic data authentication (first byte of 9F69), which decides what the signature's hash takes
    /// in. That a card of version 00 has 9F69 at all is unverified.
    public enum FastDDA: UInt8, Sendable {
        /// The unpredictable number only.
        case version00 = 0x00
        /// Unpredictable number, amount, currency and 9F69 (EMV Book C-3, fDDA 01).
        case version01 = 0x01
    }

    public internal(set) var files: ApplicationFiles
    private let card: CardPersonalisation
    var options: VisaOptions
    private let secrets: CardSecrets
    private var counter = TransactionCounter()
    /// Card Authentication Related Data (9F69) of this transaction.
    private var authenticationRelatedData: [UInt8] = []
    private var isOpen = false
    /// The cryptogram that waits for the issuer's answer, over presentations; one try at it.
    private var openRequest: [UInt8]?
    /// The issuer has proved itself since this application was selected.
    private var isIssuerAuthentic = false

    init(_ card: CardPersonalisation, _ options: VisaOptions, secrets: CardSecrets, files: ApplicationFiles) {
        self.card = card
        self.options = options
        self.secrets = secrets
        self.files = files
    }

    public mutating func restart() {
        isOpen = false
        isIssuerAuthentic = false
        authenticationRelatedData = []
    }

    public mutating func answer(_ command: CommandAPDU) -> ResponseAPDU {
        switch (command.cla, command.ins) {
        case (0x80, 0xA8):
            switch files.processingOptions(command) {
            case .success(let data): process(data)
            case .failure(let refusal): ResponseAPDU(status: refusal.status)
            }
        case (0x00, 0xB2): record(command)
        case (0x80, 0xCA): answer(getData: command, from: [(0x9F36, counter.bytes), (0x9F17, [0x03])])
        case (0x00, 0x82) where options.takesIssuerUpdate: externalAuthenticate(command)
        // What a script says is the issuer's own; this card takes any command of it, once the issuer has proved itself.
        case (0x84, _) where options.takesIssuerUpdate:
            ResponseAPDU(status: isIssuerAuthentic ? .success : .conditionsNotSatisfied)
        default: refusal(of: command)
        }
    }

    /// EXTERNAL AUTHENTICATE (EMV Book 3 §6.5.4) with the issuer's cryptogram by method 1 and its response code.
    private mutating func externalAuthenticate(_ command: CommandAPDU) -> ResponseAPDU {
        guard let request = openRequest, command.data.count == 10 else {
            return ResponseAPDU(status: .conditionsNotSatisfied)
        }
        openRequest = nil
        let expected = secrets.responseCryptogram(request: request, responseCode: Array(command.data.suffix(2)))
        isIssuerAuthentic = expected == Array(command.data.prefix(8))
        // 6300: the issuer has not proved itself.
        return ResponseAPDU(status: isIssuerAuthentic ? .success : 0x6300)
    }

    private mutating func process(_ terminal: TransactionData) -> ResponseAPDU {
        guard !isOpen, let qualifiers = terminal[0x9F66], qualifiers.count == 4, qualifiers[0] & 0x20 != 0,
            counter.advance()
        else { return ResponseAPDU(status: .conditionsNotSatisfied) }
        isOpen = true
        let type = disposition(qualifiers)
        let transactionQualifiers = cardQualifiers(qualifiers)
        var data = terminal
        data.set(0x82, options.interchangeProfile)
        data.set(0x9F36, counter.bytes)
        data.set(0x9F10, [0x06, 0x01, secrets.version.rawValue, 0x03, type.verificationResult, 0x00, 0x00])
        guard let cryptogram = secrets.cryptogram(data) else {
            return ResponseAPDU(status: .conditionsNotSatisfied)
        }

        if options.takesIssuerUpdate, type == .online { openRequest = cryptogram }

        var objects: [CardObject] = [(0x82, options.interchangeProfile)]
        let signs = options.fastDDA != nil && (type == .approved || qualifiers[0] & 0x01 != 0)
        if !options.locator.isEmpty { objects.append((0x94, signs ? options.locator : options.shortLocator)) }
        objects += [
            (0x57, card.track2), (0x9F10, data[0x9F10] ?? []), (0x9F26, cryptogram),
            (0x9F27, [type.rawValue]), (0x9F36, counter.bytes), (0x9F6C, transactionQualifiers),
        ]
        // A terminal refuses an object that comes twice: what a record holds is not repeated here.
        if options.locator.isEmpty { objects += [(0x5F34, [card.sequence]), (0x5F20, card.nameField)] }
        if let formFactor = options.formFactor { objects.append((0x9F6E, formFactor)) }
        if signs {
            guard let signature = signature(data, transactionQualifiers) else {
                return ResponseAPDU(status: .conditionsNotSatisfied)
            }
            objects.append((0x9F4B, signature))
        }
        return template77(objects)
    }

    /// TTQ byte 2: bit 8 asks for an online cryptogram, bit 7 for cardholder verification; a card that cannot verify
    /// approves nothing offline then.
    private func disposition(_ qualifiers: [UInt8]) -> CryptogramType {
        switch options.disposition {
        case .alwaysDeclines: .declined
        case .alwaysOnline: .online
        case .offlineWherePossible: options.fastDDA != nil && qualifiers[1] & 0xC0 == 0 ? .approved : .online
        }
    }

    /// Card Transaction Qualifiers (9F6C): what this card asks for when the reader requires cardholder verification.
    private func cardQualifiers(_ qualifiers: [UInt8]) -> [UInt8] {
        let wishes = verificationWishes(qualifiers)
        return options.takesIssuerUpdate ? [wishes[0], wishes[1] | 0x40] : wishes
    }

    private func verificationWishes(_ qualifiers: [UInt8]) -> [UInt8] {
        // Byte 1 bit 6: go online if offline authentication fails.
        let base: UInt8 = options.fastDDA == nil ? 0x00 : 0x20
        if options.verifiesCardholder { return [base, qualifiers[2] & 0x40 != 0 ? 0x80 : 0x00] }
        guard qualifiers[1] & 0x40 != 0 else { return [base, 0x00] }
        if qualifiers[0] & 0x04 != 0 { return [base | 0x80, 0x00] }
        return [qualifiers[0] & 0x02 != 0 ? base | 0x40 : base, 0x00]
    }

    private mutating func signature(_ data: TransactionData, _ transactionQualifiers: [UInt8]) -> [UInt8]? {
        guard let number = data[0x9F37], let amount = data[0x9F02], let currency = data[0x5F2A],
            let version = options.fastDDA
        else { return nil }
        authenticationRelatedData =
            [version.rawValue] + secrets.varying(counter, count: 4) + transactionQualifiers
            + options.relatedDataTail
        let hashed =
            switch version {
            case .version00: number
            case .version01: number + amount + currency + authenticationRelatedData
            }
        return secrets.dynamicSignature([0x02] + counter.bytes, followedBy: hashed)
    }

    /// 9F69 is the last object of the last record that the locator names, and differs in every transaction.
    private func record(_ command: CommandAPDU) -> ResponseAPDU {
        guard let certificate = options.certificateRecord, !authenticationRelatedData.isEmpty,
            command.p1 == certificate.name.number, command.p2 == certificate.name.file << 3 | 0x04
        else { return files.refusal(ofRecord: command) }
        var writer = TLVWriter()
        writer.append(
            0x70, ApplicationFiles.encoded(certificate.objects + [(0x9F69, authenticationRelatedData)]))
        return ResponseAPDU(data: writer.bytes, status: .success)
    }
}
