// SPDX-License-Identifier: Apache-2.0
import StrictJSON
import TestSupport
import Testing

struct JSONIndexTests {
    @Test func `members are found by name in their own object only`() throws {
        let text = try JSONText(#" { "a" : {"b":"inner"} , "b" : "outer", "n":[ {"b":3} ] } "#)
        let outer = try #require(text.member("b"))
        #expect(text.string(outer) == "outer")
        let object = try #require(text.object("a"))
        let inner = try #require(text.member("b", of: object))
        #expect(text.string(inner) == "inner")
        #expect(text.member("c") == nil)
        let list = try #require(text.object("n"))
        #expect(text.index.children(of: list).count == 1)
        #expect(text.integer(inner) == nil)
    }

    @Test(
        arguments: [
            #""a\"\\\/\b\f\n\r\tz""#: "a\"\\/\u{8}\u{c}\n\r\tz", #""\u00e9\uD83D\uDE00""#: "é😀", #""é😀""#: "é😀",
            #""""#: "",
        ])
    func `strings are unescaped`(json: String, unescaped: String) throws {
        let text = try JSONText(json)
        #expect(text.string(text.root) == unescaped)
    }

    @Test(arguments: [#""\uD83D""#, #""\uD83Dx""#, #""\uDE00""#, #""\uD83D\u0041""#])
    func `lone surrogates are no text`(json: String) throws {
        let text = try JSONText(json)
        #expect(text.string(text.root) == nil)
    }

    @Test func `invalid UTF-8 is no text`() throws {
        let text = try JSONText([0x22, 0xC3, 0x28, 0x22])
        #expect(text.string(text.root) == nil)
    }

    @Test(
        arguments: [
            ("0", 0), ("18446744073709551615", UInt64.max), ("18446744073709551616", nil), ("-1", nil), ("1.0", nil),
            ("1e3", nil),
        ] as [(String, UInt64?)])
    func `whole numbers are read exactly, everything else is none`(json: String, value: UInt64?) throws {
        let text = try JSONText(json)
        #expect(text.integer(text.root) == value)
    }

    @Test(
        arguments: [
            "", "{", "}", "[1,]", "{,}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, "{'a':1}", "tru", "nul", "01", "-", "1.",
            "1e", "+1", ".5", #""a"#, "\"a\nb\"", #""\x""#, #""\u12G4""#, "1 2", "{}{}", "NaN", #"{"a\u0062":1}"#,
            "// c\n{}", "[1 2]", #"{"a" 1}"#, "\u{FEFF}{}",
        ])
    func `what RFC 8259 does not allow is refused`(json: String) {
        #expect(throws: JSONIndexError.self) { try JSONText(json) }
    }

    @Test func `a name given twice is refused, in each object by itself`() throws {
        #expect(throws: JSONIndexError.duplicateMember(offset: 7)) { try JSONText(#"{"a":1,"a":2}"#) }
        _ = try JSONText(#"{"a":1,"b":{"a":2}}"#)
    }

    @Test func `depth and breadth are limited`() throws {
        let deep = String(repeating: "[", count: 8) + "1" + String(repeating: "]", count: 8)
        _ = try JSONText(deep)
        #expect(throws: JSONIndexError.nestedTooDeep(offset: 9)) { try JSONText("[" + deep + "]") }
        let members = (0..<65).map { #""m\#($0)":1"# }
        _ = try JSONText("{" + members.prefix(64).joined(separator: ",") + "}")
        #expect(throws: JSONIndexError.self) { try JSONText("{" + members.joined(separator: ",") + "}") }
    }

    @Test func `no cut of a valid text traps or passes`() throws {
        let text = Array(#"{"k":[true,null,{"s":"\u00e9\n"}],"n":-1.5e+7}"#.utf8)
        _ = try JSONText(text)
        for length in 0..<text.count {
            #expect(throws: JSONIndexError.self) { try JSONText(Array(text.prefix(length))) }
        }
    }

    @Test func `random bytes never trap`() {
        let alphabet = Array(#"{}[]",:\u0019-+.eE truefalsn"#.utf8)
        var read = 0
        for seed in 0..<20_000 {
            var random = SeededGenerator(seed: UInt64(seed))
            let bytes = (0..<Int.random(in: 0...24, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? 0
            }
            guard let text = try? JSONText(bytes) else { continue }
            read += 1
            for node in text.index.nodes { _ = text.string(node) }
        }
        #expect(read > 0)
    }
}
