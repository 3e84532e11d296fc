// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Foundation
import TestSupport
import Testing

@testable import Loyalty

/// What a test does with a vector.
enum VectorUse: String, CaseIterable, Sendable {
    case parse, build, decrypt, verify
}

/// The account of all vectors: which are used how, and by which test.
@Suite struct `Every vector is used` {
    private struct Entry: Sendable {
        let kind: String
        let uses: Set<VectorUse>
        /// Name of the test's function.
        let test: String
        var applies: @Sendable (LoyaltyVector) -> Bool = { _ in true }
    }

    private static let entries: [Entry] = [
        Entry(
            kind: "vas.key", uses: [.verify],
            test: "a merchant key has the published public point, key id and merchant id"),
        Entry(kind: "vas.key", uses: [.parse], test: "a key reads the same from DER and PEM") { has($0, "sec1DER") },
        Entry(kind: "vas.merchantId", uses: [.build], test: "the merchant id is the hash of the pass type identifier"),
        Entry(kind: "vas.decrypt", uses: [.parse, .decrypt], test: "a cryptogram opens to its time and message"),
        Entry(
            kind: "vas.decrypt", uses: [.verify],
            test: "shared secret, shared info and message key are the published ones"),
        Entry(kind: "vas.decrypt", uses: [.build], test: "the phone in software seals to the same cryptogram") {
            has($0, "deviceEphemeralPrivateKey")
        },
        Entry(kind: "vas.decrypt.negative", uses: [.decrypt], test: "a damaged or foreign cryptogram does not open"),
        Entry(kind: "vas.getdata.request", uses: [.build], test: "a request is built byte for byte"),
        Entry(kind: "vas.getdata.request", uses: [.parse], test: "the phone in software takes every published request"),
        Entry(
            kind: "vas.getdata.response", uses: [.parse], test: "an answer yields token and sealed pass in any order"),
        Entry(kind: "vas.getdata.response.negative", uses: [.parse], test: "a malformed answer is refused"),
        Entry(kind: "vas.status", uses: [.parse], test: "every published status word has its meaning"),
        Entry(
            kind: "vas.select", uses: [.parse, .build],
            test: "the answer to SELECT names wallet, version, nonce and capabilities"),
        Entry(kind: "vas.select.negative", uses: [.parse], test: "another major version is refused"),
        Entry(
            kind: "vas.transcript", uses: [.parse, .build, .decrypt],
            test: "a transcript replays command by command to the expected passes"),
        Entry(kind: "ecp.frame", uses: [.build, .verify], test: "a frame has the published payload and checksum"),
        Entry(kind: "smarttap.key", uses: [.verify], test: "a collector id is four bytes, a key its published point"),
        Entry(
            kind: "smarttap.ose", uses: [.parse],
            test: "the answer to SELECT tells nonce, key, versions and capabilities"),
        Entry(
            kind: "smarttap.ose.negative", uses: [.parse], test: "a range of versions without ours ends the session"),
        Entry(kind: "smarttap.select2", uses: [.parse, .build], test: "the second SELECT brings versions and nonce"),
        Entry(
            kind: "smarttap.crypto", uses: [.build, .verify],
            test: "signed data and session keys are the published ones"),
        Entry(
            kind: "smarttap.negotiate.request", uses: [.parse, .build],
            test: "published requests are read and written back without a change"),
        Entry(
            kind: "smarttap.getdata.request", uses: [.parse],
            test: "published requests are read and written back without a change"),
        Entry(
            kind: "smarttap.getdata.request", uses: [.build],
            test: "a request with all merchant details and services is built byte for byte"
        ) { $0.id == "st-getdata-full-merchant" },
        Entry(
            kind: "smarttap.getdata.request", uses: [.build],
            test: "the published GET DATA and PUSH are built from their parts"
        ) { $0.id == "st-getdata-kormax" },
        Entry(
            kind: "smarttap.push.request", uses: [.parse, .build],
            test: "the published GET DATA and PUSH are built from their parts"),
        Entry(kind: "smarttap.getmore.request", uses: [.build], test: "GET MORE has no data field"),
        Entry(
            kind: "smarttap.negotiate.response", uses: [.parse], test: "the answer to NEGOTIATE has session and point"),
        Entry(
            kind: "smarttap.negotiate.response.negative", uses: [.parse],
            test: "a bad session status counts although the status word is 9000"),
        Entry(kind: "smarttap.getdata.response", uses: [.parse], test: "the answer to GET DATA has a bundle"),
        Entry(kind: "smarttap.status", uses: [.parse], test: "every published status word has its meaning"),
        Entry(kind: "smarttap.objects", uses: [.parse], test: "objects are read whatever form their number has"),
        Entry(kind: "smarttap.objects", uses: [.build], test: "a vector's message is read and written back unchanged"),
        Entry(kind: "smarttap.bundle", uses: [.decrypt], test: "a bundle opens, or is dropped for its reason"),
        Entry(
            kind: "smarttap.bundle.negative", uses: [.decrypt, .verify],
            test: "a bundle opens, or is dropped for its reason"),
        Entry(
            kind: "smarttap.transcript", uses: [.parse, .build, .decrypt, .verify],
            test: "a transcript replays command by command to the expected passes"),
        Entry(kind: "ndef.t2t.memory", uses: [.parse], test: "a Type 2 memory yields UID and message"),
        Entry(kind: "ndef.t2t.memory", uses: [.build], test: "a vector's message is read and written back unchanged"),
        Entry(kind: "ndef.t4t.transcript", uses: [.parse, .build], test: "a Type 4 tag is read command by command"),
        Entry(kind: "uid.class", uses: [.parse], test: "a UID's class decides whether it may be a member number"),
    ]

