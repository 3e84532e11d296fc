// SPDX-License-Identifier: Apache-2.0
public import CardBytes
import EMVCrypto

/// An application that gives its cryptogram by GENERATE AC after its records were read, as kernels 2 (EMV mode), 4 and 5
/// meet it.
public struct GenerateACApplication: PaymentApplication {
    public internal(set) var files: ApplicationFiles
    /// 82.
    private let interchangeProfile: [UInt8]
    /// 94.
    var locator: [UInt8]
    /// 8C.
    private let cdol: DOL
    private let disposition: CardDisposition
    private let secrets: CardSecrets
    /// An object that a terminal must not leave zero (kernel 4: 9F6E).
    var demands: Tag?
    /// Whether 9F50 tells the cardholder verification, by what 9F53 asks for (kernel 5).
    var tellsVerification = false
    /// A device that verifies its holder: kernel 4 learns it from 9F71, kernel 5 from 9F50.
    var isDevice = false
    /// The holder was asked once and has answered the device by the next presentation.
    private var isHolderVerified = false
    private var counter = TransactionCounter()
    /// What the terminal said so far; `nil` before GET PROCESSING OPTIONS and after GENERATE AC.
    private var transaction: TransactionData?

    init(
        interchangeProfile: [UInt8], locator: [UInt8], cdol: DOL, disposition: CardDisposition, secrets: CardSecrets,
        files: ApplicationFiles
    ) {
        self.interchangeProfile = interchangeProfile
        self.locator = locator
        self.cdol = cdol
        self.disposition = disposition
        self.secrets = secrets
        self.files = files
    }

    public mutating func restart() { transaction = nil }

    public mutating func answer(_ command: CommandAPDU) -> ResponseAPDU {
        switch (command.cla, command.ins) {
        case (0x80, 0xA8):
            switch files.processingOptions(command) {
            case .success(let data): process(data)
            case .failure(let refusal): ResponseAPDU(status: refusal.status)
            }
        case (0x00, 0xB2): files.refusal(ofRecord: command)
        case (0x80, 0xAE): generateCryptogram(command)
        case (0x80, 0xCA): answer(getData: command, from: [(0x9F36, counter.bytes), (0x9F17, [0x03])])
        case (_, 0xAE): ResponseAPDU(status: .classNotSupported)
        default: refusal(of: command)
        }
    }

    private mutating func process(_ terminal: TransactionData) -> ResponseAPDU {
        if let demands, terminal[demands]?.contains(where: { $0 != 0 }) != true {
            return ResponseAPDU(status: .conditionsNotSatisfied)
        }
        guard transaction == nil, counter.advance() else {
            return ResponseAPDU(status: .conditionsNotSatisfied)
        }
        transaction = terminal
        let objects: [CardObject] = [(0x82, interchangeProfile), (0x94, locator)]
        return template77(isDevice && demands != nil ? objects + [(0x9F71, mobileResults(terminal))] : objects)
    }

    /// Mobile CVM Results (9F71) of kernel 4: method, condition, result (02 successful). 9F6E byte 3 bit 7 asks for one.
    private mutating func mobileResults(_ terminal: TransactionData) -> [UInt8] {
        guard let reader = terminal[0x9F6E], reader.count == 4, reader[2] & 0x40 != 0 else {
            return [0x3F, 0x00, 0x00]
        }
        defer { isHolderVerified = true }
        return isHolderVerified ? [0x01, 0x01, 0x02] : [0x3F, 0x01, 0x00]
    }

    /// GENERATE AC (EMV Book 3 §6.5.5). P1 bits 8 and 7 ask for a type, bit 5 for a CDA signature.
    private mutating func generateCryptogram(_ command: CommandAPDU) -> ResponseAPDU {
        guard var data = transaction else { return ResponseAPDU(status: .conditionsNotSatisfied) }
        guard let requested = CryptogramType(rawValue: command.p1 & 0xC0), command.p1 & 0x2F == 0, command.p2 == 0
        else { return ResponseAPDU(status: .incorrectParameters) }
        guard data.add(command.data, by: cdol) else { return ResponseAPDU(status: .wrongLength) }
        transaction = nil

        let type = answered(requested)
        data.set(0x82, interchangeProfile)
        data.set(0x9F36, counter.bytes)
        data.set(0x9F10, issuerData(type))
        guard let cryptogram = secrets.cryptogram(data) else {
            return ResponseAPDU(status: .conditionsNotSatisfied)
        }
        let head: [CardObject] = [(0x9F27, [type.rawValue]), (0x9F36, counter.bytes)]
        var tail: [CardObject] = [(0x9F10, data[0x9F10] ?? [])]
        if tellsVerification { tail.append((0x9F50, [verification(data)])) }
        guard command.p1 & 0x10 != 0, type != .declined, secrets.key != nil else {
            return template77(head + [(0x9F26, cryptogram)] + tail)
        }
        let hashed = data.received + ApplicationFiles.encoded(head + tail)
        guard let number = data[0x9F37], let signature = signature(type, cryptogram, number, hashed) else {
            return ResponseAPDU(status: .conditionsNotSatisfied)
        }
        return template77(head + [(0x9F4B, signature)] + tail)
    }

    /// A card may answer with less than it was asked for, never with more.
    private func answered(_ requested: CryptogramType) -> CryptogramType {
        switch disposition {
        case .alwaysDeclines: .declined
        case .alwaysOnline: requested == .declined ? .declined : .online
        case .offlineWherePossible: requested
        }
    }

    /// 9F10. Mastercard: key index, version, card verification results (6), data authentication code, plaintext
    /// counters (8). Others: length, key index, version, card verification results (4).
    private func issuerData(_ type: CryptogramType) -> [UInt8] {
        guard secrets.version == .mastercard20 else {
            return [0x06, 0x01, secrets.version.rawValue, 0x03, type.verificationResult, 0x00, 0x00]
        }
        return [0x01, secrets.version.rawValue, type.verificationResult, 0x00, 0x03, 0x22, 0x00, 0x00, 0x00, 0x00]
            + [UInt8](repeating: 0, count: 7) + [0xFF]
    }

    /// 9F50 of kernel 5: 30 device, 20 online PIN, 10 signature, 00 none; Terminal Interchange Profile (9F53) byte 1 bit 8
    /// asks for verification, bits 7, 6 and 5 say whether the reader takes a signature, an online PIN and a device's word.
    private func verification(_ data: TransactionData) -> UInt8 {
        guard let profile = data[0x9F53]?.first, profile & 0x80 != 0 else { return 0x00 }
        if isDevice, profile & 0x10 != 0 { return 0x30 }
        if profile & 0x20 != 0 { return 0x20 }
        return profile & 0x40 != 0 ? 0x10 : 0x00
    }

    /// CDA (EMV Book 2 §6.6.1): dynamic number, CID, cryptogram and the hash over all that was said.
    private func signature(
        _ type: CryptogramType, _ cryptogram: [UInt8], _ unpredictableNumber: [UInt8], _ hashed: [UInt8]
    ) -> [UInt8]? {
        let number = secrets.varying(counter, count: 8)
        return secrets.dynamicSignature(
            [0x08] + number + [type.rawValue] + cryptogram + sha1(hashed),
            followedBy: unpredictableNumber)
    }
}
