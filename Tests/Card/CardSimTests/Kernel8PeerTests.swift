// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import TestSupport
import Testing

@testable import CardSim
@testable import EMV
@testable import EMVCrypto

/// Kernel 8 against a second hand: `kernel8-peer.py`, written from a description of the books in words without a look at this
/// code, on top of PyPI's cryptography. It makes values of every kind, and it is a card that the kernel pays with.
@Suite("Kernel 8 and its second hand", .timeLimit(.minutes(5)))
struct Kernel8PeerTests {
    private static let missing: Comment = "python3 with cryptography is missing: scripts/install-peers.sh makes one"

    /// Whether the peer is there, or demanded (`NFC_TAP_REQUIRE_PEERS=1`), so that the test fails without it.
    private static func isToBeAsked() throws -> Bool {
        let isDemanded = ProcessInfo.processInfo.environment["NFC_TAP_REQUIRE_PEERS"] == "1"
        return try isDemanded
            || !Peer(["vectors", "probe", "0"], script: ["-c", "import cryptography; print(1)"]).rest().isEmpty
    }

    private static func rows(_ kind: String) throws -> [[String: [UInt8]]] {
        let lines = try Peer(["vectors", "kernel 8", "60"]).rest()
        let rows = try lines.map { try JSONDecoder().decode([String: String].self, from: Data($0.utf8)) }
            .filter { $0["kind"] == kind }
        try #require(rows.count == 60)
        return try rows.map { row in try row.filter { $0.key != "kind" }.mapValues { try Hex.bytes($0) } }
    }

    private static func field(_ name: String, _ row: [String: [UInt8]]) throws -> [UInt8] {
        try #require(row[name], "the peer has no \(name)")
    }

    // MARK: - Values

