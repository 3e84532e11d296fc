// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import Testing

@Suite struct HTTPFieldsTests {
    @Test func `Names compare without case, values stay as they are`() {
        let fields: HTTPFields = ["Content-Type": "Text/Plain", "X": "1", "x": "2"]
        #expect(fields.only("content-type") == "Text/Plain")
        #expect(fields.all("X") == ["1", "2"])
        #expect(fields.contains("CONTENT-TYPE"))
        #expect(!fields.contains("Content_Type"))
    }

    @Test func `A field that occurs twice has no only value`() {
        let fields: HTTPFields = ["Idempotency-Key": "a", "idempotency-key": "b"]
        #expect(fields.only("Idempotency-Key") == nil)
        #expect(fields.only("missing") == nil)
    }

    @Test func `Setting replaces all of the name and keeps the others`() {
        var fields: HTTPFields = ["A": "1", "B": "2", "a": "3"]
        fields.set("A", "4")
        #expect(fields.fields == [.init(name: "B", value: "2"), .init(name: "A", value: "4")])
    }

    @Test func `Line breaks and NUL become spaces`() {
        #expect(HTTPFields(dictionaryLiteral: ("A", "x\r\ny\0z")).only("A") == "x  y z")
    }
}
