// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import TestSupport
import Testing

@testable import EMVCrypto

/// Signatures and certificates of kernel 8; the chain is the worked example of Book E.
@Suite struct C8CertificateTests {
    private static let date = EMVDate(year: 2026, month: 6, day: 7)
    private static let noon = EMVTime(hour: 12, minute: 0, second: 0)

    private func chain() throws -> (row: C8Vector, request: LocalAuthenticationRequest) {
        let row = try #require(C8Vector.rows("chain").first)
        return (
            row,
            LocalAuthenticationRequest(
                rid: row["rid"], caIndex: row["index"].first ?? 0, issuerCertificate: row["issuerCertificate"],
                iccCertificate: row["iccCertificate"], pan: row["pan"], staticDataHash: row["staticDataHash"],
                blindedKey: row["blindedKey"], blindingFactor: row["blindingFactor"], date: Self.date,
                time: Self.noon)
        )
    }

    private func keys(
        _ row: C8Vector, expiry: EMVDate? = nil, revoked: Set<RevokedCertificate> = []
    ) throws -> CAECCPublicKeys {
        let key = try CAECCPublicKey(
            rid: row["rid"], index: row["index"].first ?? 0, point: row["authority"], expiry: expiry,
            environment: .test)
        return try CAECCPublicKeys(environment: .test, keys: [key], revoked: revoked)
    }

    private func failure(
        _ change: (inout LocalAuthenticationRequest) -> Void
    ) throws -> LocalAuthenticationFailure? {
        var (row, request) = try chain()
        change(&request)
        return SecureChannelCryptography.using(try keys(row)).authenticate(request)
    }

    @Test func `good signatures verify`() throws {
        let rows = try C8Vector.rows("signature")
        try #require(rows.count == 8)
        for row in rows {
            let key = try #require(CurvePoint(row["key"]))
            #expect(try #require(SchnorrSignature(row["signature"])).isValid(row["message"], by: key))
        }
    }

