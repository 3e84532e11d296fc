// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import TestSupport
import Testing

@testable import EMVCrypto

@Suite struct OfflineAuthenticationTests {
    private static func dynamic() throws -> [Vectors.Chain] {
        try Vectors.chains().filter { $0.expected.method != nil }
    }
    private static func withStatic() throws -> [Vectors.Chain] {
        try Vectors.chains().filter { !$0.request.ssad.isEmpty }
    }

    private func result(
        _ chain: Vectors.Chain, sda: Bool = false, _ change: (inout AuthenticationRequest) -> Void = { _ in }
    ) throws -> AuthenticationResult {
        var request = try chain.authenticationRequest(sda: sda)
        change(&request)
        return OfflineAuthentication.using(try chain.keys()).verify(request)
    }

    private func chain(_ id: String) throws -> Vectors.Chain {
        try #require(Vectors.chains().first { $0.id.hasPrefix(id) })
    }

    @Test func `every collected dynamic signature verifies with the documented numbers`() throws {
        #expect(try Self.dynamic().count == 5)
        for chain in try Self.dynamic() {
            let expected = AuthenticatedData(
                iccDynamicNumber: try hex(chain.expected.iccDynamicNumber),
                cryptogram: try hex(chain.expected.cryptogram))
            #expect(try result(chain) == .verified(expected), "\(chain.id)")
        }
    }

    @Test func `every collected static signature verifies with the documented code`() throws {
        #expect(try Self.withStatic().count == 3)
        for chain in try Self.withStatic() {
            let expected = AuthenticatedData(
                dataAuthenticationCode: try hex(chain.expected.dataAuthenticationCode))
            let pan = try chain.panOfIssuer
            #expect(try result(chain, sda: true) { $0.pan = pan } == .verified(expected), "\(chain.id)")
        }
    }

    @Test func `a collected card whose PAN is not its issuer's is refused`() throws {
        #expect(try result(chain("javaemvreader")) == .failed(.issuerIdentifierMismatch))
    }

