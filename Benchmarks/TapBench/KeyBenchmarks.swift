// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import EMVCrypto

/// RSA as offline data authentication needs it, with OpenSSL beside it in the same run.
enum KeyBenchmarks {
    private static let rid: [UInt8] = [0xA0, 0x00, 0x00, 0x00, 0x04]

    static func run() throws {
        let library = try LibCrypto()
        Table.section("RSA, modulus of 1984 bits (beside \(library.version))")
        let tap = try RecordedTap.mastercard()
        let modulus = try Hex.bytes(testModulus)
        guard let certificate = tap.value(0x90), certificate.count == modulus.count,
            let three = RSAPublicKey(modulus: modulus, exponent: 3),
            let large = RSAPublicKey(modulus: modulus, exponent: 65_537)
        else { throw BenchmarkError.wrongResult("the test card's issuer certificate") }
        let request = try request(tap, certificate)
        let readings = Stopwatch.readings(of: [
            try peer(library, modulus, [3], certificate, like: three),
            Subject("e = 3") { Int(three.recover(certificate)?.last ?? 0) },
            Subject("issuer key") { issuerKey(request) },
            try peer(library, modulus, [1, 0, 1], certificate, like: large),
            Subject("e = 65537") { Int(large.recover(certificate)?.last ?? 0) },
        ])
        Table.yardstick("OpenSSL, public operation, e = 3", readings[0])
        Table.row("ours", readings[1], beside: readings[0], target: 1)
        Table.row("issuer key out of its certificate, all checks", readings[2], beside: readings[0], target: 2)
        Table.yardstick("OpenSSL, public operation, e = 65537", readings[3])
        Table.row("ours", readings[4], beside: readings[3], target: 1)
    }

    /// OpenSSL's operation with e = 65537, for other sections to stand beside.
    static func yardstick(_ library: LibCrypto) throws -> Subject {
        let operation = try library.publicOperation(modulus: Hex.bytes(testModulus), exponent: [1, 0, 1])
        let message = [UInt8](repeating: 0x41, count: try Hex.bytes(testModulus).count)
        return Subject("OpenSSL") { Int(operation(message)?.last ?? 0) }
    }

    /// Static data authentication without a signature: it retrieves the issuer's key with every check of EMV Book 2
    /// §5.3, and then misses the signature.
    private static func request(_ tap: RecordedTap, _ certificate: [UInt8]) throws -> AuthenticationRequest {
        guard let index = tap.value(0x8F)?.first, let exponent = tap.value(0x9F32), let pan = tap.value(0x5A) else {
            throw BenchmarkError.wrongResult("the test card's records")
        }
        let request = AuthenticationRequest(
            method: .sda, rid: rid, caIndex: index, issuerCertificate: certificate, issuerExponent: exponent,
            issuerRemainder: tap.value(0x92) ?? [], iccCertificate: [], iccExponent: [], iccRemainder: [],
            signature: [], pan: pan, staticData: [], date: EMVDate(year: 2026, month: 1, day: 15))
        var damaged = request
        damaged.pan = [0x99] + pan.dropFirst()
        guard issuerKey(request) == 1, issuerKey(damaged) == 0 else {
            throw BenchmarkError.wrongResult("the issuer certificate")
        }
        return request
    }

    private static func issuerKey(_ request: AuthenticationRequest) -> Int {
        authentication.verify(request) == .failed(.dataMissing) ? 1 : 0
    }

    private static let authentication = OfflineAuthentication.using(.test.remembering(issuers: 0))

    private static func peer(
        _ library: LibCrypto, _ modulus: [UInt8], _ exponent: [UInt8], _ signature: [UInt8], like ours: RSAPublicKey
    ) throws -> Subject {
        let operation = try library.publicOperation(modulus: modulus, exponent: exponent)
        guard operation(signature) == ours.recover(signature) else {
            throw BenchmarkError.wrongResult("OpenSSL and we differ")
        }
        return Subject("OpenSSL") { Int(operation(signature)?.last ?? 0) }
    }

    /// CA key E0 of A000000004, the test authority's own.
    static let testModulus = """
        D39511D62346A23D28E233FF3D52FF8F6FDBD8B8D7317E4D7B67E8F688974F4D2D47274619738E3AF6879B7DD0C61A0A\
        C13AFB0D29E6A68A69F580AC422EDF5BC92B3DBDBBD5C71E2C03F8BF771CDA37B651DC4657A222A67ECD33E1000A1167\
        8AC8E10219FA4A66F14E6C57E6DBF2F6CFFF6E7251E8BE9DE997A2F1D490E30E4D21952DE9791AC1FD4FEA5398BF4740\
        E9B672466C18073F2EBB76ABFE537C7431410BE8A18ABB253FCE0B100EA848884D8BDFC0E576CA8344038AE5AC83D8C8\
        890E0E4F3246AC920838C3DE9F3566F218330CA4FEE5B20C111B581BE17DC31DDC8C7E2A62D80EDC64491A55E6B797BF\
        19305A2144BBE6B7
        """
}
