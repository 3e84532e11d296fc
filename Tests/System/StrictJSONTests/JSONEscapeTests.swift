// SPDX-License-Identifier: Apache-2.0
import StrictJSON
import Testing

struct JSONEscapeTests {
    @Test func `what would end a string or break its line is escaped`() {
        #expect(JSONEscape.quoted("a\"b\\c") == #""a\"b\\c""#)
        #expect(JSONEscape.quoted("\u{0}\n\u{1F}") == #""\u0000\u000A\u001F""#)
        #expect(JSONEscape.quoted("Grüße, 東京 🙂/\u{7F}") == "\"Grüße, 東京 🙂/\u{7F}\"")
    }

    @Test func `every character comes back as it was`() throws {
        let scalars = (0...0x2FF).compactMap { Unicode.Scalar($0 as UInt32) }
        let text = String(String.UnicodeScalarView(scalars))
        let json = try JSONText(JSONEscape.quoted(text))
        #expect(json.string(json.root) == text)
    }

    @Test func `a byte that is no text is handed on as it is`() {
        var bytes: [UInt8] = []
        for unit in [0xC3, 0x28, 0xFF] as [UInt8] { JSONEscape.write(unit) { bytes.append($0) } }
        #expect(bytes == [0xC3, 0x28, 0xFF])
    }
}
