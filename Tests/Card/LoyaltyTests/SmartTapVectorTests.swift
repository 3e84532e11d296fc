// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Crypto
import Testing

@testable import Loyalty

@Suite struct `Smart Tap vectors` {
    @Test(arguments: try LoyaltyVector.all("smarttap.key"))
    func `a collector id is four bytes, a key its published point`(_ vector: LoyaltyVector) throws {
        let key = try vector.privateKey("privateKey")
        if vector.optionalText("publicKeyCompressed") != nil {
            #expect(key.compressedPublicKey == (try vector.bytes("publicKeyCompressed")))
        }
        let collector = try SmartTapCollector(
            id: UInt32(vector.number("collectorId")),
            keys: [SmartTapKey(version: UInt32(vector.number("keyVersion")), privateKey: key)])
        #expect(collector.id == (try vector.bytes("collectorIdHex")))
    }

    @Test(arguments: try LoyaltyVector.all("smarttap.ose"))
    func `the answer to SELECT tells nonce, key, versions and capabilities`(_ vector: LoyaltyVector) throws {
        let selection = try googleSelection(vector)
        #expect(selection.deviceNonce == (try vector.bytes("deviceNonce")))
        #expect(selection.deviceEphemeralKey == (try vector.bytes("deviceEphemeralKey")))
        #expect(selection.versions?.minimum == UInt16(try vector.text("minVersion"), radix: 16))
        #expect(selection.versions?.maximum == UInt16(try vector.text("maxVersion"), radix: 16))
        #expect(selection.versions?.includeOurs == true)
        #expect(selection.capabilities.rawValue == UInt8(try vector.text("capabilities"), radix: 16))
        #expect(selection.maySkipSecondSelect)
        if let details = vector.optionalText("transactionDetails") {
            #expect(selection.transactionMode?.rawValue == (try Hex.bytes(details).first))
        }
    }

    @Test(arguments: try LoyaltyVector.all("smarttap.ose.negative"))
    func `a range of versions without ours ends the session`(_ vector: LoyaltyVector) throws {
        let selection = try googleSelection(vector)
        var machine = SmartTapRead(
            collector: try Shop.collector(), terminal: SmartTapTerminal(), entropy: .fixed(try Shop.secrets()))
        guard case .finished(let outcome) = machine.selected(selection).action else {
            Issue.record("goes on")
            return
        }
        #expect(outcome.status == .unsupportedVersion)
        #expect(outcome.payment == .sameActivation)
    }

    private func googleSelection(_ vector: LoyaltyVector) throws -> SmartTapSelection {
        guard case .google(let selection) = OSE.application(try vector.response()) else {
            Issue.record("not taken for Google's wallet")
            throw APDUError.truncated(0)
        }
        return selection
    }

    @Test(arguments: try LoyaltyVector.all("smarttap.select2"))
    func `the second SELECT brings versions and nonce`(_ vector: LoyaltyVector) throws {
        #expect(try SmartTap.select().bytes == vector.bytes("command"))
        let answer = try #require(SmartTapSelectResponse(try vector.response().data))
        #expect(answer.deviceNonce == (try vector.bytes("deviceNonce")))
        #expect(answer.versions.minimum == 0 && answer.versions.maximum == 1)
    }

    @Test(arguments: try LoyaltyVector.all("smarttap.crypto"))
    func `signed data and session keys are the published ones`(_ vector: LoyaltyVector) throws {
        let handshake = try handshake(vector)
        let signature = try vector.bytes("signatureDER")
        #expect(handshake.signedData == (try vector.bytes("signedData")))
        #expect(handshake.readerEphemeralKey == (try vector.bytes("readerEphemeralPublicKey")))
        let keys = try #require(
            handshake.keys(devicePoint: vector.bytes("deviceEphemeralPublicKey"), signature: signature))
        let material =
            unsafe keys.encryption.withUnsafeBytes { unsafe Array($0) }
            + keys.authentication.withUnsafeBytes { unsafe Array($0) }
        #expect(material == (try vector.bytes("keyMaterial48")))

