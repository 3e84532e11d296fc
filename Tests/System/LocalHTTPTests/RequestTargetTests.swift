// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import LocalHTTP

@Suite struct RequestTargetTests {
    @Test(arguments: [
        ("/", []), ("/v1", ["v1"]), ("/v1/", ["v1", ""]), ("//", ["", ""]), ("/a/../b", ["a", "..", "b"]),
        ("/%41%2f%2e", ["A/."]), ("/a+b", ["a+b"]), ("/%E2%82%AC", ["€"]), ("/;=&", [";=&"]), ("/x?", ["x"]),
    ])
    func `A path is taken apart before it is decoded`(_ target: String, _ segments: [String]) throws {
        #expect(try RequestTarget(target).path == segments)
    }

    @Test(arguments: [
        ("/?a=1&b=2", ["a:1", "b:2"]), ("/?a", ["a:"]), ("/?a=", ["a:"]), ("/?=a", [":a"]), ("/?&&a=b=c&", ["a:b=c"]),
        ("/?q=a+b%2Bc", ["q:a b+c"]), ("/?a=1&a=2", ["a:1", "a:2"]), ("/?a=?/", ["a:?/"]), ("/", []),
    ])
    func `A query is a list of names and values`(_ target: String, _ items: [String]) throws {
        #expect(try RequestTarget(target).query.map { "\($0.name):\($0.value)" } == items)
    }

    @Test(arguments: ["", "*", "x", "http://x/", "/a b", "/ä", "/\u{7F}"])
    func `A target that is no path is malformed`(_ target: String) {
        #expect(throws: HTTPRefusal.malformed) { try RequestTarget(target) }
    }

    @Test(arguments: [
        "/%", "/%1", "/%g0", "/%ff", "/%c3", "/%00", "/%1f", "/%0a", "/%7F", "/?%", "/?a=%80", "/?%0d=1",
    ])
    func `F6 a path or query that is badly encoded is refused for that`(_ target: String) {
        #expect(throws: HTTPRefusal.invalidTarget) { try RequestTarget(target) }
    }

    @Test func `What the client encodes the server decodes`() throws {
        for text in ["", "a/b", "100 %", "ä€😀", "a+b&c=d?e#f", "..", "'\"<>"] {
            let encoded = HTTPClientRequest.percentEncoded(text)
            let target = try RequestTarget("/\(encoded)?q=\(encoded)")
            #expect(target.path == (text.isEmpty ? [] : [text]))
            #expect(target.query == [HTTPRequest.QueryItem(name: "q", value: text)])
        }
    }
}