    @Test func `the recovered keys are the documented ones`() throws {
        for chain in try Vectors.chains() {
            var request = try chain.authenticationRequest()
            request.pan = try chain.panOfIssuer
            let certificates = CertificateChain(keys: try chain.keys(), request: request)
            let issuer = try certificates.issuerKey()
            #expect(
                Modulus.bytes(issuer.modulus.limbs, count: issuer.byteCount)
                    == (try hex(chain.expected.issuerModulus)))
            if chain.expected.method != nil {
                let icc = try certificates.iccKey()
                #expect(
                    Modulus.bytes(icc.modulus.limbs, count: icc.byteCount)
                        == (try hex(chain.expected.iccModulus)))
            }
        }
    }

    @Test(arguments: try dynamic().indices)
    func `a changed byte anywhere fails`(_ index: Int) throws {
        let chain = try Self.dynamic()[index]
        let verify = OfflineAuthentication.using(try chain.keys()).verify
        let original = try chain.authenticationRequest()
        let fields: [WritableKeyPath<AuthenticationRequest, [UInt8]>] = [
            \.rid, \.issuerCertificate, \.issuerExponent, \.issuerRemainder, \.iccCertificate, \.iccExponent,
            \.iccRemainder, \.signature, \.pan, \.staticData,
        ]
        for field in fields {
            let count = original[keyPath: field].count
            for position in Set([0, count - 1] + stride(from: 3, to: count, by: 11)) where count > 0 {
                var request = original
                request[keyPath: field][position] ^= 1 << UInt8(position % 8)
                #expect(!verify(request).isVerified, "byte \(position) of \(field)")
            }
        }
    }

    @Test(arguments: try dynamic().indices)
    func `a field that lost or gained a byte fails`(_ index: Int) throws {
        let chain = try Self.dynamic()[index]
        let verify = OfflineAuthentication.using(try chain.keys()).verify
        let original = try chain.authenticationRequest()
        let fields: [WritableKeyPath<AuthenticationRequest, [UInt8]>] = [
            \.rid, \.issuerCertificate, \.issuerExponent, \.issuerRemainder, \.iccCertificate, \.iccExponent,
            \.iccRemainder, \.signature, \.staticData,
        ]
        for field in fields {
            var longer = original
            longer[keyPath: field].append(0x03)
            #expect(!verify(longer).isVerified, "longer \(field)")
            guard !original[keyPath: field].isEmpty else { continue }
            var shorter = original
            shorter[keyPath: field].removeLast()
            #expect(!verify(shorter).isVerified, "shorter \(field)")
            var empty = original
            empty[keyPath: field] = []
            #expect(!verify(empty).isVerified, "empty \(field)")
        }
    }

    @Test func `what the terminal put into the hash counts`() throws {
        for chain in try Self.dynamic() {
            let answer = try result(chain) { request in
                switch request.method {
                case .sda: break
                case .dda(var data):
                    data[0] ^= 1
                    request.method = .dda(terminalDynamicData: data)
                case .cda(var number, let data, let information):
                    number[3] ^= 1
                    request.method = .cda(
                        unpredictableNumber: number, transactionData: data, cryptogramInformation: information)
                }
            }
            #expect(answer == .failed(.signatureHash), "\(chain.id)")
        }
    }

    @Test func `CDA checks the cryptogram information and the transaction data`() throws {
        let chain = try chain("cppemv_mock-msc-online")
        guard
            case .cda(let number, let data, let information) = try chain.authenticationRequest().method
        else {
            Issue.record("no CDA vector")
            return
        }
        let otherCID = try result(chain) {
            $0.method = .cda(
                unpredictableNumber: number, transactionData: data, cryptogramInformation: information ^ 0xC0)
        }
        #expect(otherCID == .failed(.cryptogramInformationMismatch))
        for position in data.indices {
            var changed = data
            changed[position] ^= 0x10
            let answer = try result(chain) {
                $0.method = .cda(
                    unpredictableNumber: number, transactionData: changed, cryptogramInformation: information)
            }
            #expect(answer == .failed(.transactionDataHash))
        }
    }

    @Test func `the AIP belongs to the static data only where 9F4A says so`() throws {
        let visa = try chain("cppemv_mock-visa-offline")
        #expect(try result(visa) { $0.staticData += [0x20, 0x00] } == .failed(.iccCertificateHash))
        let mastercard = try chain("cppemv_mock-msc-online")
        #expect(try result(mastercard) { $0.staticData.removeLast(2) } == .failed(.iccCertificateHash))
    }

    @Test func `certificates end with the last day of their month`() throws {
        let chain = try chain("cppemv_mock-visa-offline")
        let last = EMVDate(year: 2019, month: 12, day: 31)
        #expect(try result(chain) { $0.date = last }.isVerified)
        let late = EMVDate(year: 2020, month: 1, day: 1)
        #expect(try result(chain) { $0.date = late } == .failed(.issuerCertificateExpired))
        let mastercard = try self.chain("cppemv_mock-msc-online")
        let between = EMVDate(year: 2026, month: 1, day: 1)
        #expect(try result(mastercard) { $0.date = between } == .failed(.iccCertificateExpired))
        #expect(try result(mastercard, sda: true) { $0.date = between }.isVerified)
    }

    @Test func `the PAN must be the certified one`() throws {
        let chain = try chain("cppemv_mock-visa-offline")
        let other = try hex("4761739001010011")
        #expect(try result(chain) { $0.pan = other } == .failed(.panMismatch))
        let otherIssuer = try hex("4761749001010010")
        #expect(try result(chain) { $0.pan = otherIssuer } == .failed(.issuerIdentifierMismatch))
        let filled = try hex("4761739001010010FFFF")
        #expect(try result(chain) { $0.pan = filled }.isVerified)
        #expect(try result(chain) { $0.pan = [] } == .failed(.issuerIdentifierMismatch))
    }

    @Test func `a missing or expired CA key is told apart from a wrong certificate length`() throws {
        let chain = try chain("cppemv_mock-visa-offline")
        #expect(try result(chain) { $0.caIndex = 0x93 } == .failed(.caKeyMissing))
        #expect(try result(chain) { $0.issuerCertificate.removeLast() } == .failed(.lengthMismatch))
        let request = try chain.authenticationRequest()
        let expired = OfflineAuthentication.using(try chain.keys(expiry: "20181130"))
        #expect(expired.verify(request) == .failed(.caKeyMissing))
        let lastDay = OfflineAuthentication.using(try chain.keys(expiry: "20181201"))
        #expect(lastDay.verify(request).isVerified)
        #expect(OfflineAuthentication.using(.none(.live)).verify(request) == .failed(.caKeyMissing))
        #expect(
            OfflineAuthentication.using(.none(.test)).hasKey(request.rid, request.caIndex, on: request.date) == false)
        #expect(OfflineAuthentication.using(.test).hasKey(request.rid, request.caIndex, on: request.date))
    }

    @Test func `a revoked issuer certificate is refused by RID, index and serial`() throws {
        let chain = try chain("cppemv_mock-visa-offline")
        let request = try chain.authenticationRequest()
        let serial: [UInt8] = [0x03, 0x49, 0x69]
        let revoked = try chain.keys(revoked: [.init(rid: request.rid, caIndex: request.caIndex, serial: serial)])
        #expect(OfflineAuthentication.using(revoked).verify(request) == .failed(.issuerCertificateRevoked))
        let other = try chain.keys(revoked: [.init(rid: request.rid, caIndex: 0x91, serial: serial)])
        #expect(OfflineAuthentication.using(other).verify(request).isVerified)
    }

    @Test func `what the method needs and the card lacks is named`() throws {
        let chain = try chain("cppemv_mock-visa-offline")
        #expect(try result(chain) { $0.issuerCertificate = [] } == .failed(.dataMissing))
        #expect(try result(chain) { $0.issuerExponent = [] } == .failed(.dataMissing))
        #expect(try result(chain) { $0.iccCertificate = [] } == .failed(.dataMissing))
        #expect(try result(chain) { $0.iccExponent = [] } == .failed(.dataMissing))
        #expect(try result(chain) { $0.signature = [] } == .failed(.dataMissing))
        let mastercard = try self.chain("cppemv_mock-msc-online")
        #expect(try result(mastercard, sda: true) { $0.signature = [] } == .failed(.dataMissing))
    }

    @Test func `random certificates and signatures never trap`() throws {
        var random = SeededGenerator(seed: 42)
        let verify = OfflineAuthentication.using(.test).verify
        let original = try chain("cppemv_mock-msc-online").authenticationRequest()
        for _ in 0..<200 {
            var request = original
            func noise(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0...255, using: &random) } }
            request.issuerCertificate = noise([0, 1, 63, 144, 248].randomElement(using: &random) ?? 0)
            request.iccCertificate = noise(.random(in: 0...256, using: &random))
            request.signature = noise(.random(in: 0...256, using: &random))
            request.pan = noise(.random(in: 0...10, using: &random))
            #expect(!verify(request).isVerified)
        }
    }
}

extension AuthenticationResult {
    var isVerified: Bool {
        if case .verified = self { return true }
        return false
    }
}
