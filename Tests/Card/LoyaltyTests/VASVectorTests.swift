// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Crypto
import Testing

@testable import Loyalty

@Suite struct `Apple VAS vectors` {
    @Test(arguments: try LoyaltyVector.all("vas.key"))
    func `a merchant key has the published public point, key id and merchant id`(_ vector: LoyaltyVector) throws {
        let key = VASKey(try vector.privateKey("privateKey"))
        #expect(key.privateKey.publicKey == (try vector.bytes("publicKeyUncompressed")))
        #expect(key.keyID == (try vector.bytes("keyId")))
        let merchant = try VASMerchant(passTypeIdentifier: vector.text("passTypeIdentifier"))
        #expect(merchant.merchantID == (try vector.bytes("merchantIdHash")))
        if vector.optionalText("encryptionPublicKeySPKI") != nil {
            #expect(key.privateKey.subjectPublicKeyInfo == (try vector.bytes("encryptionPublicKeySPKI")))
        }
    }

    @Test(arguments: try LoyaltyVector.all("vas.key").filter { $0.optionalText("sec1DER") != nil })
    func `a key reads the same from DER and PEM`(_ vector: LoyaltyVector) throws {
        let expected = try vector.bytes("publicKeyUncompressed")
        #expect(try vector.privateKey("sec1DER").publicKey == expected)
        let pem = SecretBytes(Array(try vector.text("pkcs8PEM").utf8))
        #expect(try P256PrivateKey(pem).publicKey == expected)
        let dos = try vector.text("pkcs8PEM").replacing("\n", with: "\r\n")
        #expect(try P256PrivateKey(SecretBytes(Array(dos.utf8))).publicKey == expected)
    }

    @Test(arguments: try LoyaltyVector.all("vas.merchantId"))
    func `the merchant id is the hash of the pass type identifier`(_ vector: LoyaltyVector) throws {
        let merchant = try VASMerchant(passTypeIdentifier: vector.text("passTypeIdentifier"))
        #expect(merchant.merchantID == (try vector.bytes("merchantIdHash")))
    }

