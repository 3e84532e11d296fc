// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Loyalty
import Testing

@Suite struct `Programmes and requests` {
    @Test func `display names have 1 to 22 characters`() throws {
        func programme(_ name: String) throws -> LoyaltyProgramme {
            try LoyaltyProgramme(id: "p", displayName: name, uid: UIDMembership())
        }
        #expect(try programme(String(repeating: "é", count: 22)).displayName.count == 22)
        for name in ["", String(repeating: "x", count: 23)] {
            #expect(throws: LoyaltyConfigurationError.displayNameInvalid(programme: "p")) { try programme(name) }
        }
    }

    @Test func `a programme or request that nothing could answer for is refused`() throws {
        #expect(throws: LoyaltyConfigurationError.noProgramme) { try LoyaltyProgramme(id: "p", displayName: "P") }
        #expect(throws: LoyaltyConfigurationError.noProgramme) { try LoyaltyRequest(programmes: []) }
        #expect(throws: LoyaltyConfigurationError.noProgramme) {
            try LoyaltyRequest(programmes: [Shop.club()], carriers: [])
        }
        #expect(throws: LoyaltyConfigurationError.programmeRepeated("club")) {
            try LoyaltyRequest(programmes: [Shop.club(), Shop.club()])
        }
    }

    @Test func `more than six pass types in one session are refused`() throws {
        let programmes = try (0..<7).map { index in
            try LoyaltyProgramme(
                id: "\(index)", displayName: "P", apple: VASMerchant(passTypeIdentifier: "pass.example.\(index)"))
        }
        #expect(throws: LoyaltyConfigurationError.tooManyMerchants(7)) { try LoyaltyRequest(programmes: programmes) }
        #expect(try LoyaltyRequest(programmes: Array(programmes.dropLast())).programmes.count == 6)
    }

    @Test(arguments: ["", "http://club.example", "https://", "club.example", "https://a b", "https://é.example"])
    func `addresses other than https are refused`(_ url: String) {
        #expect(throws: LoyaltyConfigurationError.urlInvalid) {
            try VASMerchant(passTypeIdentifier: "pass.x", wish: .passOrSignUp(url: url))
        }
    }

    @Test func `addresses have at most 64 bytes`() throws {
        let longest = "https://" + String(repeating: "x", count: 56)
        #expect(
            try VASMerchant(passTypeIdentifier: "pass.x", wish: .signUpOnly(url: longest)).wish
                == .signUpOnly(url: longest))
        #expect(throws: LoyaltyConfigurationError.urlInvalid) {
            try VASMerchant(passTypeIdentifier: "pass.x", wish: .signUpOnly(url: longest + "x"))
        }
    }

    @Test func `pass type identifiers are printable ASCII`() {
        for identifier in ["", "pass.é", "pass x", "pass\u{0}"] {
            #expect(throws: LoyaltyConfigurationError.passTypeIdentifierInvalid) {
                try VASMerchant(passTypeIdentifier: identifier)
            }
        }
    }

    @Test func `nonces and filters of another length are refused`() throws {
        for terminal in [
            VASTerminal(nonce: [1, 2, 3]), VASTerminal(filter: [1, 0, 0, 0]), VASTerminal(filter: [2, 0, 0, 0, 0]),
        ] {
            #expect(throws: LoyaltyConfigurationError.terminalInvalid) {
                try LoyaltyRequest(programmes: [Shop.club()], vasTerminal: terminal)
            }
        }
    }

    @Test func `of several key versions the highest is used, and none stands twice`() throws {
        #expect(try Shop.collector().keys.map(\.version) == [2, 1])
        #expect(throws: LoyaltyConfigurationError.collectorKeyMissing) { try SmartTapCollector(id: 1, keys: []) }
        let key = SmartTapKey(version: 7) { _ in nil }
        #expect(throws: LoyaltyConfigurationError.keyVersionRepeated(7)) {
            try SmartTapCollector(id: 1, keys: [key, key])
        }
    }

    @Test func `every status says what the customer can do, and every error what is wrong`() {
        #expect(PassStatus.locked.customerAction == .unlockPhone)
        #expect(PassStatus.choiceNeeded.customerAction == .choosePass)
        #expect(PassStatus.signUpSent.customerAction == .followSignUp)
        #expect(PassStatus.busy.customerAction == .presentAgain)
        #expect(PassStatus.keyMissing.customerAction == .askStaff)
        #expect(PassStatus.locked.mayImprove && !PassStatus.noPass.mayImprove)
        #expect("\(LoyaltyConfigurationError.tooManyMerchants(7))" == "7 Apple pass types, a session may ask for 6")
    }

    @Test func `no word about payment stands in what customers are told`() {
        let words = ["pay", "card number", "amount", "charge", "price", "purchase"]
        let texts = CustomerAction.allCases.map(\.rawValue)
        for text in texts { for word in words { #expect(!text.lowercased().contains(word)) } }
    }
}

@Suite struct `Private keys` {
    @Test func `scalars out of range and other curves are refused`() throws {
        func error(_ bytes: [UInt8]) -> P256PrivateKeyError? {
            do throws(P256PrivateKeyError) {
                _ = try P256PrivateKey(SecretBytes(bytes))
                return nil
            } catch {
                return error
            }
        }
        #expect(error([UInt8](repeating: 0, count: 32)) == .outOfRange)
        #expect(error([UInt8](repeating: 0xFF, count: 32)) == .outOfRange)
        #expect(error([UInt8](repeating: 1, count: 31)) == .notAKey)
        #expect(error([]) == .notAKey)
        #expect(error(Array("-----BEGIN PRIVATE KEY-----\nAAAA".utf8)) == .notAKey)
        #expect(error(Array("-----BEGIN PRIVATE KEY-----\n?\n-----END".utf8)) == .notAKey)
        // SEC 1 with the object identifier of P-384.
        let other = try Hex.bytes(
            "302E0201010420" + String(repeating: "01", count: 32) + "A00706052B81040022")
        #expect(error(other) == .wrongCurve)
    }

    @Test func `a scalar of 32 bytes is taken as it is`() throws {
        #expect(try Shop.key(WalletTestKeys.clubPrivateKey).publicX.count == 32)
    }
}

@Suite struct `Decompression` {
    private func inflate(_ hex: String, limit: Int = 1_000) throws(InflateError) -> [UInt8] {
        guard let bytes = try? Hex.bytes(hex) else { return [] }
        return try Inflate.zlib(SecretBytes(bytes), limit: limit).revealed
    }

    @Test func `stored, fixed and dynamic blocks give back what went in`() throws {
        #expect(try inflate("7801010300FCFF616263024D0127") == Array("abc".utf8))
        #expect(try inflate("789C4B4C4A0600024D0127") == Array("abc".utf8))
        #expect(try inflate("78DA4B4C240E000036EB0F29") == [UInt8](repeating: UInt8(ascii: "a"), count: 40))
        let dynamic = """
            78DA35908111043108025BB135C0FE6B78D6FC65C68C6740E0B491D7B35A59919CD8238DE25E1DF714E15611A2A600A783AC4B03C5\
            60B7847984017CF05E7D00CC7ACE22738BBB954AF527CCD9858D6A9FDE2E56A698414928D4569B73535367085474DC393B443036DA\
            2249C8FFE7CBE973F845DA184F73C22FF247A1E167F4E107CEB16B09
            """
        let text = """
            adcabdb dadabacaabccbb aa acba aadaaaabdbbbdbabaaabaa b abcbdbcdbdab aad abcdda a daaaab \
            bababaaabbaaddabdbcacaaaaaadcaabadaaabbbabbbcb d cadcab aabacacbabdbabdd aa  bbb bdabada aba \
            baddbababbdaabaad aaca aaba b aadbb abaab adbaaaacabdaab adbdabacabb babdbabaaabdcbcaab \
            cacbaadaaaaacabdaabaacaa accba
            """
        #expect(try inflate(dynamic) == Array(text.utf8))
    }

    @Test(arguments: [
        "", "789C", "789D4B4C4A0600024D0127", "799C4B4C4A0600024D0127", "889C4B4C4A0600024D0127",
        "78BB4B4C4A0600024D0127", "789C4B4C4A0600024D0128", "789C4B4C4A0600024D012700", "789C4B4C4A06",
        "7801010300FCFE616263024D0127", "7801070300FCFF616263024D0127", "7801010300FCFF6162024D0127",
    ])
    func `anything but one whole stream is refused`(_ hex: String) throws {
        #expect(throws: InflateError.malformed) { try inflate(hex) }
    }

    @Test func `output above the limit is refused`() throws {
        #expect(throws: InflateError.tooLarge) { try inflate("7801010300FCFF616263024D0127", limit: 2) }
        #expect(throws: InflateError.tooLarge) { try inflate("789C4B4C4A0600024D0127", limit: 2) }
        #expect(try inflate("789C4B4C4A0600024D0127", limit: 3).count == 3)
    }
}
