// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import Testing

@testable import EMVCrypto

/// Single recoveries, collected from the tests of another implementation.
@Suite struct RecoveryTests {
    private func vector(_ id: String) throws -> Vectors.Recovery {
        try #require(Vectors.recoveries().first { $0.id == id })
    }

    private func key(_ key: Vectors.PublicKey?) throws -> RSAPublicKey {
        let key = try #require(key)
        let exponent = try #require(RSAPublicKey.exponent(hex(key.exponent)))
        return try #require(RSAPublicKey(modulus: hex(key.modulus), exponent: exponent))
    }

    private func issuerKey(_ vector: Vectors.Recovery) throws -> RSAPublicKey {
        let ca = try #require(vector.ca)
        let authority = try CAPublicKey(
            rid: hex(ca.rid), index: hex(ca.index)[0], modulus: hex(ca.modulus), exponent: hex(ca.exponent),
            checksum: CAPublicKey.checksum(
                rid: hex(ca.rid), index: hex(ca.index)[0], modulus: hex(ca.modulus), exponent: hex(ca.exponent)),
            environment: .test)
        let request = AuthenticationRequest(
            method: .sda, rid: try hex(ca.rid), caIndex: try hex(ca.index)[0],
            issuerCertificate: try hex(vector.certificate), issuerExponent: try hex(vector.icc["9F32"] ?? "03"),
            issuerRemainder: try hex(vector.icc["92"]), iccCertificate: [], iccExponent: [], iccRemainder: [],
            signature: [], pan: try hex(vector.icc["5A"]), staticData: [],
            date: try #require(EMVDate(yymmdd: hex(vector.date ?? "200101"))))
        return try CertificateChain(
            keys: CAPublicKeys(environment: .test, keys: [authority]), request: request
        ).issuerKey()
    }

    @Test func `nine recoveries are collected`() throws {
        #expect(try Vectors.recoveries().count == 9)
    }

    @Test(arguments: ["emv_rsa_test.c#5", "emv_rsa_cda_test.c#1"])
    func `a good issuer certificate yields its key`(_ id: String) throws {
        let vector = try vector(id)
        let key = try issuerKey(vector)
        let expected = try hex(vector.expected.issuer_key?.modulus)
        // A list of collected results may leave out what stands in the remainder; here none of them does.
        #expect(Modulus.bytes(key.modulus.limbs, count: key.byteCount).starts(with: expected))
    }

    @Test func `a damaged issuer certificate recovers to nothing`() throws {
        let vector = try vector("emv_rsa_test.c#1")
        #expect(throws: AuthenticationFailure.malformedRecoveredData) { try issuerKey(vector) }
    }

    @Test func `another exponent beside a good certificate breaks its hash`() throws {
        let vector = try vector("emv_rsa_test.c#3")
        #expect(throws: AuthenticationFailure.issuerCertificateHash) { try issuerKey(vector) }
    }

    @Test func `a signed static data block carries its code and hash`() throws {
        let vector = try vector("emv_rsa_test.c#7")
        let recovered = try RecoveredData(
            hex(vector.ssad), with: key(vector.issuer_key), format: .signedStaticData)
        #expect(Array(recovered.bytes[3..<5]) == (try hex(vector.expected.data_auth_code)))
        #expect(Array(recovered.hash) == (try hex(vector.expected.hash)))
        #expect(!recovered.isHash(followedBy: []))
    }

    @Test func `an ICC certificate carries PAN, expiry and key`() throws {
        let vector = try vector("emv_rsa_test.c#11")
        let expected = try #require(vector.expected.icc_key)
        let recovered = try RecoveredData(
            hex(vector.certificate), with: key(vector.issuer_key), format: .iccCertificate)
        #expect(Array(recovered.bytes[2..<12]) == (try hex(expected.pan)))
        #expect(Array(recovered.bytes[12..<14]) == (try hex(expected.cert_exp)))
        let icc = try CertifiedKey.assembled(
            field: recovered.bytes[21..<(recovered.bytes.count - 21)], length: Int(recovered.bytes[19]),
            remainder: hex(vector.icc["9F48"]), exponent: hex(vector.icc["9F47"]))
        #expect(Modulus.bytes(icc.modulus.limbs, count: icc.byteCount) == (try hex(expected.modulus)))
    }

    @Test(arguments: ["emv_rsa_test.c#13", "emv_rsa_cda_test.c#3"])
    func `a damaged dynamic signature recovers to nothing`(_ id: String) throws {
        let vector = try vector(id)
        let key = try key(vector.icc_key)
        #expect(throws: AuthenticationFailure.malformedRecoveredData) {
            try RecoveredData(hex(vector.sdad), with: key, format: .signedDynamicData)
        }
    }

    @Test func `a remainder must have exactly the bytes that the certificate lacks`() throws {
        let field = ArraySlice([UInt8](repeating: 0xC1, count: 70))
        func assemble(_ length: Int, _ remainder: Int) throws(AuthenticationFailure) -> RSAPublicKey {
            try CertifiedKey.assembled(
                field: field, length: length, remainder: [UInt8](repeating: 0xC1, count: remainder), exponent: [3])
        }
        #expect(try assemble(70, 0).byteCount == 70)
        #expect(try assemble(64, 0).byteCount == 64)
        #expect(try assemble(96, 26).byteCount == 96)
        #expect(throws: AuthenticationFailure.lengthMismatch) { try assemble(70, 1) }
        #expect(throws: AuthenticationFailure.lengthMismatch) { try assemble(96, 25) }
        #expect(throws: AuthenticationFailure.lengthMismatch) { try assemble(96, 27) }
        #expect(throws: AuthenticationFailure.dataMissing) { try assemble(96, 0) }
        #expect(throws: AuthenticationFailure.malformedRecoveredData) { try assemble(0, 0) }
    }
}