    @Test(arguments: try LoyaltyVector.all("vas.decrypt"))
    func `a cryptogram opens to its time and message`(_ vector: LoyaltyVector) throws {
        let cryptogram = try #require(VASCryptogram(vector.bytes("cryptogram")))
        let key = VASKey(try vector.privateKey("merchantPrivateKey"))
        let merchantID = try vector.bytes("merchantIdHash")
        #expect(cryptogram.keyID == (try vector.bytes("cryptogramKeyId")))
        #expect(cryptogram.ephemeralX == (try vector.bytes("ephemeralX")))
        #expect(cryptogram.ciphertext == (try vector.bytes("ciphertext")))
        #expect(cryptogram.tag == (try vector.bytes("tag")))

        let opened: OpenedVASPass
        if try vector.text("cryptogramKeyId") == vector.text("merchantKeyId") {
            opened = try cryptogram.open(with: [key], merchantID: merchantID).get()
        } else {
            #expect(throws: VASOpeningError.unknownKey(cryptogram.keyID)) {
                try cryptogram.open(with: [key], merchantID: merchantID).get()
            }
            opened = try cryptogram.open(trying: [key], merchantID: merchantID).get()
        }
        #expect(opened.timestamp.secondsSince2001 == UInt32(try vector.number("timestamp")))
        #expect(opened.timestamp.unixSeconds == Int64(try vector.number("unixTime")))
        #expect(opened.message.revealed == (try vector.bytes("messageHex")))
    }

    @Test(arguments: try LoyaltyVector.all("vas.decrypt"))
    func `shared secret, shared info and message key are the published ones`(_ vector: LoyaltyVector) throws {
        let scheme: VASScheme = try vector.text("variant") == "aad" ? .older : .current
        let merchantID = try vector.bytes("merchantIdHash")
        #expect(scheme.sharedInfo(merchantID: merchantID) == (try vector.bytes("sharedInfo")))
        #expect(scheme.additionalData(merchantID: merchantID) == (try vector.bytes("aad")))
        let key = try vector.privateKey("merchantPrivateKey")
        let secret = try #require(key.sharedSecret(withX: vector.bytes("ephemeralX")))
        let secretBytes = unsafe secret.withUnsafeBytes { unsafe Array($0) }
        #expect(secretBytes == (try vector.bytes("sharedSecret")))
        let derived = secret.x963DerivedSymmetricKey(
            using: SHA256.self, sharedInfo: scheme.sharedInfo(merchantID: merchantID), outputByteCount: 32)
        let keyBytes = unsafe derived.withUnsafeBytes { unsafe Array($0) }
        #expect(keyBytes == (try vector.bytes("derivedKey")))
    }

    @Test(
        arguments: try LoyaltyVector.all("vas.decrypt").filter { $0.optionalText("deviceEphemeralPrivateKey") != nil })
    func `the phone in software seals to the same cryptogram`(_ vector: LoyaltyVector) throws {
        let sealed = VASSeal.cryptogram(
            plaintext: try vector.bytes("plaintext"), merchantPrivateKey: try vector.bytes("merchantPrivateKey"),
            merchantID: try vector.bytes("merchantIdHash"),
            ephemeralPrivateKey: try vector.bytes("deviceEphemeralPrivateKey"),
            isOlderScheme: try vector.text("variant") == "aad")
        #expect(sealed == (try vector.bytes("cryptogram")))
    }

    @Test(arguments: try LoyaltyVector.all("vas.decrypt.negative"))
    func `a damaged or foreign cryptogram does not open`(_ vector: LoyaltyVector) throws {
        let merchant = try VASMerchant(passTypeIdentifier: vector.text("passTypeIdentifier"))
        let key = VASKey(try vector.privateKey("merchantPrivateKey"))
        let bytes = try vector.bytes("cryptogram")
        let expected = try vector.text("expected")
        guard let cryptogram = VASCryptogram(bytes) else {
            #expect(expected.hasPrefix("too short"))
            return
        }
        let error: VASOpeningError =
            switch expected.split(separator: " ").first {
            case "unknown": .unknownKey(Array(bytes[0..<4]))
            case "invalid": .invalidPoint
            default: .notAuthentic
            }
        #expect(throws: error) { try cryptogram.open(with: [key], merchantID: merchant.merchantID).get() }
    }

    @Test(arguments: try LoyaltyVector.all("vas.getdata.request"))
    func `a request is built byte for byte`(_ vector: LoyaltyVector) throws {
        let inputs = try #require(vector.object["inputs"] as? [String: Any])
        let mode = try #require((inputs["mode"] as? Int).flatMap { CapabilityMode(rawValue: UInt8($0)) })
        let terminal = VASTerminal(
            mode: mode, nonce: try (inputs["nonce"] as? String).map { try Hex.bytes($0) },
            filter: try (inputs["filt"] as? String).map { try Hex.bytes($0) })
        let merchantID = try (inputs["pid"] as? String).map {
            try VASMerchant(passTypeIdentifier: $0).merchantID
        }
        let request = VASRequest(
            merchantID: merchantID, url: inputs["url"] as? String, urlOnly: inputs["p2"] as? Int == 0,
            terminal: terminal, more: inputs["more"] as? Bool ?? false)
        #expect(try request.command().bytes == vector.bytes("command"))
    }

    @Test func `terminal capabilities carry authentication, kind, mode and the bit for more`() {
        #expect(VASTerminal(mode: .passOnly).capabilities(more: false) == [0x00, 0x80, 0x00, 0x02])
        #expect(VASTerminal(mode: .passAndPayment).capabilities(more: true) == [0x00, 0x80, 0x00, 0x81])
        #expect(VASTerminal(mode: .passAndPayment).capabilities(more: false) == [0x00, 0x80, 0x00, 0x01])
        #expect(VASTerminal(mode: .passOrPayment).capabilities(more: false) == [0x00, 0x80, 0x00, 0x00])
        let strict = VASTerminal(mode: .passOnly, requiresUserAuthentication: true)
        #expect(strict.capabilities(more: false) == [0x00, 0xC0, 0x00, 0x02])
        #expect(VASTerminal(mode: .passOnly, kind: .transit).capabilities(more: false) == [0x00, 0x81, 0x00, 0x02])
    }

    @Test(arguments: try LoyaltyVector.all("vas.getdata.response"))
    func `an answer yields token and sealed pass in any order`(_ vector: LoyaltyVector) throws {
        let response = try vector.response()
        #expect(response.status.isSuccess)
        let answer = try #require(VASResponse(response.data))
        #expect(answer.passData == (try vector.bytes("cryptogram")))
        #expect(answer.mobileToken == (try vector.optionalText("mobileToken").map { try Hex.bytes($0) }))
    }

    @Test(arguments: try LoyaltyVector.all("vas.getdata.response.negative"))
    func `a malformed answer is refused`(_ vector: LoyaltyVector) throws {
        #expect(VASResponse(try vector.response().data)?.passData == nil)
    }

    @Test(arguments: try LoyaltyVector.all("vas.status"))
    func `every published status word has its meaning`(_ vector: LoyaltyVector) throws {
        let word = StatusWord(try #require(UInt16(vector.text("sw"), radix: 16)))
        let status = try #require(VASStatus(word))
        #expect("\(status)" == (try vector.text("name")))
    }

    @Test func `status words outside the list have none`() {
        for word in [0x6A88, 0x6982, 0x6985, 0x6A82, 0x6100] as [StatusWord] { #expect(VASStatus(word) == nil) }
        #expect(VASStatus.allCases.count == 8)
    }

    @Test(arguments: try LoyaltyVector.all("vas.select"))
    func `the answer to SELECT names wallet, version, nonce and capabilities`(_ vector: LoyaltyVector) throws {
        #expect(try OSE.select().bytes == vector.bytes("command"))
        guard case .apple(let selection) = OSE.application(try vector.response()) else {
            Issue.record("not taken for Apple's wallet")
            return
        }
        #expect(try selection.versionBytes == vector.bytes("version"))
        #expect(selection.deviceNonce == (try vector.bytes("deviceNonce")))
        #expect(selection.capabilities?.rawValue == (try vector.bytes("mobileCapabilities").last))
        #expect(selection.obstacle == nil)
    }

    @Test(arguments: try LoyaltyVector.all("vas.select.negative"))
    func `another major version is refused`(_ vector: LoyaltyVector) throws {
        guard case .apple(let selection) = OSE.application(try vector.response()) else {
            Issue.record("not taken for Apple's wallet")
            return
        }
        #expect(selection.obstacle == .unsupportedVersion)
    }

    /// The merchants of the generated transcripts, by pass type identifier.
    private func merchant(_ passType: String) throws -> VASMerchant {
        let keys = try LoyaltyVector.all("vas.key").filter { $0.id.hasPrefix("vas-key-gen") }
        return try VASMerchant(
            passTypeIdentifier: passType, keys: keys.map { VASKey(try $0.privateKey("privateKey")) })
    }

    @Test(arguments: try LoyaltyVector.all("vas.transcript"))
    func `a transcript replays command by command to the expected passes`(_ vector: LoyaltyVector) throws {
        let passOnly = try vector.text("mode") == "VAS only"
        let names = ["pass.example.taptopay.loyalty"] + (passOnly ? [] : ["pass.example.taptopay.giftcard"])
        let programmes = try names.enumerated().map { index, name in
            try LoyaltyProgramme(id: name, displayName: "Pass", priority: index, apple: merchant(name))
        }
        var machine = LoyaltyRead(
            try LoyaltyRequest(
                programmes: programmes, purpose: passOnly ? .passes : .passesAndPayment(stopOnPass: false)))
        let outcome = try #require(replay(&machine, vector.exchanges()))
        let expected = try #require(vector.object["expectedPasses"] as? [[String: String]])
        let passes = outcome.entries.filter { $0.status == .delivered }
        #expect(passes.map(\.programme) == expected.map { $0["passTypeIdentifier"] })
        #expect(passes.map { $0.pass?.member?.text } == expected.map { $0["message"] })
        #expect(outcome.payment == .afterFieldReset)
    }
}