    @Test(.enabled(missing) { try isToBeAsked() })
    func `both sides make the same key, the same session keys, and the same blinding factor of the card's`() throws {
        let cryptography = SecureChannelCryptography.using(.none(.test))
        for row in try Self.rows("agreement") {
            func value(_ name: String) throws -> [UInt8] { try Self.field(name, row) }
            let data = try value("cardKeyData")
            #expect(cryptography.publicKey(try value("kernelPrivate")) == (try value("kernelKeyData")))
            let z = try #require(CurvePoint(x: Array(data.prefix(32)))).x(times: try value("kernelPrivate"))
            #expect(z == (try value("z")))
            let channel = try #require(
                SecureChannel(cryptography, privateKey: try value("kernelPrivate"), cardKeyData: data))
            #expect(channel.blindingFactor == (try value("blinding")))
            // Each of the two keys is seen by what it does: the peer's own AES makes the same of a block.
            let keys = try #require(SessionKeys(secret: try value("z")))
            let confidentiality = try #require(AES128(key: try value("confidentiality")))
            let zeros = [UInt8](repeating: 0, count: 48)
            #expect(
                keys.apply(counter: 0x8001, zeros)
                    == confidentiality.apply(zeros, start: AES128.Block([0x80, 0x01])))
            #expect(keys.integrity.mac(data) == AES128(key: try value("integrity"))?.mac(data))
            let certified = try #require(CurvePoint(x: try value("iccX")))
            #expect(certified.x(times: channel.blindingFactor) == channel.blindedKey)
            #expect(CurvePoint(x: try value("otherX"))?.x(times: channel.blindingFactor) != channel.blindedKey)
        }
    }

    @Test(.enabled(missing) { try isToBeAsked() })
    func `records, CMAC and CMAC+ are the same bytes on both sides`() throws {
        for row in try Self.rows("record") {
            let cipher = try #require(AES128(key: Self.field("key", row)))
            let start = AES128.Block(try Self.field("counter", row))
            #expect(cipher.apply(try Self.field("encrypted", row), start: start) == (try Self.field("plain", row)))
        }
        for row in try Self.rows("mac") {
            let cipher = try #require(AES128(key: Self.field("key", row)))
            #expect(cipher.mac(try Self.field("message", row)) == (try Self.field("cmac", row)))
            #expect(cipher.macPlus(try Self.field("message", row)) == (try Self.field("plus", row)))
        }
    }

    @Test(.enabled(missing) { try isToBeAsked() })
    func `IAD-MAC and EDA-MAC are the same over lists, relay resistance, answer and hash`() throws {
        for row in try Self.rows("macs") {
            func value(_ name: String) throws -> [UInt8] { try Self.field(name, row) }
            let integrity = try #require(AES128(key: try value("key")))
            let cryptography = SecureChannelCryptography(
                publicKey: { $0 },
                sessionKeys: { _, _ in
                    SecureChannelKeys(
                        apply: { $1 }, mac: { integrity.mac($0) }, macPlus: { integrity.macPlus($0) })
                }, hash: { $0 }, authenticate: { _ in nil })
            let channel = try #require(
                SecureChannel(cryptography, privateKey: [], cardKeyData: [UInt8](repeating: 1, count: 64)))
            let answer = try value("answer")
            let kept = try TLV.children(answer, in: answer.indices)
                .filter { $0.tag != .applicationCryptogram && $0.tag != .edaMAC }
                .flatMap { answer[$0.start..<$0.end] }
            let iadMAC = channel.iadMAC(
                try value("pdol") + value("cdol1") + value("relay") + kept + value("staticHash"))
            #expect(iadMAC == (try value("iadMAC")))
            #expect(channel.edaMAC(cryptogram: try value("cryptogram"), iadMAC: iadMAC) == (try value("edaMAC")))
        }
    }

    @Test(.enabled(missing) { try isToBeAsked() })
    func `signatures of the peer hold, and damaged ones do not`() throws {
        for row in try Self.rows("signature") {
            let key = try #require(CurvePoint(x: try Self.field("x", row)))
            let message = try Self.field("message", row)
            func isValid(_ name: String, _ message: [UInt8]) throws -> Bool {
                try #require(SchnorrSignature(try Self.field(name, row))).isValid(message, by: key)
            }
            #expect(try isValid("signature", message))
            #expect(try !isValid("signature", message + [0]))
            for name in ["damaged", "zero", "order"] { #expect(try !isValid(name, message), "\(name)") }
        }
    }

    @Test(.enabled(missing) { try isToBeAsked() })
    func `certificates of the peer's authorities and issuers lead to the card's key, and checksums to the authority's`()
        throws
    {
        for row in try Self.rows("chain") {
            func value(_ name: String) throws -> [UInt8] { try Self.field(name, row) }
            let index = try #require(try value("index").first)
            for checksum in ["sha256", "sha1"] {
                #expect(throws: Never.self) {
                    try CAECCPublicKey(
                        rid: value("rid"), index: index, point: value("ca"), checksum: value(checksum),
                        environment: .test)
                }
            }
            let authority = try #require(CurvePoint(try value("ca")))
            let issuer = try #require(IssuerECCCertificate(try value("issuer")))
            #expect(issuer.isSigned(by: authority))
            #expect(try issuer.rid == value("rid") && issuer.caIndex == index && issuer.key.x == value("issuerX"))
            #expect(try BCD.digits(value("pan"))?.starts(with: issuer.issuerIdentifier) == true)
            #expect(issuer.expiry == EMVDate(year: 2030, month: 12, day: 31))
            let card = try #require(ICCECCCertificate(try value("icc")))
            #expect(card.isSigned(by: issuer.key) && !card.isSigned(by: authority))
            #expect(try card.key.x == value("iccX") && card.staticDataHash == value("staticHash"))
            #expect(card.isValid(on: issuer.expiry, at: EMVTime(hour: 23, minute: 59, second: 59)))
            #expect(
                !card.isValid(on: EMVDate(year: 2031, month: 1, day: 1), at: EMVTime(hour: 0, minute: 0, second: 0)))
        }
    }

    // MARK: - A whole tap

    /// The kernel pays with the peer's card, and knows its authority.
    private static func pay(_ options: [String]) throws -> (run: C8Tap.Run, known: PeerCard.Known) {
        let card = try PeerCard(peer: Peer(["card"] + options))
        let before = try card.known()
        let point = try Hex.bytes(before.caX + before.caY)
        let key = try CAECCPublicKey(
            rid: [0xF0, 0x4E, 0x46, 0x43, 0x2D], index: 0xE1, point: point, environment: .test)
        var tap = C8Tap(card)
        tap.authentication = .using(
            try CAPublicKeys(environment: .test, keys: []),
            eccKeys: try CAECCPublicKeys(environment: .test, keys: [key]))
        // Relay resistance where the card has it; a failed local authentication is reported.
        tap.kernelData = [DataObject(0x9F8209, [0x18, 0x00]), DataObject(0x9F821E, [0x04])]
        return (try tap.run(), try card.known())
    }

    @Test(.enabled(missing) { try isToBeAsked() }, arguments: ["no", "yes"], ["0", "1", "2"])
    func `a card that nobody here wrote is authenticated, read and believed`(relay: String, copy: String) throws {
        for seed in ["first", "second", "third"] {
            let (run, known) = try Self.pay([seed, "relay=\(relay)", "copy=\(copy)"])
            #expect(run.outcome.outcome.status == .onlineRequest)
            #expect(run.error == ErrorIndication())
            #expect(Hex.string(run.record.value(of: 0x5A) ?? []) == known.pan)
            // Kernel 8's format; relay resistance done or not; local authentication done and good.
            #expect(run.record.value(of: 0x95) == [0x00, 0x00, 0x00, 0x80, relay == "yes" ? 0x82 : 0x81])
            let mac = try #require(run.record.value(of: 0x9F8109))
            #expect(Hex.string(mac) == known.iadMAC.uppercased())
            // Copied into the issuer's data at the reader's offset (1), at the card's (2), or not at all.
            let place = ["1": 4, "2": 6][copy]
            var expected = try Hex.bytes("0601") + [UInt8](repeating: 0, count: 30)
            if let place { expected.replaceSubrange(place..<place + 8, with: mac) }
            #expect(run.record.value(of: 0x9F10) == expected)
        }
    }

    @Test(
        .enabled(missing) { try isToBeAsked() },
        arguments: ["blinding", "issuer-signature", "icc-signature", "static", "issuer-id"])
    func `what is wrong with the card's proof of its key is seen and reported`(fault: String) throws {
        let (run, _) = try Self.pay(["faults", "fault=\(fault)"])
        #expect(run.outcome.outcome.status == .onlineRequest)
        #expect(run.record.value(of: 0x95) == [0x04, 0x00, 0x00, 0x80, 0x81])
    }

    @Test(.enabled(missing) { try isToBeAsked() }, arguments: ["eda-mac", "iad-mac"])
    func `a cryptogram that is not bound to what was said ends the transaction`(fault: String) throws {
        let (run, _) = try Self.pay(["faults", "fault=\(fault)"])
        #expect(run.outcome.outcome.status == .endApplication)
        #expect(run.error.l2 == .edaMACFailed)
    }

    @Test(.enabled(missing) { try isToBeAsked() })
    func `a record that was changed on its way is not read`() throws {
        let (run, _) = try Self.pay(["faults", "fault=record"])
        #expect(run.outcome.outcome.status == .endApplication)
        #expect(run.record.isEmpty)
    }
}