    /// What has to be done with vectors of a kind.
    private static let required: [String: Set<VectorUse>] = [
        "vas.key": [.verify], "vas.merchantId": [.build], "vas.decrypt": [.parse, .decrypt, .verify],
        "vas.decrypt.negative": [.decrypt], "vas.getdata.request": [.parse, .build], "vas.getdata.response": [.parse],
        "vas.getdata.response.negative": [.parse], "vas.status": [.parse], "vas.select": [.parse, .build],
        "vas.select.negative": [.parse], "vas.transcript": [.parse, .build, .decrypt],
        "ecp.frame": [.build, .verify], "smarttap.key": [.verify], "smarttap.ose": [.parse],
        "smarttap.ose.negative": [.parse], "smarttap.select2": [.parse, .build], "smarttap.crypto": [.build, .verify],
        "smarttap.negotiate.request": [.parse, .build], "smarttap.getdata.request": [.parse, .build],
        "smarttap.push.request": [.parse, .build], "smarttap.getmore.request": [.build],
        "smarttap.negotiate.response": [.parse], "smarttap.negotiate.response.negative": [.parse],
        "smarttap.getdata.response": [.parse], "smarttap.status": [.parse], "smarttap.objects": [.parse, .build],
        "smarttap.bundle": [.decrypt], "smarttap.bundle.negative": [.decrypt, .verify],
        "smarttap.transcript": [.parse, .build, .decrypt, .verify], "ndef.t2t.memory": [.parse, .build],
        "ndef.t4t.transcript": [.parse, .build], "uid.class": [.parse],
    ]

    private static func has(_ vector: LoyaltyVector, _ key: String) -> Bool { vector.optionalText(key) != nil }

    @Test func `no vector is left out in any direction that applies to it`() throws {
        var counts: [VectorUse: Int] = [:]
        var vectors = 0
        for kind in try LoyaltyVector.kinds() {
            let always = try #require(Self.required[kind], "nobody says what to do with \(kind)")
            for vector in try LoyaltyVector.all(kind) {
                vectors += 1
                var wanted = always
                // A key in files has to be read from them, and a pass that a phone can seal again is sealed again.
                if Self.has(vector, "sec1DER") { wanted.insert(.parse) }
                if kind == "vas.decrypt", Self.has(vector, "deviceEphemeralPrivateKey") { wanted.insert(.build) }
                let used = Self.entries.filter { $0.kind == kind && $0.applies(vector) }
                    .reduce(into: Set<VectorUse>()) { $0.formUnion($1.uses) }
                #expect(used.isSuperset(of: wanted), "\(vector.id): not for \(wanted.subtracting(used))")
                for use in used { counts[use, default: 0] += 1 }
            }
        }
        #expect(vectors == 109)
        #expect(counts == [.parse: 87, .build: 51, .decrypt: 28, .verify: 31], "\(counts)")
    }

    @Test func `every test of the account is there and takes the vectors that it stands for`() throws {
        let folder = Checkout.file("Tests/Card/LoyaltyTests")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        let tests = try files.filter { $0.pathExtension == "swift" && !$0.path.hasSuffix("VectorUseTests.swift") }
            .map { try String(contentsOf: $0, encoding: .utf8) }
            .flatMap { $0.components(separatedBy: "@Test").dropFirst() }
        for entry in Self.entries {
            let isThere = tests.contains { $0.contains("`\(entry.test)`") && $0.contains("\"\(entry.kind)\"") }
            let isHere =
                entry.test == "a vector's message is read and written back unchanged"
                || entry.test == "the phone in software takes every published request"
            #expect(isThere || isHere, "\(entry.kind): \(entry.test)")
        }
    }

    @Test(arguments: try LoyaltyVector.all("vas.getdata.request"))
    func `the phone in software takes every published request`(_ vector: LoyaltyVector) throws {
        let inputs = try #require(vector.object["inputs"] as? [String: Any])
        var phone = VASPhone(
            passes: (inputs["pid"] as? String).map {
                [.init(passTypeIdentifier: $0, message: "M", merchantPrivateKey: WalletTestKeys.clubPrivateKey)]
            } ?? [], takesSignUpOnly: inputs["p2"] as? Int == 0)
        phone.powerOn()
        _ = phone.answer(try OSE.select().bytes)
        guard case .answer(let bytes) = phone.answer(try vector.bytes("command")) else {
            Issue.record("no answer")
            return
        }
        #expect(try ResponseAPDU(bytes).status.isSuccess)
        // A phone that has the pass needs no invitation.
        if inputs["p2"] as? Int == 0 { #expect(phone.receivedURLs == [inputs["url"] as? String]) }
    }

    @Test(arguments: try LoyaltyVector.all("smarttap.objects") + LoyaltyVector.all("ndef.t2t.memory"))
    func `a vector's message is read and written back unchanged`(_ vector: LoyaltyVector) throws {
        let message = try vector.bytes("ndef")
        var writer = NDEFWriter()
        for record in try NDEF.records(of: message) {
            writer.append(
                record.format, type: String(decoding: message[record.type], as: UTF8.self),
                id: String(decoding: message[record.id], as: UTF8.self), payload: Array(message[record.payload]))
        }
        #expect(writer.bytes == message)
    }
}
