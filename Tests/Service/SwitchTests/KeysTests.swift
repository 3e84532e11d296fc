// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Envelope
import HSM
import Synchronization
import Testing

@testable import Switch
@testable import nfc_tap_switch

struct KeysTests {
    private func keys() throws -> TokenOpener {
        TokenOpener(token: try SoftwareKeys(recipients: [SecretBytes(Array(SwitchRig.key.utf8))]))
    }

    private func bytes(_ secret: SecretBytes) -> [UInt8] { secret.withSpan { span in span.indices.map { span[$0] } } }

    @Test func `what is sealed for one row opens for no other, and not after a change of one bit`() async throws {
        let keys = try keys()
        let sealed = try await keys.seal(SecretBytes([1, 2, 3]), for: "one")
        #expect(bytes(try await keys.unseal(sealed, for: "one")) == [1, 2, 3])
        await #expect(throws: OpeningRefusal.unreadable) { try await keys.unseal(sealed, for: "two") }
        for index in sealed.indices {
            var other = sealed
            other[index] ^= 1
            // A change of the key's name asks for a key that is not there.
            await #expect(throws: OpeningRefusal.self) { try await keys.unseal(other, for: "one") }
        }
        #expect(try await keys.seal(SecretBytes([1, 2, 3]), for: "one") != sealed)
    }

    @Test func `a card has one name for each merchant, without a run of eight digits`() async throws {
        let keys = try keys()
        let number = SecretBytes(Array("4761739001010010".utf8))
        let first = try await keys.cardToken(merchant: "a", number: number)
        #expect(try await keys.cardToken(merchant: "a", number: number) == first)
        #expect(try await keys.cardToken(merchant: "b", number: number) != first)
        #expect(first.hasPrefix("ct_") && first.utf8.count == 25)
        // In Base64url: 12345678 in a row.
        let digits: [UInt8] = [0xD7, 0x6D, 0xF8, 0xE7, 0xAE, 0xFC]
        #expect(CardTokenText.text(digits + [UInt8](repeating: 0, count: 26)) == nil)
        #expect(CardTokenText.text([UInt8](repeating: 0, count: 32)) == "ct_AAAAAAAAAAAAAAAAAAAAAA")
    }

    @Test("S32: a key of its own that is missing says nothing of an envelope, and how to make it")
    func missing() throws {
        let fault = TokenError.unfitKey("card-tokens", .missing)
        #expect(OpeningRefusal(fault) == .unavailable && OpeningRefusal(.unavailable(.tooSlow)) == .unavailable)
        #expect(OpeningRefusal(.unavailable(.busy)) == .busy && OpeningRefusal(.unknownKey("x")) == .unknownKey)
        #expect("\(fault)".contains("card-tokens") && "\(fault)".contains("nfc-tap-profile key new"))
    }

    @Test("S32: what this machine lacks is told, and what an envelope names by whoever was asked with it")
    func told() async {
        let told = Mutex<[TokenError]>([])
        let missing = TokenError.unfitKey("shop", .missing)
        for error in [missing, .unknownKey("of an envelope")] {
            let keys = TokenOpener(token: LackingKeys(error: error)) { error in told.withLock { $0.append(error) } }
            await #expect(throws: OpeningRefusal.self) { try await keys.recipients() }
            await #expect(throws: OpeningRefusal.self) { try await keys.open("") }
        }
        #expect(told.withLock { $0 } == [missing, missing])
    }

    @Test func `an envelope to another key is told apart from one that is damaged`() async throws {
        let keys = try keys()
        let recipient = try #require(try await keys.recipients().keys.first)
        let envelope = try JWE.seal(SecretBytes([7]), to: recipient)
        #expect(bytes(try await keys.open(envelope)) == [7])
        let damaged = String(envelope.dropLast(2)) + (envelope.hasSuffix("AA") ? "QQ" : "AA")
        await #expect(throws: OpeningRefusal.unreadable) { try await keys.open(damaged) }
        await #expect(throws: OpeningRefusal.unreadable) { try await keys.open("a.b") }
    }
}

/// Keys that cannot do anything, for one reason.
private struct LackingKeys: TokenKeys {
    let error: TokenError

    func recipients() async throws(TokenError) -> RecipientKeySet { throw error }
    func open(_ envelope: String) async throws(TokenError) -> SecretBytes { throw error }
    func code(of message: SecretBytes) async throws(TokenError) -> [UInt8] { throw error }
    func seal(_ content: SecretBytes, for name: String) async throws(TokenError) -> [UInt8] { throw error }
    func unseal(_ sealed: [UInt8], for name: String) async throws(TokenError) -> SecretBytes { throw error }
    func verificationKey() async throws(TokenError) -> VerificationKey { throw error }
    func sign(_ payload: [UInt8], type: String) async throws(TokenError) -> String { throw error }
}
