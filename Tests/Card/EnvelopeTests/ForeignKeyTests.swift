// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import Envelope

/// Keys as other libraries write them: Authlib 1.9.10, joserfc 1.8.0 and jwcrypto 1.6.1 on cryptography 50.0.2. One key in 128 has a
/// coordinate that begins with eight zero bits; RFC 7518 §6.2.1.2 has it in 32 bytes all the same.
struct ForeignKeyTests {
    private static let y = #""y":"NwAccVDlB75MbGs8yrKGqEN2dZK7bhZV4UAtvTslc5U""#
    private static let authlib =
        #"{"crv":"P-256","x":"NB5Ssc7mJJ98muDXXnC0ryvUSBPiR_SgmGW1quqJFA",\#(y),"kty":"EC","use":"enc","kid":"authlib"}"#
    private static let joserfc =
        #"{"crv":"P-256","x":"ADQeUrHO5iSffJrg115wtK8r1EgT4kf0oJhltarqiRQ",\#(y),"kid":"joserfc","use":"enc","kty":"EC"}"#
    private static let p384 = """
        {"crv":"P-384","x":"OCy4itB6a4S4m03br1TTjvxrKlRM4few6i73CYakbR_6yvhF71v0UgQMrrvAcLEk",\
        "y":"ncxHE6js31JL4P1JhpH564XE86_GAI7ydqN1bluRAXppKZIaS1yWM-Shr0dNwIiM","kid":"p384","use":"enc","kty":"EC"}
        """
    private static let rsa = """
        {"n":"xey11vzs2YTn70AC6T9_ObfhquVSTg_N-ekM5MMOxPrcH7s4Q0N3uSORPG751ke5VmIm7aLqlxRAyNWzRjR3Glvw7n4U3pJBNSTsgjknzf9RfW5\
        KRjX19ai46kqbL1nioLI94nW4XVBJ5clpBtc2sRyx4J4oLs3i2eCoTlVQt41VTNEwQ6DANk1ZYb8v3bSZB-CaShKt5eKdZhF33gj7t6v4zQOcaok0IH_p\
        XNbBdn5kAAqrFuOaf7Kv5ZURe-7jA2hiqAA1lKPXSeL8s6ZKGNPsYXuPTjJjGUFN1S7Jdr3QT8Vrb5PmHg8kJNKKfdtu-K0u-HMbkllusOmlV5utGQ",\
        "e":"AQAB","kid":"rsa","use":"enc","alg":"RSA-OAEP","kty":"RSA"}
        """
    /// `JWK.generate(kty="EC", crv="P-256", kid="shop-2026-12", use="enc").export()`, which has both halves unless it is told otherwise.
    private static let jwcrypto = """
        {"crv":"P-256","d":"GHMS6gEihJitpMtaiZkPkfvl8rQJn1dSRif8txcDOrw","kid":"shop-2026-12","kty":"EC","use":"enc",\
        "x":"EFce7Buczzih9ouRhOoLp7xaIq8bch9zg9zKVsTI5uw","y":"EwBXu3U2MdoNGRf2fItnjCOFV02rvgQ0MjsgwLKT77M"}
        """

    static let unused: [(jwk: String, name: String, says: String)] = [
        (authlib, #"keys[0] "authlib""#, "member x has 31 bytes instead of 32"),
        (p384, #"keys[0] "p384""#, #"crv "P-384" is not supported, use P-256 or X25519"#),
        (rsa, #"keys[0] "rsa""#, #"alg "RSA-OAEP" is not supported for this key"#),
        (joserfc.replacing(#""enc""#, with: #""sig""#), #"keys[0] "joserfc""#, #"use is not "enc""#),
        (
            joserfc.replacing("iRQ\"", with: "iRQ=\""), #"keys[0] "joserfc""#,
            "member x is not base64url without padding"
        ),
        (joserfc.replacing(#""kid":"joserfc""#, with: #""kid":7"#), "keys[0]", "member kid is malformed"),
    ]

    @Test("M6: a key that is passed over is named, with the rule that it breaks", arguments: unused)
    func named(_ row: (jwk: String, name: String, says: String)) throws {
        let set = try RecipientKeySet(json: Array(#"{"keys":[\#(row.jwk),\#(Self.joserfc)]}"#.utf8))
        #expect(set.keys.map(\.keyID) == ["joserfc"])
        let refusal = try #require(set.refusals.first)
        #expect(refusal.name == row.name && "\(refusal)".contains(row.says), "\(refusal)")
        // Alone, it is named as well.
        let alone = #expect(throws: RecipientKeyError.self) {
            try RecipientKeySet(json: Array(#"{"keys":[\#(row.jwk)]}"#.utf8))
        }
        #expect("\(try #require(alone))".contains(row.says))
    }

    @Test("M6: the same coordinate in 32 bytes is a key, and one without kid goes by its thumbprint")
    func whole() throws {
        #expect(try RecipientKey(jwk: Array(Self.joserfc.utf8)).keyID == "joserfc")
        // The thumbprint is jwcrypto's own, of the same key.
        let nameless = Self.joserfc.replacing(#""kid":"joserfc","#, with: "")
        #expect(
            try RecipientKey(jwk: Array(nameless.utf8)).keyID == "K25N5z63uH1YkyH0Nt7qoDumQj2yD7bOF8lpNWY9xoA")
    }

    @Test("M6: a kid of somebody else's cannot forge a line of the log")
    func hostileName() throws {
        let kid = #""a\nrecipient key fine\#(String(repeating: "x", count: 500))""#
        let key = Self.p384.replacing(#""p384""#, with: kid)
        let set = try RecipientKeySet(json: Array(#"{"keys":[\#(Self.joserfc),\#(key)]}"#.utf8))
        let name = try #require(set.refusals.first).name
        #expect(!name.contains("\n") && name.utf8.count < 100, "\(name)")
    }

    @Test("M5: a private half anywhere in a set costs the set, and is named", arguments: [0, 1])
    func privateHalf(at place: Int) throws {
        var keys = [Self.joserfc]
        keys.insert(Self.jwcrypto, at: place)
        #expect(throws: RecipientKeyError.privateKeyInSet(#"keys[\#(place)] "shop-2026-12""#)) {
            try RecipientKeySet(json: Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8))
        }
        // Also of a key that would have been passed over anyway.
        let other = Self.jwcrypto.replacing("P-256", with: "P-521")
        #expect(throws: RecipientKeyError.privateKeyInSet(#"keys[1] "shop-2026-12""#)) {
            try RecipientKeySet(json: Array(#"{"keys":[\#(Self.joserfc),\#(other)]}"#.utf8))
        }
    }
}
