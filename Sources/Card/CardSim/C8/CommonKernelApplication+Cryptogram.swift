// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension CommonKernelApplication {
    /// GENERATE AC (C-8 §5.3). P1 bits 8 and 7 ask for a type, P2 bit 8 announces WRITE DATA.
    mutating func generateCryptogram(_ command: CommandAPDU) -> ResponseAPDU {
        guard var open = session, !open.isClosed else { return ResponseAPDU(status: .conditionsNotSatisfied) }
        guard let requested = CryptogramType(rawValue: command.p1), command.p2 & 0x7F == 0 else {
            return ResponseAPDU(status: .incorrectParameters)
        }
        guard open.terminal.add(command.data, by: cdol) else { return ResponseAPDU(status: .wrongLength) }
        open.isClosed = true
        open.expectsData = command.p2 & 0x80 != 0
        session = open

        let type = answered(requested)
        let verification = verificationDecision(open.terminal[0x9F1D] ?? [])
        var objects: [CardObject] = [
            (0x9F27, [type.rawValue]), (0x9F36, counter.bytes), (0x9F10, issuerData(type, mac: nil)),
            (0x9F8102, [verification]),
        ]
        if let indicator = options.restartIndicator { objects.append((0x9F8108, indicator)) }
        if let verificationResults = options.cardTVR { objects.append((0x9F8104, verificationResults)) }
        let iadMAC = open.channel.iadMAC(
            open.terminal.received + open.relayData + ApplicationFiles.encoded(objects) + staticDataHash)
        guard let cryptogram = cryptogram(open.terminal, type, verification, iadMAC) else {
            return ResponseAPDU(status: .conditionsNotSatisfied)
        }
        let edaMAC = open.channel.edaMAC(cryptogram: cryptogram, iadMAC: iadMAC)
        return template77(objects + [(0x9F26, cryptogram), (0x9F8105, edaMAC)])
    }

    private func answered(_ requested: CryptogramType) -> CryptogramType {
        switch disposition {
        case .alwaysDeclines: .declined
        case .alwaysOnline: requested == .declined ? .declined : .online
        case .offlineWherePossible: requested
        }
    }

    /// 9F8102 out of what 9F1D byte 1 allows; byte 2 bit 8 tells that a verification is required.
    private func verificationDecision(_ riskData: [UInt8]) -> UInt8 {
        guard riskData.count == 8 else { return 0x0F }
        let allowed = riskData[0]
        if options.verifiesCardholder, allowed & 0x04 != 0 { return 0x03 }
        guard riskData[1] & 0x80 != 0 else { return allowed & 0x08 != 0 ? 0x00 : 0x0F }
        if allowed & 0x40 != 0 { return 0x02 }
        return allowed & 0x20 != 0 ? 0x01 : 0xFF
    }

    /// 9F10: key index, cryptogram version, card verification results (6), zeros (16), IAD-MAC (8).
    private func issuerData(_ type: CryptogramType, mac: [UInt8]?) -> [UInt8] {
        [0x01, CommonKernelCryptogram.version, type.verificationResult, 0x00, 0x00, 0x00, 0x00, 0x00]
            + [UInt8](repeating: 0, count: 16) + (mac ?? [UInt8](repeating: 0, count: 8))
    }

    /// Over the TVR as the kernel will send it to the issuer: with the bit for online PIN, and with the card's own bits.
    private func cryptogram(
        _ terminal: TransactionData, _ type: CryptogramType, _ verification: UInt8, _ iadMAC: [UInt8]
    ) -> [UInt8]? {
        var data = terminal
        data.set(0x82, interchangeProfile)
        data.set(0x9F36, counter.bytes)
        data.set(0x9F10, issuerData(type, mac: iadMAC))
        if var results = data[0x95], results.count == 5 {
            if verification == 0x02 { results[2] |= 0x04 }
            if verification == 0xFF { results[2] |= 0x80 }
            data.set(0x95, results)
        }
        return try? CommonKernelCryptogram.cryptogram(pan: pan, sequence: sequence) { data[$0] }
    }

    /// READ DATA of a data envelope, named by its tag.
    mutating func readData(_ command: CommandAPDU) -> ResponseAPDU {
        guard session?.isClosed == false else { return ResponseAPDU(status: .conditionsNotSatisfied) }
        guard command.data.count == 3 else { return ResponseAPDU(status: .wrongLength) }
        let tag = Tag(command.data.reduce(0) { $0 << 8 | UInt32($1) })
        guard let value = envelopes[tag] else { return ResponseAPDU(status: .referencedDataNotFound) }
        let answer = session?.channel.answer(read: ApplicationFiles.encoded([(tag, value)])) ?? []
        return ResponseAPDU(data: answer, status: .success)
    }

    /// WRITE DATA of a data envelope. P2 bit 8 announces another one.
    mutating func writeData(_ command: CommandAPDU) -> ResponseAPDU {
        guard session?.expectsData == true, let object = session?.channel.decrypt(command.data) else {
            return ResponseAPDU(status: .conditionsNotSatisfied)
        }
        session?.expectsData = command.p2 & 0x80 != 0
        guard let node = try? TLV.children(object).first, (0x9F8111...0x9F811A).contains(node.tag.rawValue) else {
            return ResponseAPDU(status: .wrongParameters)
        }
        envelopes[node.tag] = Array(object[node.value])
        return ResponseAPDU(data: session?.channel.answer(written: object) ?? [], status: .success)
    }
}
