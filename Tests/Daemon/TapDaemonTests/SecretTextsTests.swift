// SPDX-License-Identifier: Apache-2.0
import CardBytes
import PaymentValues
import Testing

@testable import TapDaemon

@Suite("Secrets in the place of their marks")
struct SecretTextsTests {
    private struct Message: Codable, Equatable {
        var before = "secret-"
        var texts: [String]
        var after = 7
    }

    static let texts: [[UInt8]] = [
        Array("MEMBER-0001".utf8), [], Array(#"quote " backslash \ slash /"#.utf8), Array(0x00...0x7F),
        Array("Grüße, 日本, 🎫 and e\u{301}".utf8), Array("secret-secret-00".utf8),
        // No UTF-8: lone continuation, overlong, surrogate, beyond the last plane, cut off.
        [0x41, 0x80, 0x42], [0xC0, 0xAF], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
        [0xF5, 0x80], [0x41, 0xE2, 0x82], [0xF0, 0x9F, 0x8E], [0xFF, 0xFE],
    ]

    @Test("Each text reads as it would have without marks", arguments: texts)
    func text(bytes: [UInt8]) throws {
        var secrets = SecretTexts()
        let marked = Message(texts: [secrets.mark(SecretBytes(bytes), as: .text), "plain"])
        let filled = copy(secrets.fill(try WireJSON.encode(marked)))
        let read = try WireJSON.decode(Message.self, from: filled)
        #expect(read.before == "secret-" && read.after == 7 && read.texts[1] == "plain")
        let valid = String(validating: bytes, as: UTF8.self)
        if let valid { #expect(read.texts[0] == valid) } else { #expect(read.texts[0].contains("\u{FFFD}")) }
    }

    @Test("Many secrets keep their order, hexadecimal ones their digits")
    func many() throws {
        var secrets = SecretTexts()
        let marks = (0..<300).map { number in
            secrets.mark(
                SecretBytes([UInt8(number % 256), UInt8(number / 256)]), as: .hexadecimal)
        }
        let filled = copy(secrets.fill(try WireJSON.encode(Message(texts: marks))))
        let expected = (0..<300).map { Hex.string([UInt8($0 % 256), UInt8($0 / 256)]) }
        #expect(try WireJSON.decode(Message.self, from: filled).texts == expected)
    }

    @Test("The marks say nothing of the secrets, and another message's are none")
    func foreign() throws {
        var secrets = SecretTexts()
        var others = SecretTexts()
        let own = secrets.mark(SecretBytes(Array("MEMBER-0001".utf8)), as: .text)
        let foreign = others.mark(SecretBytes(Array("GIFT-4242".utf8)), as: .text)
        #expect(!own.contains("MEMBER") && own != foreign)
        let json = try WireJSON.encode(Message(texts: [foreign, own + "9"]))
        let read = try WireJSON.decode(Message.self, from: copy(secrets.fill(json)))
        #expect(read.texts == [foreign, "MEMBER-00019"])
    }

    private func copy(_ secret: SecretBytes) -> [UInt8] {
        secret.withSpan { bytes in bytes.indices.map { bytes[$0] } }
    }
}