        let publicKey = try P256.Signing.PrivateKey(rawRepresentation: vector.bytes("longTermPrivateKey")).publicKey
        let own = try #require(vector.privateKey("longTermPrivateKey").signature(over: handshake.signedData))
        for der in [signature, own] {
            let parsed = try P256.Signing.ECDSASignature(derRepresentation: der)
            #expect(publicKey.isValidSignature(parsed, for: SHA256.hash(data: handshake.signedData)))
        }
    }

    private func handshake(_ vector: LoyaltyVector) throws -> SmartTapHandshake {
        SmartTapHandshake(
            secrets: try secrets(vector),
            collectorID: SmartTapCollector.bytes(UInt32(try vector.number("collectorId"))),
            keyVersion: UInt32(try vector.number("keyVersion")), deviceNonce: try vector.bytes("deviceNonce"),
            authentication: vector.object["liveAuth"] as? Int == 0 ? .preSigned : .live)
    }

    private func secrets(_ vector: LoyaltyVector) throws -> SmartTapSessionSecrets {
        try #require(
            SmartTapSessionSecrets(
                ephemeralKey: vector.privateKey("readerEphemeralPrivateKey"),
                readerNonce: vector.bytes("readerNonce"), sessionID: vector.bytes("sessionId")))
    }

    @Test(arguments: ["smarttap.negotiate.request", "smarttap.getdata.request", "smarttap.push.request"])
    func `published requests are read and written back without a change`(_ kind: String) throws {
        for vector in try LoyaltyVector.all(kind) {
            let data =
                try vector.optionalText("data").map { try Hex.bytes($0) }
                ?? CommandAPDU(vector.bytes("command")).data
            #expect(try rebuilt(data, prefix: 2) == data, "\(vector.id)")
        }
    }

    /// Reads a message record by record and writes it anew; nested messages are tried after 0, 1, 2 and 70 bytes.
    private func rebuilt(_ message: [UInt8], prefix: Int) throws -> [UInt8] {
        var writer = NDEFWriter()
        for record in try NDEF.records(of: message) {
            let type = String(decoding: message[record.type], as: UTF8.self)
            let id = String(decoding: message[record.id], as: UTF8.self)
            var payload = Array(message[record.payload])
            for offset in [0, 1, 2, 70] where payload.count > offset {
                let rest = Array(payload[offset...])
                if (try? NDEF.records(of: rest)) != nil {
                    payload = try Array(payload[..<offset]) + rebuilt(rest, prefix: 0)
                    break
                }
            }
            writer.append(record.format, type: type, id: id, payload: payload)
        }
        return writer.bytes
    }

    @Test func `a request with all merchant details and services is built byte for byte`() throws {
        let vector = try LoyaltyVector.one("st-getdata-full-merchant", kind: "smarttap.getdata.request")
        let collector = try SmartTapCollector(
            id: 20_180_608, keys: [SmartTapKey(version: 1) { _ in nil }],
            merchant: SmartTapMerchant(
                locationID: "STORE42", terminalID: "TERM7", name: "Example Coffee", categoryCode: [0x58, 0x14]),
            services: [.loyalty, .offer, .giftCard])
        let session = SmartTapSession(id: [0x18, 0xAB, 0x6D, 0x17, 0xF7, 0x7F, 0x39, 0x13], sequence: 3)
        let command = try SmartTapRequest.getData(
            session, collector: collector, capabilities: SmartTapCapabilities(mode: .passAndPayment))
        #expect(try command.bytes == vector.bytes("command"))
    }

    @Test func `the published GET DATA and PUSH are built from their parts`() throws {
        let id: [UInt8] = [0x6B, 0x15, 0x9A, 0x80, 0xFC, 0x82, 0x83, 0xFD]
        let collector = try SmartTapCollector(
            id: 0x0102_0304, keys: [SmartTapKey(version: 1) { _ in nil }], services: [.all])
        let getData = try SmartTapRequest.getData(
            SmartTapSession(id: id, sequence: 1), collector: collector,
            capabilities: SmartTapCapabilities(mode: .passAndPayment))
        let getVector = try LoyaltyVector.one("st-getdata-kormax", kind: "smarttap.getdata.request")
        #expect(try getData.data == getVector.bytes("data"))

        let push = SmartTapPush(
            basketCurrency: "USD",
            newService: SmartTapPush.NewService(type: 5, title: "PASS", address: "example.com"),
            serviceStatus: SmartTapPush.ServiceStatus(
                objectID: [0x01, 0x02, 0x03, 0xDC, 0x3B, 0xE1, 0x9E, 0x48], usage: 1, title: "SERVICE_USAGE_TITLE",
                text: "SERVICE_USAGE_DESCRIPTION", update: 5))
        let vector = try LoyaltyVector.one("st-push-kormax", kind: "smarttap.push.request")
        let command = try SmartTapRequest.push(SmartTapSession(id: id, sequence: 2), push)
        #expect(try command.data == vector.bytes("data"))
        let answer = try #require(SmartTapResponse(.push, try vector.response().data))
        #expect(answer.session == SmartTapSession(id: id, sequence: 3))
    }

    @Test(arguments: try LoyaltyVector.all("smarttap.getmore.request"))
    func `GET MORE has no data field`(_ vector: LoyaltyVector) throws {
        #expect(try SmartTap.getMore().bytes == vector.bytes("command"))
    }

    @Test(arguments: try LoyaltyVector.all("smarttap.negotiate.response"))
    func `the answer to NEGOTIATE has session and point`(_ vector: LoyaltyVector) throws {
        let answer = try #require(SmartTapResponse(.negotiate, try vector.response().data))
        #expect(answer.session.sequence == UInt8(try vector.number("sequence")))
        #expect(answer.session.status == UInt8(try vector.number("status")))
        #expect(answer.devicePoint == (try vector.bytes("deviceEphemeralKey")))
    }

    @Test(arguments: try LoyaltyVector.all("smarttap.getdata.response"))
    func `the answer to GET DATA has a bundle`(_ vector: LoyaltyVector) throws {
        let answer = try #require(SmartTapResponse(.getData, try vector.response().data))
        let bundle = try #require(answer.bundlePayload.flatMap { SmartTapBundle(payload: $0) })
        #expect(bundle.flags.rawValue == UInt8(try vector.text("bundleFlags"), radix: 16))
        #expect(Array(bundle.body.prefix(12)) == (try vector.bytes("iv")))
    }

    @Test(arguments: try LoyaltyVector.all("smarttap.negotiate.response.negative"))
    func `a bad session status counts although the status word is 9000`(_ vector: LoyaltyVector) throws {
        let answer = try #require(SmartTapResponse(.negotiate, try vector.response().data))
        #expect(try vector.response().status.isSuccess)
        #expect(answer.session.status == 0x05)
    }

    @Test(arguments: try LoyaltyVector.all("smarttap.status"))
    func `every published status word has its meaning`(_ vector: LoyaltyVector) throws {
        let meanings: [String: SmartTapStatus] = [
            "ok": .success, "ok, no pass": .successWithoutPass, "ok, pre-signed auth": .successPreSigned,
            "pass ok, not ready for payment": .notReadyForPayment,
            "no pass, not ready for payment": .notReadyForPaymentWithoutPass,
            "unknown transient failure": .transient, "execution failure": .transient, "device locked": .deviceLocked,
            "disambiguation screen shown": .choiceShown, "parsing failure": .terminalError,
            "invalid crypto input": .terminalError, "request more not applicable": .terminalError,
            "too many requests": .tooManyRequests, "no merchant set": .terminalError,
            "invalid pushback URI": .terminalError, "version not supported": .versionNotSupported,
            "AID not found": .noApplication,
        ]
        let word = StatusWord(try #require(UInt16(vector.text("sw"), radix: 16)))
        #expect(SmartTapStatus(word) == (try #require(meanings[try vector.text("name")])))
    }

    @Test(arguments: try LoyaltyVector.all("smarttap.objects"))
    func `objects are read whatever form their number has`(_ vector: LoyaltyVector) throws {
        let objects = try #require(SmartTapObjectReader.objects(SecretBytes(vector.bytes("ndef"))))
        if let expected = vector.object["objects"] as? [[String: String]] {
            #expect(objects.map(\.kind.rawValue) == expected.map { $0["record"] })
            #expect(objects[0][.objectID]?.revealed == (try Hex.bytes("21c94a5101e25eaa")))
            #expect(objects[0][.number]?.text == expected[0]["serviceNumberUTF8"])
            #expect(objects[0].issuer == SmartTapIssuer(kind: .merchant, id: [0, 0, 0, 0]))
            #expect(objects[1].issuer == SmartTapIssuer(kind: .wallet, id: [0x71, 0x79, 0x79, 0x71]))
            #expect(objects[1][.customerID]?.revealed == [UInt8](repeating: 0, count: 16))
            #expect(objects[1][.tapID]?.revealed == (try Hex.bytes("8c5d5a9021965312fd65e06c716a9bac")))
            #expect(objects[1][.language]?.text == "en")
            let inflated = try Inflate.zlib(SecretBytes(vector.bytes("zlib")), limit: SmartTap.maximumBundleLength)
            #expect(inflated.revealed == (try vector.bytes("ndef")))
            return
        }
        let object = try #require(objects.first)
        #expect(object.kind.rawValue == (try vector.text("record")))
        #expect(object[.objectID]?.revealed == Array(try vector.bytes("objectId").dropFirst()))
        #expect(object.issuer == SmartTapIssuer(kind: .merchant, id: [0x00, 0xA1, 0xB2, 0xC3]))
        let number = try #require(object[.number]?.text)
        let pin = object[.pin].map { " pin \($0.text)" } ?? ""
        #expect(number + pin == (try vector.text("expectedServiceNumber")))
    }

    @Test(arguments: try LoyaltyVector.all("smarttap.bundle.negative") + LoyaltyVector.all("smarttap.bundle"))
    func `a bundle opens, or is dropped for its reason`(_ vector: LoyaltyVector) throws {
        let answer = try #require(SmartTapResponse(.getData, try vector.response().data))
        let bundle = try #require(answer.bundlePayload.flatMap { SmartTapBundle(payload: $0) })
        let material =
            try vector.optionalText("keyMaterial48").map { try Hex.bytes($0) }
            ?? [UInt8](repeating: 0, count: 48)
        let opened = bundle.open(with: try #require(SmartTapSessionKeys(material: SecretBytes(material))))
        switch vector.id {
        case "st-neg-hmac-flip": #expect(throws: SmartTapBundleError.notAuthentic) { try opened.get() }
        case "st-neg-zip-bomb": #expect(throws: SmartTapBundleError.tooLarge) { try opened.get() }
        default:
            let objects = try #require(SmartTapObjectReader.objects(opened.get()))
            #expect(objects.first?[.number]?.text == "2018")
        }
    }

    @Test(arguments: try LoyaltyVector.all("smarttap.transcript"))
    func `a transcript replays command by command to the expected passes`(_ vector: LoyaltyVector) throws {
        let exchanges = try vector.exchanges()
        let isPreSigned = vector.id.contains("presigned")
        let isSampleForm = vector.id.contains("google-sample-form")
        let crypto = try LoyaltyVector.one(
            isPreSigned ? "st-crypto-presigned" : "st-crypto-live", kind: "smarttap.crypto")
        let signedData = try crypto.bytes("signedData")
        let signature = try crypto.bytes("signatureDER")
        let isChained = vector.id.contains("zlib-chained")
        let collector = try SmartTapCollector(
            id: UInt32(vector.number("collectorId")),
            keys: [SmartTapKey(version: 1) { $0 == signedData ? signature : nil }],
            services: [isChained ? .all : .loyalty])
        let capabilities =
            isChained
            ? SmartTapCapabilities(mode: .passAndPayment)
            : SmartTapCapabilities(system: SmartTapCapabilities.standalone, mode: 0x01)
        var machine = SmartTapRead(
            collector: collector,
            terminal: SmartTapTerminal(
                capabilities: isSampleForm ? nil : capabilities, authentication: isPreSigned ? .preSigned : .live,
                alwaysSelects: isSampleForm), entropy: .fixed(try secrets(vector)))
        let outcome = try #require(replay(&machine, exchanges))
        let expected = try #require(vector.object["expected"] as? [[String: String]])
        #expect(outcome.objects.map(\.kind.rawValue) == expected.map { $0["record"] })
        for (object, expected) in zip(outcome.objects, expected) {
            #expect(object[.number]?.text == expected["serviceNumber"])
        }
        switch vector.id {
        case "st-transcript-9302": #expect(outcome.status == .choiceNeeded)
        case "st-transcript-9500": #expect(outcome.status == .authenticationFailed(0x9500))
        default: #expect(outcome.status == .delivered && outcome.isAuthentic)
        }
    }

    @Test(arguments: try LoyaltyVector.all("smarttap.transcript").filter { !$0.id.contains("zlib") })
    func `the phone in software answers as the transcript does`(_ vector: LoyaltyVector) throws {
        let exchanges = try vector.exchanges()
        let nonce = try vector.bytes("deviceNonce")
        let ephemeral = try vector.bytes("deviceEphemeralPrivateKey")
        // The initialisation vector stands in the last answer, after the bundle's flags.
        let bundle = SmartTapResponse(.getData, try ResponseAPDU(exchanges[exchanges.count - 1].response).data)?
            .bundlePayload
        let key = vector.id.hasSuffix("9500") ? WalletTestKeys.clubPrivateKey : try vector.bytes("longTermPrivateKey")
        var phone = SmartTapPhone(
            passes: [
                SmartTapPass(
                    objectID: try Hex.bytes("f42704b2880255e1"), number: "2018", language: "")
            ],
            oddity: vector.id.hasSuffix("9201")
                ? .transientFailures(1) : vector.id.hasSuffix("9302") ? .choiceShown : .none,
            collectorID: UInt32(try vector.number("collectorId")), collectorPrivateKeys: [1: key],
            payment: MemberTag(message: nil),
            script: [nonce, ephemeral, Array(bundle?.dropFirst().prefix(12) ?? [])])
        phone.hasCustomerRecord = false
        phone.powerOn()
        for exchange in exchanges { #expect(phone.answer(exchange.command) == .answer(exchange.response)) }
    }
}
