// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import EMVCrypto
import TestSupport
import Testing

@Suite struct CAPublicKeyTests {
    private let visa: [UInt8] = [0xA0, 0, 0, 0, 0x03]

    private func key(
        _ row: Vectors.CAKey, expiry: String = "", environment: CAPublicKey.Environment = .test
    ) throws -> CAPublicKey {
        try CAPublicKey(
            rid: row.rid, index: row.index, modulus: row.modulus, exponent: row.exponent, checksum: row.sha1 ?? "",
            expiry: expiry, environment: environment)
    }

    private func row(_ rid: String, _ index: String, _ length: Int) throws -> Vectors.CAKey {
        try #require(
            Vectors.caKeys().first { $0.rid == rid && $0.index == index && $0.modulus.utf8.count == length * 2 })
    }

    @Test func `every collected key loads but the one with an even modulus`() throws {
        #expect(try Vectors.caKeys().count == 189)
        var refused: [String] = []
        for row in try Vectors.caKeys() {
            do throws(CAPublicKeyError) {
                _ = try CAPublicKey(
                    rid: row.rid, index: row.index, modulus: row.modulus, exponent: row.exponent,
                    checksum: row.sha1 ?? "", environment: .test)
            } catch {
                #expect(error == .badModulus)
                refused.append(row.rid + row.index)
            }
        }
        #expect(refused == ["A00000000406"])
    }

    @Test func `a field that changed is caught by the checksum`() throws {
        let row = try row("A000000003", "92", 176)
        let good = try key(row)
        #expect(good.checksum == (try hex("429C954A3859CEF91295F663C963E582ED6EB253")))
        #expect(throws: CAPublicKeyError.wrongChecksum) {
            try CAPublicKey(
                rid: row.rid, index: "93", modulus: row.modulus, exponent: row.exponent, checksum: row.sha1 ?? "",
                environment: .test)
        }
        #expect(throws: CAPublicKeyError.wrongChecksum) {
            try CAPublicKey(
                rid: row.rid, index: row.index, modulus: row.modulus, exponent: "010001", checksum: row.sha1 ?? "",
                environment: .test)
        }
    }

    @Test func `fields that cannot be read are named`() throws {
        let row = try row("A000000003", "92", 176)
        func make(
            rid: String = "A000000003", index: String = "92", exponent: String = "03", modulus: String? = nil,
            expiry: String = ""
        ) throws -> CAPublicKey {
            try CAPublicKey(
                rid: rid, index: index, modulus: modulus ?? row.modulus, exponent: exponent, checksum: row.sha1 ?? "",
                expiry: expiry, environment: .test)
        }
        #expect(throws: CAPublicKeyError.notHexadecimal) { try make(rid: "A00000000X") }
        #expect(throws: CAPublicKeyError.badRID) { try make(rid: "A0000000") }
        #expect(throws: CAPublicKeyError.badIndex) { try make(index: "") }
        #expect(throws: CAPublicKeyError.badIndex) { try make(index: "9292") }
        #expect(throws: CAPublicKeyError.badExponent) { try make(exponent: "") }
        #expect(throws: CAPublicKeyError.badExponent) { try make(exponent: "01") }
        #expect(throws: CAPublicKeyError.badModulus) { try make(modulus: "A5A5") }
        #expect(throws: CAPublicKeyError.badExpiry) { try make(expiry: "20291301") }
        #expect(throws: CAPublicKeyError.badExpiry) { try make(expiry: "291231") }
        #expect(throws: CAPublicKeyError.badExpiry) { try make(expiry: "+2291231") }
    }

    @Test func `a key is valid through its last day`() throws {
        let key = try key(row("A000000003", "92", 176), expiry: "20301231")
        #expect(key.isValid(on: EMVDate(year: 2030, month: 12, day: 31)))
        #expect(!key.isValid(on: EMVDate(year: 2031, month: 1, day: 1)))
    }

    @Test func `where one index names two keys the certificate's length decides`() throws {
        let short = try row("A000000004", "FA", 144)
        let long = try row("A000000004", "FA", 160)
        let keys = try CAPublicKeys(environment: .test, keys: [key(short), key(long)])
        let rid = try hex("A000000004")
        #expect(keys.key(rid: rid, index: 0xFA, certificateLength: 144)?.checksum == (try hex(short.sha1)))
        #expect(keys.key(rid: rid, index: 0xFA, certificateLength: 160)?.checksum == (try hex(long.sha1)))
        #expect(keys.key(rid: rid, index: 0xFA, certificateLength: 145) == nil)
        #expect(keys.key(rid: rid, index: 0xFB) == nil)
        #expect(keys.key(rid: visa, index: 0xFA) == nil)
    }

    @Test func `two keys that nothing tells apart are refused`() throws {
        let same = try Vectors.caKeys().filter { $0.rid == "A000000333" && $0.index == "80" }
        #expect(same.count == 2)
        let keys = try same.map { try key($0) }
        #expect(throws: CAPublicKeyError.duplicate(index: 0x80)) {
            try CAPublicKeys(environment: .test, keys: keys)
        }
    }

    @Test func `test and live keys do not mix`() throws {
        let test = try key(row("A000000003", "92", 176))
        #expect(throws: CAPublicKeyError.wrongEnvironment) {
            try CAPublicKeys(environment: .live, keys: [test])
        }
        let live = try key(row("A000000003", "09", 248), environment: .live)
        #expect(throws: CAPublicKeyError.wrongEnvironment) {
            try CAPublicKeys(environment: .test, keys: [live])
        }
        #expect(try CAPublicKeys(environment: .live, keys: [live]).count == 1)
    }

    @Test func `a published test key is refused for live use even when it is called live`() throws {
        let disguised = try key(row("A000000003", "92", 176), environment: .live)
        #expect(throws: CAPublicKeyError.wrongEnvironment) {
            try CAPublicKeys(environment: .live, keys: [disguised])
        }
    }

    @Test func `the built-in test keys hold every row and agree with the collected list`() throws {
        let keys = CAPublicKeys.test
        #expect(keys.environment == .test)
        #expect(keys.count == 38 + 13 + 63)
        for (rid, index, length) in [("A000000003", "92", 176), ("A000000004", "FA", 144), ("A000000004", "EF", 248)] {
            let expected = try row(rid, index, length)
            let found = keys.key(
                rid: try hex(rid), index: try hex(index)[0], certificateLength: length)
            #expect(found?.checksum == (try hex(expected.sha1)))
        }
        #expect(keys.key(rid: visa, index: 0xE0)?.key.byteCount == 176)
    }

    /// Published with a test card's or a test tool's documentation; each was missing once.
    private static let thirteen = [
        ("A000000025", ["04", "62", "65", "67", "68", "A1", "B9"]), ("A000000152", ["5A", "5B"]),
        ("B012345678", ["00", "02", "05", "F8"]),
    ]

    @Test func `the test terminal has the keys of both further lists`() throws {
        let collected = try Vectors.caKeys()
        let second = try VectorFile.rows("ca-public-keys/second-list.jsonl", as: Vectors.CAKey.self)
        #expect(second.count == 63)
        let thirteen = Self.thirteen.flatMap { rid, indices in
            indices.compactMap { index in collected.first { $0.rid == rid && $0.index == index } }
        }
        #expect(thirteen.count == 13)
        for row in thirteen + second {
            let found = CAPublicKeys.test.key(
                rid: try hex(row.rid), index: try hex(row.index)[0], certificateLength: row.modulus.utf8.count / 2)
            #expect(found?.checksum == (try hex(row.sha1)), "\(row.rid) \(row.index)")
        }
    }

    @Test
    func
        `in live mode a confirmed test key is refused, and a key of unconfirmed environment is the acquirer's to give`()
        throws
    {
        let amex = try #require(Vectors.caKeys().first { $0.rid == "A000000025" && $0.index == "A1" })
        let disguised = try key(amex, environment: .live)
        #expect(throws: CAPublicKeyError.wrongEnvironment) { try CAPublicKeys(environment: .live, keys: [disguised]) }
        let discover = try #require(Vectors.caKeys().first { $0.rid == "A000000152" && $0.index == "5A" })
        let second = try VectorFile.rows("ca-public-keys/second-list.jsonl", as: Vectors.CAKey.self)
        let live = try CAPublicKeys(
            environment: .live, keys: ([discover] + second).map { try key($0, environment: .live) })
        #expect(live.count == 64)
    }

    @Test func `every reason for refusal has a text`() {
        let all: [CAPublicKeyError] = [
            .notHexadecimal, .badRID, .badIndex, .badModulus, .badExponent, .badExpiry, .wrongChecksum,
            .wrongEnvironment, .duplicate(index: 7),
        ]
        #expect(Set(all.map(\.description)).count == all.count)
    }
}
