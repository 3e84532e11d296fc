// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Loyalty
import Testing

@Suite struct `Keys and passes are never printed` {
    private func expectSecret(_ value: Any, _ secrets: [[UInt8]], location: SourceLocation = #_sourceLocation) {
        var dumped = ""
        dump(value, to: &dumped)
        for text in [String(describing: value), String(reflecting: value), dumped] {
            for secret in secrets {
                #expect(!text.uppercased().contains(Hex.string(secret)), sourceLocation: location)
                #expect(!text.contains(secret.map { "\($0)" }.joined(separator: ", ")), sourceLocation: location)
                #expect(!text.contains(String(decoding: secret, as: UTF8.self)), sourceLocation: location)
            }
            #expect(!text.contains("MEMBER-0001"), sourceLocation: location)
        }
    }

    @Test func `descriptions and dumps of configuration hold no private key`() throws {
        let keys = [
            WalletTestKeys.clubPrivateKey, WalletTestKeys.giftPrivateKey, WalletTestKeys.collectorPrivateKeyVersion2,
        ]
        expectSecret(try Shop.key(WalletTestKeys.clubPrivateKey), keys)
        expectSecret(VASKey(try Shop.key(WalletTestKeys.clubPrivateKey)), keys)
        expectSecret(try Shop.club(), keys)
        expectSecret(try Shop.request(), keys)
        expectSecret(LoyaltyRead(try Shop.request()), keys)
    }

    @Test(arguments: ["apple-pass", "google-pass", "member-tag", "member-card"])
    func `descriptions and dumps of outcomes hold no pass`(_ name: String) throws {
        let outcome = try Shop.read(name, Shop.request()).outcome
        let pass = try #require(outcome.entries[0].pass)
        let cryptogram = pass.cryptogram?.bytes
        let member = try #require(pass.member).revealed
        var withoutCard = outcome
        // The activation, with its UID, is the reader's to tell.
        withoutCard.card = nil
        expectSecret(withoutCard, [member] + (cryptogram.map { [$0, Array($0.suffix(16))] } ?? []))
    }

    @Test func `descriptions of answers tell lengths only`() throws {
        let vector = try LoyaltyVector.one("vas-resp-basic", kind: "vas.getdata.response")
        let answer = try #require(VASResponse(try vector.response().data))
        expectSecret(answer, [try vector.bytes("cryptogram")])
        let bundle = try #require(SmartTapBundle(payload: [0x00] + Array("MEMBER-0001".utf8)))
        expectSecret(bundle, [Array("MEMBER-0001".utf8)])
    }

    @Test func `the dictionaries mark what says something about the customer`() {
        #expect(LoyaltyDictionary.vas.element(VASTag.passData)?.isSecret == true)
        #expect(LoyaltyDictionary.vas.element(VASTag.mobileToken)?.isSecret == true)
        // In EMV this tag is the application cryptogram.
        #expect(LoyaltyDictionary.vas.element(0x9F26)?.name == "terminal capabilities")
        #expect(LoyaltyDictionary.smartTap.element(0x9F26) == nil)
        #expect(LoyaltyDictionary.smartTap.element(SmartTapTag.capabilities)?.isSecret == false)
    }
}
