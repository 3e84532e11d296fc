// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Crypto
import Testing

@testable import EMV
@testable import EMVCrypto

/// Kernel 8's cryptography and certificates against vectors made with an independent P-256 routine
/// (Tests/Vectors/emv/second-reading.jsonl).
@Suite("Second reading: cryptography")
struct SecondReadingCryptographyTests {
    @Test func `a CA key agrees with its checksum and with no other`() throws {
        for line in try SecondReading.lines("ecc_ca_checksum") {
            let rid = try line.bytes("rid")
            let index = try #require(line.bytes("index").first)
            let point = try line.bytes("x") + line.bytes("y")
            for name in ["expect_sha256", "expect_sha1"] {
                var checksum = try line.bytes(name)
                _ = try CAECCPublicKey(rid: rid, index: index, point: point, checksum: checksum, environment: .test)
                checksum[0] ^= 1
                #expect(throws: CAPublicKeyError.wrongChecksum) {
                    try CAECCPublicKey(rid: rid, index: index, point: point, checksum: checksum, environment: .test)
                }
            }
        }
    }

    @Test func `certificates of issuer and card are recovered`() throws {
        for line in try SecondReading.lines("ecc_issuer_certificate") {
            let certificate = try #require(IssuerECCCertificate(try line.bytes("certificate")))
            let authority = try #require(CurvePoint(x: try line.bytes("ca_x")))
            let expected = try line.object("expect")
            #expect(certificate.isSigned(by: authority))
            #expect(certificate.key.x == (try expected.bytes("issuer_x")))
            #expect(try BCD.digits(line.bytes("pan"))?.starts(with: certificate.issuerIdentifier) == true)
            #expect(certificate.rid == (try line.bytes("rid")))
            var changed = try line.bytes("certificate")
            changed[60] ^= 1
            #expect(IssuerECCCertificate(changed)?.isSigned(by: authority) != true)
        }
        for line in try SecondReading.lines("ecc_icc_certificate") {
            guard SecondReading.isFollowed(line) else {
                #expect(ICCECCCertificate(try line.bytes("certificate")) == nil)
                continue
            }
            let certificate = try #require(ICCECCCertificate(try line.bytes("certificate")))
            let issuer = try #require(CurvePoint(x: try line.bytes("issuer_x")))
            #expect(certificate.isSigned(by: issuer))
            #expect(certificate.key.x == (try line.object("expect").bytes("icc_x")))
            #expect(certificate.staticDataHash == Array(SHA256.hash(data: try line.bytes("static_data"))))
            let noon = EMVTime(hour: 12, minute: 0, second: 0)
            #expect(certificate.isValid(on: EMVDate(year: 2026, month: 6, day: 1), at: noon))
        }
    }

    @Test func `signatures hold for their message only`() throws {
        for line in try SecondReading.lines("ec_sdsa") {
            let key = try #require(CurvePoint(x: try line.bytes("x")))
            let name = line["signature"] == nil ? "expect_signature" : "signature"
            let signature = try #require(SchnorrSignature(try line.bytes(name)))
            let isValid = (line["expect"] as? String)?.hasPrefix("invalid") != true
            #expect(signature.isValid(try line.bytes("message"), by: key) == isValid, "\(line.id)")
        }
    }

    @Test func `a blinded key agreement ends in the same keys on both sides`() throws {
        for line in try SecondReading.lines("k8_bdh") {
            let expected = try line.object("expect")
            let kernelKey = try line.bytes("kernel_private")
            let point = try #require(CurvePoint(factor: kernelKey))
            #expect(point.x + point.y == (try line.bytes("kernel_point_9E")))
            let data = try line.bytes("card_key_data_9F8103")
            let blinded = Array(data.prefix(32))
            let card = try #require(CurvePoint(x: try line.bytes("card_public_x")))
            #expect(card.x(times: try line.bytes("blinding")) == blinded)
            let secret = try #require(CurvePoint(x: blinded)?.x(times: kernelKey))
            #expect(secret == (try expected.bytes("z")))
            let keys = try #require(SessionKeys(secret: secret))
            let integrity = try #require(AES128(key: try expected.bytes("SKi")))
            #expect(keys.integrity.mac([1, 2, 3]) == integrity.mac([1, 2, 3]))
            #expect(keys.apply(counter: 0x8000, Array(data.suffix(32))) == (try line.bytes("blinding")))
        }
    }

    @Test func `MACs and records are computed as the other implementation computes them`() throws {
        for line in try SecondReading.lines("k8_iad_mac") {
            let key = try #require(AES128(key: try line.bytes("SKi")))
            let mac = key.macPlus([0, 0] + (try line.bytes("input_data"))).prefix(8)
            #expect(Hex.string(Array(mac)) == (try line.text("expect_iad_mac")), "\(line.id)")
        }
        for line in try SecondReading.lines("k8_eda_mac") {
            let key = try #require(AES128(key: try line.bytes("SKi")))
            let mac = key.mac([0, 0] + (try line.bytes("ac")) + (try line.bytes("iad_mac"))).prefix(8)
            #expect(Hex.string(Array(mac)) == (try line.text("expect")), "\(line.id)")
        }
        for line in try SecondReading.lines("k8_record") {
            let key = try #require(AES128(key: try line.bytes("SKc")))
            let record = try line.bytes("record")
            let counter = try line.bytes("card_message_counter").reduce(0) { $0 << 8 | UInt64($1) }
            let content = key.apply(
                Array(record.dropFirst(2)), start: AES128.Block(high: counter << 48, low: 0))
            let expected = try line.bytes("expect")
            #expect([0x70, record[1]] + content == expected, "\(line.id)")
        }
    }
}
