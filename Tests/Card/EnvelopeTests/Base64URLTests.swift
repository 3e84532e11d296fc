// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Envelope

struct Base64URLTests {
    @Test(arguments: ["": "", "f": "Zg", "fo": "Zm8", "foo": "Zm9v", "foob": "Zm9vYg", "fooba": "Zm9vYmE"])
    func `RFC 4648 §10 is written and read without padding`(text: String, encoded: String) {
        #expect(Base64URL.string(text.utf8) == encoded)
        #expect(Base64URL.decode(encoded.utf8) == Array(text.utf8))
    }

    @Test func `every byte value survives, in the URL alphabet`() {
        let bytes = (0...255).map { UInt8($0) } + [0xFB, 0xEF, 0xBE, 0xFF]
        let text = Base64URL.string(bytes)
        #expect(text.utf8.allSatisfy { $0 != 0x2B && $0 != 0x2F && $0 != 0x3D })
        #expect(Base64URL.decode(text.utf8) == bytes)
        #expect(Base64URL.string([0xFB, 0xFF, 0xBF]) == "-_-_")
    }

    @Test(arguments: ["Zg==", "Z", "Zm9vY", "Zm+v", "Zm/v", "Zm9v\n", " Zm9v", "Zh", "Zm9", "é"])
    func `padding, foreign characters, impossible lengths and stray bits are refused`(text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }
}
