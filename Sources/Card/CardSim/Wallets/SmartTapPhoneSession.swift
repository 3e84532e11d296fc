// SPDX-License-Identifier: Apache-2.0
internal import CardBytes
internal import Crypto

/// The phone's side of a secure session.
struct SmartTapPhoneSession: Sendable {
    let id: [UInt8]
    /// Of the answer sent last.
    var sequence: UInt8
    let encryption: CounterMode
    let authentication: SymmetricKey

    func record(status: UInt8 = 0x01) -> [UInt8] { id + [sequence, status] }
}

extension SmartTapPhone {
    /// Checks the collector's signature and answers with an ephemeral key.
    mutating func negotiate(_ data: [UInt8], deviceNonce: [UInt8]) -> ResponseAPDU {
        if transientLeft > 0 {
            transientLeft -= 1
            return ResponseAPDU(status: 0x9201)
        }
        guard let request = SmartTapProof(data) else { return ResponseAPDU(status: 0x9402) }
        let collector = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: collectorID >> ($0 as UInt32)) }
        guard request.collectorID == collector else { return ResponseAPDU(status: 0x9407) }
        let signed = request.isLive ? deviceNonce : [UInt8](repeating: 0, count: 32)
        guard let key = collectorKeys[request.keyVersion],
            request.isSigned(by: key, transcript: request.transcript(deviceNonce: signed))
        else { return ResponseAPDU(status: 0x9500) }
        guard let ephemeral else { return ResponseAPDU(status: 0x9402) }
        let point = Array(ephemeral.publicKey.compressedRepresentation)
        guard
            let opened = request.session(
                with: ephemeral, point: point, transcript: request.transcript(deviceNonce: deviceNonce))
        else { return ResponseAPDU(status: 0x9403) }
        session = opened
        let status: UInt8 = oddity == .badSessionStatus ? 0x05 : 0x01
        let answer = WalletNDEF.message([
            WalletNDEF.record(
                "nrs",
                WalletNDEF.message([
                    WalletNDEF.record("ses", opened.record(status: status)), WalletNDEF.record("dpk", point),
                ]))
        ])
        return ResponseAPDU(data: answer, status: request.isLive ? 0x9000 : 0x9002)
    }

    /// The passes of the kinds asked for and the customer record, compressed where the terminal can take it.
    mutating func getData(_ data: [UInt8]) -> ResponseAPDU {
        guard var open = session else { return ResponseAPDU(status: 0x9402) }
        if case .locked = oddity { return ResponseAPDU(status: 0x9300) }
        if oddity == .choiceShown { return ResponseAPDU(status: 0x9302) }
        guard let outer = WalletNDEF.records(data)?.first, outer.name == "srq", outer.payload.count > 2,
            let records = WalletNDEF.records(outer.payload.dropFirst(2)),
            let request = records.first(where: { $0.name == "ses" })?.payload, request.count == 10,
            Array(request[0..<8]) == open.id
        else { return ResponseAPDU(status: 0x9402) }
        open.sequence = request[8] &+ 1
        session = open
        let capabilities = records.first { $0.name == "pcr" }?.payload.first ?? 0
        let services = records.first { $0.name == "slr" }.flatMap { WalletNDEF.records($0.payload) } ?? []
        let wanted = passes.filter { pass in
            services.contains { SmartTapPhone.service($0.payload.first ?? 0, includes: pass.kind) }
        }
        let objects = WalletNDEF.message(wanted.map(\.record) + (hasCustomerRecord ? [SmartTapPass.customer] : []))
        let bundle = seal(objects, in: open, compressed: capabilities & 0x40 != 0)
        let answer = WalletNDEF.message([
            WalletNDEF.record(
                "srs",
                WalletNDEF.message([WalletNDEF.record("ses", open.record()), WalletNDEF.record("reb", bundle)]))
        ])
        let group: UInt16 = oddity == .notReadyForPayment ? 0x9101 : 0x9000
        return ResponseAPDU(data: answer, status: StatusWord(group + (wanted.isEmpty ? 1 : 0)))
    }

    private static func service(_ code: UInt8, includes kind: String) -> Bool {
        switch code {
        case 0x00, 0x01: true
        case 0x03: kind == "ly"
        case 0x04: kind == "of"
        case 0x05: kind == "gc"
        case 0x06: kind == "pl"
        case 0x07: kind == "et"
        case 0x08: kind == "fl"
        case 0x09: kind == "tr"
        case 0x12: kind == "gr"
        case 0x13: kind == "gp"
        default: false
        }
    }

    private mutating func seal(
        _ objects: [UInt8], in session: SmartTapPhoneSession, compressed: Bool
    ) -> [UInt8] {
        let flag: UInt8 = compressed ? 0x02 : 0x00
        let body = compressed ? StoredZlib.stream(objects) : objects
        if oddity == .plaintext { return [flag] + body }
        let nonce = random.bytes(12)
        let ciphertext = nonce + session.encryption.apply(to: body, nonce: nonce)
        var code = Array(HMAC<SHA256>.authenticationCode(for: ciphertext, using: session.authentication))
        if oddity == .wrongAuthenticationCode { code[31] ^= 0x01 }
        return [flag | 0x01] + ciphertext + code
    }
}

