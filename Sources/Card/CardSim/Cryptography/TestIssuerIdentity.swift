// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// One issuer of test cards: which PANs are its own, who certifies it, and its secrets. All of it is public.
struct TestIssuerIdentity: Sendable {
    /// Where 9F10 keeps the cryptogram version.
    enum IssuerDataLayout: Sendable {
        /// Length (06), key index, CVN, four bytes of card verification results.
        case lengthFirst
        /// Key index, CVN, six or eight bytes of card verification results.
        case keyIndexFirst
    }

    /// First digits of its PANs.
    let identifier: [UInt8]
    let rid: [UInt8]
    let authority: RSAPrivateKey?
    let key: RSAPrivateKey?
    /// Issuer master key for application cryptograms, 16 bytes. TEST.
    let masterKey: [UInt8]
    let layout: IssuerDataLayout

    /// CA public key index of all test issuers.
    static let caIndex: UInt8 = 0xE0
    /// Certificates of issuers and cards are valid through 12/49, the last month that MMYY can name.
    static let certificateExpiry: [UInt8] = [0x12, 0x49]

    static let visa = TestIssuerIdentity(
        identifier: [4, 7, 6, 1, 7, 3], rid: .hex("A000000003"), authority: TestPrivateKeys.visaCA,
        key: TestPrivateKeys.visaIssuer, masterKey: .hex("8CD5CECB32256840A14FDA15BF58FB57"), layout: .lengthFirst)

    static let mastercard = TestIssuerIdentity(
        identifier: [5, 4, 1, 3, 3, 3], rid: .hex("A000000004"), authority: TestPrivateKeys.mastercardCA,
        key: TestPrivateKeys.mastercardIssuer, masterKey: .hex("1F6D839ECDB53EC82334989B31A464B3"),
        layout: .keyIndexFirst)

    static let amex = general([3, 7, 4, 2, 4, 5], "A000000025")
    static let jcb = general([3, 5, 6, 9, 9, 9], "A000000065")
    static let discover = general([6, 5, 1, 0, 0, 0], "A000000152", .keyIndexFirst)
    static let unionPay = general([6, 2, 1, 0, 9, 4], "A000000333")

    static let all = [visa, mastercard, amex, jcb, discover, unionPay]

    private static func general(
        _ identifier: [UInt8], _ rid: String, _ layout: IssuerDataLayout = .lengthFirst
    ) -> TestIssuerIdentity {
        TestIssuerIdentity(
            identifier: identifier, rid: .hex(rid), authority: TestPrivateKeys.generalCA,
            key: TestPrivateKeys.generalIssuer, masterKey: .hex("7523A2BF5DB34386204546319D7FA10D"),
            layout: layout)
    }

    /// The issuer of a PAN given as digits 0…9.
    static func issuer(of pan: [UInt8]) -> TestIssuerIdentity? { all.first { pan.starts(with: $0.identifier) } }

    /// The card's master key for application cryptograms.
    func cardKey(pan: [UInt8], sequence: UInt8) -> TripleDES? {
        TripleDES(key: masterKey).flatMap { CardKey.master($0, pan: pan, sequence: sequence) }
    }

    /// The cryptogram version of its cards unless their kernel has one of its own. What issuers of schemes other than
    /// Visa and Mastercard really use is not public; these two stand in.
    var version: CryptogramVersion { layout == .keyIndexFirst ? .mastercard20 : .visa18 }

    /// The cryptogram version that an issuer application data (9F10) of this issuer names.
    func version(_ issuerData: [UInt8]) -> CryptogramVersion? {
        let position = layout == .lengthFirst ? 2 : 1
        guard issuerData.count > position else { return nil }
        let version = CryptogramVersion(rawValue: issuerData[position])
        return (version == .mastercard20) == (layout == .keyIndexFirst) ? version : nil
    }

    /// The issuer's public key, certified by the test authority.
    func certificate(expiry: [UInt8] = certificateExpiry) -> KeyCertificate? {
        guard let key, let authority, let subject = BCD.pack(identifier, count: 4) else { return nil }
        return KeyCertificate(
            over: key, signedBy: authority, format: 0x02, subject: subject, expiry: expiry, serial: [0, 0, 0x01])
    }

    /// A card's public key, certified by this issuer.
    func certificate(
        over card: RSAPrivateKey, pan: [UInt8], staticData: [UInt8], expiry: [UInt8] = certificateExpiry
    ) -> KeyCertificate? {
        guard let key, let subject = BCD.pack(pan, count: 10) else { return nil }
        return KeyCertificate(
            over: card, signedBy: key, format: 0x04, subject: subject, expiry: expiry, serial: [0, 0, 0x02],
            staticData: staticData)
    }
}