/// `kernel8-peer.py`, asked line by line.
private struct Peer: Sendable {
    private let process = Process()
    private let questions = Pipe()
    private let answers = Pipe()

    init(_ arguments: [String], script: [String] = [Checkout.file("Tests/Card/CardSimTests/kernel8-peer.py").path])
        throws
    {
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [ProcessInfo.processInfo.environment["NFC_TAP_PYTHON"] ?? "python3"] + script + arguments
        process.standardInput = questions
        process.standardOutput = answers
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    /// The answer to one line; empty where the peer has died.
    func ask(_ line: String) -> String {
        guard (try? questions.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))) != nil else {
            return ""
        }
        var answer = Data()
        while answer.last != UInt8(ascii: "\n") {
            guard let part = try? answers.fileHandleForReading.read(upToCount: 1), !part.isEmpty else { return "" }
            answer += part
        }
        return String(decoding: answer.dropLast(), as: UTF8.self)
    }

    /// All lines of a peer that asks nothing.
    func rest() throws -> [Substring] {
        try questions.fileHandleForWriting.close()
        let told = try answers.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? String(decoding: told, as: UTF8.self).split(separator: "\n") : []
    }
}

/// The peer as a card.
private struct PeerCard: VirtualCard {
    let peer: Peer

    var activation: CardActivation { PaymentCard(.commonKernel(.personalised())).activation }

    mutating func powerOn() {}

    mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        (try? Hex.bytes(peer.ask(Hex.string(command)))).map { .answer($0) } ?? .gone
    }

    struct Known: Decodable {
        var caX: String
        var caY: String
        var iadMAC: String
        var pan: String
    }

    func known() throws -> Known {
        try JSONDecoder().decode(Known.self, from: Data(peer.ask("?").utf8))
    }
}