/// What NEGOTIATE brings.
private struct SmartTapProof {
    let sessionID: [UInt8]
    let sequence: UInt8
    let readerNonce: [UInt8]
    let isLive: Bool
    let readerKey: [UInt8]
    let keyVersion: UInt32
    let signature: [UInt8]
    let collectorID: [UInt8]

    init?(_ data: [UInt8]) {
        guard let outer = WalletNDEF.records(data)?.first, outer.name == "ngr", outer.payload.count > 2,
            Array(outer.payload[0..<2]) == [0x00, 0x01], let records = WalletNDEF.records(outer.payload.dropFirst(2)),
            let session = records.first(where: { $0.name == "ses" })?.payload, session.count == 10,
            let proof = records.first(where: { $0.name == "cpr" })?.payload, proof.count > 70,
            let nested = WalletNDEF.records(proof.dropFirst(70)),
            let signature = nested.first(where: { $0.name == "sig" })?.payload,
            let collector = nested.first(where: { $0.name == "cld" })?.payload
        else { return nil }
        sessionID = Array(session[0..<8])
        sequence = session[8]
        readerNonce = Array(proof[0..<32])
        isLive = proof[32] & 0x01 != 0
        readerKey = Array(proof[33..<66])
        keyVersion = proof[66..<70].reduce(0) { $0 << 8 | UInt32($1) }
        self.signature = Array(signature.dropFirst())
        collectorID = Array(collector.dropFirst())
    }

    func transcript(deviceNonce: [UInt8]) -> [UInt8] { readerNonce + deviceNonce + collectorID + readerKey }

    func isSigned(by key: [UInt8], transcript: [UInt8]) -> Bool {
        guard let key = try? P256.Signing.PublicKey(compressedRepresentation: key),
            let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: SHA256.hash(data: transcript))
    }

    func session(
        with ephemeral: P256.KeyAgreement.PrivateKey, point: [UInt8], transcript: [UInt8]
    ) -> SmartTapPhoneSession? {
        guard let reader = try? P256.KeyAgreement.PublicKey(compressedRepresentation: readerKey),
            let secret = try? ephemeral.sharedSecretFromKeyAgreement(with: reader)
        else { return nil }
        let material = secret.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: point, sharedInfo: transcript + signature, outputByteCount: 48)
        let bytes = unsafe material.withUnsafeBytes { unsafe Array($0) }
        return SmartTapPhoneSession(
            id: sessionID, sequence: sequence &+ 1, encryption: CounterMode(key: Array(bytes[0..<16])),
            authentication: SymmetricKey(data: Array(bytes[16..<48])))
    }
}