    @Test func `a change anywhere breaks a signature`() throws {
        var generator = SeededGenerator(seed: 8)
        for row in try C8Vector.rows("signature") {
            let key = try #require(CurvePoint(row["key"]))
            for _ in 0..<8 {
                var signature = row["signature"]
                signature[.random(in: 0..<64, using: &generator)] ^= .random(in: 1...255, using: &generator)
                #expect(try #require(SchnorrSignature(signature)).isValid(row["message"], by: key) == false)
            }
            let signature = try #require(SchnorrSignature(row["signature"]))
            #expect(!signature.isValid(row["message"] + [0], by: key))
            #expect(
                !signature.isValid(row["message"], by: try #require(CurvePoint(factor: row["signature"].suffix(32)))))
            // The same x-coordinate is another key where y is the other one.
            #expect(!signature.isValid(row["message"], by: try #require(key.negated)))
        }
    }

    @Test func `a signature of numbers out of range is none`() throws {
        let row = try #require(C8Vector.rows("signature").first)
        let key = try #require(CurvePoint(row["key"]))
        let zero = [UInt8](repeating: 0, count: 32)
        let one = [UInt8](repeating: 0, count: 31) + [1]
        let highest = [UInt8](repeating: 0xFF, count: 32)
        for r in [zero, one, CurvePoint.order, highest] {
            for s in [zero, one, CurvePoint.order, highest] {
                #expect(try #require(SchnorrSignature(r + s)).isValid(row["message"], by: key) == false)
            }
        }
        #expect(SchnorrSignature(zero) == nil)
    }

    @Test func `a point is rebuilt from its x-coordinate with the smaller y`() throws {
        let row = try #require(C8Vector.rows("chain").first)
        let authority = try #require(CurvePoint(row["authority"]))
        #expect(CurvePoint(x: authority.x) == authority)
        let negated = try #require(authority.negated)
        #expect(negated.y != authority.y && negated.negated == authority)
        #expect(CurvePoint(x: negated.x) == authority)
        #expect(authority.adding(authority) == nil && authority.adding(negated) == nil)
        #expect(CurvePoint(row["authority"].dropLast() + [0]) == nil)
    }

    @Test func `the published chain authenticates`() throws { #expect(try failure { _ in } == nil) }

    @Test func `every check has its own failure`() throws {
        #expect(try failure { $0.caIndex = 0xE1 } == .caKeyMissing)
        #expect(try failure { $0.rid = [0xA0, 0, 0, 0, 3] } == .caKeyMissing)
        #expect(try failure { $0.issuerCertificate.removeLast() } == .unsupportedIssuerCertificate)
        #expect(try failure { $0.issuerCertificate[0] = 0x02 } == .unsupportedIssuerCertificate)
        #expect(try failure { $0.issuerCertificate[7] = 0x11 } == .unsupportedIssuerCertificate)
        #expect(try failure { $0.issuerCertificate[8] = 0xAA } == .unsupportedIssuerCertificate)
        #expect(try failure { $0.pan[3] = 0x91 } == .issuerIdentifierMismatch)
        #expect(try failure { $0.date = EMVDate(year: 2031, month: 1, day: 1) } == .issuerCertificateExpired)
        #expect(try failure { $0.issuerCertificate[19] = 0x03 } == .certificationAuthorityMismatch)
        #expect(try failure { $0.issuerCertificate[20] = 0xE1 } == .certificationAuthorityMismatch)
        #expect(try failure { $0.issuerCertificate[14] ^= 0x01 } == .issuerSignature)
        #expect(try failure { $0.issuerCertificate[116] ^= 0x01 } == .issuerSignature)
        #expect(try failure { $0.iccCertificate.append(0) } == .unsupportedICCCertificate)
        #expect(try failure { $0.iccCertificate[16] = 0x01 } == .unsupportedICCCertificate)
        #expect(try failure { $0.staticDataHash[0] ^= 0x80 } == .staticDataHash)
        #expect(try failure { $0.iccCertificate[14] ^= 0x01 } == .iccSignature)
        #expect(try failure { $0.iccCertificate[144] ^= 0x01 } == .iccSignature)
        #expect(try failure { $0.blindingFactor[31] ^= 0x01 } == .blindingFactor)
        #expect(try failure { $0.blindingFactor = [UInt8](repeating: 0, count: 32) } == .blindingFactor)
    }

    @Test func `the card's certificate ends with its last minute`() throws {
        func failure(day: Int, hour: Int, minute: Int) throws -> LocalAuthenticationFailure? {
            try self.failure {
                $0.date = EMVDate(year: 2029, month: 12, day: day)
                $0.time = EMVTime(hour: hour, minute: minute, second: 30)
                $0.iccCertificate[7] = 0x12
                $0.iccCertificate[8] = 0x00
            }
        }
        // The signature does not fit the changed minute: it is what fails next.
        #expect(try failure(day: 31, hour: 12, minute: 0) == .iccSignature)
        #expect(try failure(day: 31, hour: 12, minute: 1) == .iccCertificateExpired)
        #expect(try failure(day: 30, hour: 23, minute: 59) == .iccSignature)
    }

    @Test func `CA keys expire and issuer certificates are revoked`() throws {
        let (row, request) = try chain()
        let expired = try keys(row, expiry: EMVDate(year: 2026, month: 6, day: 6))
        #expect(SecureChannelCryptography.using(expired).authenticate(request) == .caKeyMissing)
        let lastDay = try keys(row, expiry: Self.date)
        #expect(SecureChannelCryptography.using(lastDay).authenticate(request) == nil)
        let serial = Array(request.issuerCertificate[12..<15])
        let revoked = try keys(row, revoked: [RevokedCertificate(rid: row["rid"], caIndex: 0xE0, serial: serial)])
        #expect(SecureChannelCryptography.using(revoked).authenticate(request) == .issuerCertificateRevoked)
    }

    @Test func `test and live CA keys stay apart`() throws {
        let published = try #require(CAECCPublicKey.publishedTestKey)
        #expect(CAECCPublicKeys.test.key(rid: published.rid, index: published.index) != nil)
        let disguised = try CAECCPublicKey(
            rid: [0xA0, 0, 0, 0, 4], index: 1, point: published.point, environment: .live)
        #expect(throws: CAPublicKeyError.wrongEnvironment) {
            try CAECCPublicKeys(environment: .live, keys: [disguised])
        }
        #expect(throws: CAPublicKeyError.wrongEnvironment) {
            try CAECCPublicKeys(environment: .live, keys: [published])
        }
        #expect(throws: CAPublicKeyError.duplicate(index: published.index)) {
            try CAECCPublicKeys(environment: .test, keys: [published, published])
        }
        #expect(throws: CAPublicKeyError.badRID) {
            try CAECCPublicKey(rid: [1], index: 1, point: published.point, environment: .test)
        }
        #expect(throws: CAPublicKeyError.badPoint) {
            try CAECCPublicKey(
                rid: published.rid, index: 1, point: Array(published.point.dropLast()), environment: .test)
        }
        // Beside live RSA keys there is no ECC key unless one is given.
        var request = try chain().request
        request.rid = published.rid
        request.caIndex = published.index
        let live = OfflineAuthentication.using(.none(.live)).secureChannel
        #expect(live.authenticate(request) == .caKeyMissing)
        #expect(OfflineAuthentication.using(.test).secureChannel.authenticate(request) != .caKeyMissing)
    }

    @Test func `random certificates never trap`() throws {
        var generator = SeededGenerator(seed: 9)
        for _ in 0..<200 {
            let result = try failure {
                for _ in 0..<3 {
                    $0.issuerCertificate[.random(in: 0..<117, using: &generator)] = .random(
                        in: 0...255, using: &generator)
                    $0.iccCertificate[.random(in: 0..<145, using: &generator)] = .random(in: 0...255, using: &generator)
                }
                if Bool.random(using: &generator) {
                    $0.iccCertificate = (0..<Int.random(in: 0...200, using: &generator)).map { _ in
                        .random(in: 0...255, using: &generator)
                    }
                }
            }
            #expect(result != nil)
        }
    }
}
