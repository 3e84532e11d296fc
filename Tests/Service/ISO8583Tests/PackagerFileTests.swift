// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import TestSupport
import Testing

@testable import ISO8583

struct PackagerFileTests {
    private static func packager(_ members: String, base: String = "1987-bcd") throws -> Packager {
        try Packager(file: Array(#"{"name": "host", "base": "\#(base)"\#(members)}"#.utf8))
    }

    private static func field(_ members: String) -> String { #", "fields": [{\#(members)}]"# }

    @Test func `each built-in packager is read, and is what its name says`() throws {
        for builtIn in Packager.BuiltIn.allCases {
            let packager = try Packager(builtIn)
            #expect(packager.name == builtIn.rawValue)
            #expect(packager.fields[2]?.format == FieldFormat("n..19"))
        }
        #expect(try Packager(.asciiHex1987).fields == Packager(.ascii1987).fields)
        #expect(try Packager(.bcd1987).fields[35]?.pad == .rightF)
        #expect(try Packager(.ascii1993).fields[39]?.format == FieldFormat("n3"))
    }

    @Test(arguments: [
        (#", "bitmaps": "hex""#, PackagerError.unknownMember("bitmaps")),
        (#", "bitmap": "hexadecimal""#, .notOneOf("bitmap", ["binary", "hex", "ebcdic"])),
        (#", "version": "1986""#, .notOneOf("version", ["1987", "1993"])),
        (#", "frame": {"length": "binary2", "itself": true}"#, .unknownMember("frame.itself")),
        (#", "frame": {"countsItself": "yes"}"#, .wrongKind("frame.countsItself", wanted: "true or false")),
        (#", "separator": ":""#, .notOneOf("separator", ["D", "="])),
        (field(#""field": 48, "name": "x", "format": "ans.999""#), .notAFormat(field: 48, "ans.999")),
        (field(#""field": 65, "name": "x", "format": "n6""#), .fieldOutOfRange("fields.field")),
        (field(#""field": 48, "name": "x""#), .missing("fields.48.format")),
        (
            field(#""field": 48, "name": "x", "format": "n6", "pad": "left""#),
            .notOneOf("fields.48.pad", ["left-0", "right-0", "right-F"])
        ),
        (
            field(#""field": 48, "name": "x", "format": "ans6", "encoding": "bcd""#),
            .doesNotFit(field: 48, .bcdOfCharacters)
        ),
        (
            field(#""field": 52, "name": "x", "format": "b8", "encoding": "ascii""#),
            .doesNotFit(field: 52, .charactersOfBinary)
        ),
        (
            field(#""field": 48, "name": "x", "format": "an6", "encoding": "binary""#),
            .doesNotFit(field: 48, .binaryOfCharacters)
        ),
        (
            field(
                #""field": 2, "name": "x", "format": "n..19", "encoding": "bcd", "lengths": "bcd", "counts": "bytes""#),
            .doesNotFit(field: 2, .uncountedDigits)
        ),
        (
            field(
                #""field": 55, "name": "x", "format": "b...999", "encoding": "hex", "lengths": "ascii", "counts": "digits""#
            ),
            .doesNotFit(field: 55, .lengthTooSmall)
        ),
        (
            field(
                #""field": 3, "name": "x", "format": "n6", "encoding": "ascii"}, {"field": 3, "name": "x", "format": "n6""#
            ),
            .fieldTwice(3)
        ),
        (#", "chip": {"visa": ["9F6E", "57"]}"#, .forbiddenDataObject("chip.visa", "57")),
        (#", "chip": {"visa": ["9f6e"]}"#, .notADataObject("chip.visa", "9f6e")),
        (#", "chip": {"reversal": ["9F26"]}"#, .forbiddenDataObject("chip.reversal", "9F26")),
        (#", "reversal": {"fields": [3, 35]}"#, .notInItself("reversal.fields", field: 35)),
        (#", "reversal": {"fields": [3, 119, 65]}"#, .noSuchField("reversal.fields", field: 65)),
        (
            #", "reversal": {"reasons": {"whim": "1"}}"#,
            .notOneOf("reversal.reasons", ReversalReason.allCases.map(\.rawValue))
        ),
        (#", "network": {"type": "0810"}"#, .wrongKind("network.type", wanted: "four digits of a request as in 0800")),
        (
            #", "frame": {"destination": "3"}"#,
            .wrongKind("frame.destination", wanted: "four hexadecimal digits as in 0003")
        ),
        (#", "requests": {"verify": {"24": "003"}}"#, .unknownMember("requests.verify")),
        (#", "requests": {"sale": {"4": "000000000001"}}"#, .notInItself("requests.sale", field: 4)),
        (#", "requests": {"sale": {"2": ""}}"#, .notInItself("requests.sale", field: 2)),
        (#", "requests": {"sale": {"65": "1"}}"#, .noSuchField("requests.sale", field: 65)),
        (#", "requests": {"sale": {"here": "1"}}"#, .fieldOutOfRange("requests.sale.here")),
        (
            #", "requests": {"sale": {"24": "1234"}}"#,
            .wrongKind("requests.sale.24", wanted: "a text that the field's format takes, padding included")
        ),
        (
            #", "entry": {"chip": "0720"}"#,
            .wrongKind("entry.chip.22", wanted: "a text that the field's format takes, padding included")
        ),
        (#", "codes": {"approved": "00"}"#, .wrongKind("codes.approved", wanted: "a list in brackets")),
        (#", "name": "twice""#, .notJSON(offset: 0)),
    ])
    func `a mistake is refused with its place and the remedy`(members: String, error: PackagerError) throws {
        let found = #expect(throws: PackagerError.self) { try Self.packager(members) }
        switch (error, found) {
        // The position is not what this is about.
        case (.notJSON, .notJSON?): break
        default: #expect(found == error)
        }
        #expect(try #require(found).description.contains(where: { $0 == ":" || $0 == ";" }))
    }

    @Test func `what a host wants besides is set in its kind of request, and in no other`() throws {
        let packager = try Self.packager(
            #", "frame": {"tpdu": true, "destination": "0003"}, "requests": {"sale": {"24": "003", "18": ""}, "preauth": {"3": "300000"}}"#
        )
        var (sale, hold) = (ISOMessage(try #require(MessageType(200))), ISOMessage(try #require(MessageType(100))))
        sale.set(3, "000000")
        hold.set(3, "000000")
        sale.set(18, "5411")
        packager.requests.complete(&sale, .sale)
        packager.requests.complete(&hold, .preauth)
        #expect(sale.text(24) == "003" && sale.text(3) == "000000" && sale[18] == nil)
        #expect(hold.text(24) == nil && hold.text(3) == "300000")
        #expect(packager.frame.destination == 3)
        #expect(packager.requests.chipEntry == "072" && packager.requests.stripeEntry == "912")
    }

    @Test func `a file without a base has to say everything, and says what is missing`() throws {
        let file = String(decoding: Packager.BuiltIn.ascii1987.file, as: UTF8.self)
        for member in [
            "version", "mti", "bitmap", "lengths", "codes", "network", "reversal", "chip", "numbers", "fields",
        ] {
            let less = file.replacing("\"\(member)\":", with: "\"name \(member)\":")
            #expect(throws: PackagerError.self, "\(member)") { try Packager(file: Array(less.utf8)) }
        }
        #expect(throws: PackagerError.missing("name")) { try Packager(file: Array("{}".utf8)) }
        #expect(throws: PackagerError.notOneOf("base", Packager.BuiltIn.allCases.map(\.rawValue))) {
            try Packager(file: Array(#"{"name": "x", "base": "x"}"#.utf8))
        }
    }

    @Test(arguments: ["n6", "n..19", "an12", "ans...999", "b8", "b...255", "z..37", "x+n8", "ns..28", "a3"])
    func `a format is read as the standard writes it, and written so`(notation: String) {
        #expect(FieldFormat(notation)?.notation == notation)
    }

    @Test(arguments: [
        "", "n", "6", "n0", "n06", "n.6", "n..100", "n...1000", "q6", "x+n..8", "n-6", "n6 ", "nn6", "n....6",
    ])
    func `what is no format is none`(notation: String) { #expect(FieldFormat(notation) == nil) }

    @Test func `chip data can be hexadecimal characters`() throws {
        for (counts, length) in [("bytes", "003"), ("digits", "006")] {
            let packager = try Self.packager(
                Self.field(
                    #""field": 55, "name": "x", "format": "b...255", "encoding": "hex", "counts": "\#(counts)", "lengths": "ascii""#
                ),
                base: "1987-ascii-hexbitmap")
            var message = ISOMessage(try #require(MessageType(100)))
            message[55] = [0x9A, 0x01, 0xFF]
            let bytes = try packager.build(message)
            #expect(String(decoding: bytes, as: UTF8.self) == "01000000000000000200" + length + "9A01FF")
            #expect(try packager.parse(bytes) == message)
        }
    }

    @Test func `a length in bytes of packed digits is read by its filler`() throws {
        let packager = try Self.packager(
            Self.field(
                #""field": 2, "name": "x", "format": "n..19", "counts": "bytes", "pad": "right-F", "encoding": "bcd", "lengths": "binary""#
            ))
        for (number, wire) in [
            ("123", "02123F"), ("1234", "021234"), ("", "00"), ("1234567890123456789", "0A1234567890123456789F"),
        ] {
            var message = ISOMessage(try #require(MessageType(100)))
            message.set(2, number)
            let bytes = try packager.build(message)
            #expect(Hex.string(bytes) == "01004000000000000000" + wire)
            #expect(try packager.parse(bytes) == message)
        }
        #expect(throws: MessageError.length(field: 2, count: 20, most: 19)) {
            try packager.parse(Hex.bytes("010040000000000000000A12345678901234567890"))
        }
    }

    @Test func `signs, odd digits and separators are packed as the file says`() throws {
        let packager = try Packager(.bcd1987)
        var message = ISOMessage(try #require(MessageType(500)))
        message.set(97, "D0000000000001500")
        message.set(22, "072")
        let bytes = try packager.build(message)
        #expect(Hex.string(bytes).hasSuffix("0072440000000000001500"))
        #expect(try packager.parse(bytes) == message)
        // Another half byte than the packager's beside an odd number of digits is no padding.
        let wrong = try Hex.bytes(Hex.string(bytes).replacing("0072440", with: "1072440"))
        #expect(throws: MessageError.padding(field: 22)) { try packager.parse(wrong) }
    }

    @Test func `what does not fit is not built`() throws {
        let packager = try Packager(.ascii1987)
        func build(_ type: UInt16, _ field: Int, _ text: String) throws -> [UInt8] {
            var message = ISOMessage(try #require(MessageType(type)))
            message.set(field, text)
            return try packager.build(message)
        }
        #expect(throws: MessageError.length(field: 3, count: 5, most: 6)) { try build(100, 3, "00000") }
        #expect(throws: MessageError.character(field: 3, position: 5)) { try build(100, 3, "00000A") }
        #expect(throws: MessageError.character(field: 41, position: 0)) { try build(100, 41, "\u{7F}ERM0001") }
        #expect(throws: MessageError.notInPackager(field: 65)) { try build(100, 65, "1") }
        #expect(throws: MessageError.otherVersion(1)) { try build(1100, 3, "000000") }
    }

    /// docs/service/iso8583.md: the sale as it is printed there, which pyiso8583 4.0.1 reads so, and its answer.
    @Test func `the worked example of the documentation is what its packager makes`() throws {
        let text = try String(contentsOf: Checkout.file("docs/service/iso8583.md"), encoding: .utf8)
        let file = Array(try Data(contentsOf: Checkout.file("docs/examples/packager.json")))
        let packager = try Packager(file: file)
        let printed = try #require(text.firstMatch(of: #/```\n(0075 [0-9A-F \n]+)```/#)).1.filter { !$0.isWhitespace }
        var sale = ISOMessage(try #require(MessageType(200)))
        for (field, value) in [
            (2, "4761739001010119"), (3, "000000"), (4, "000000001234"), (7, "1124123456"), (11, "000042"),
            (12, "143456"), (13, "1124"), (14, "3012"), (22, packager.requests.stripeEntry), (25, "00"),
            (32, "12345678901"), (35, "4761739001010119D3012201"), (37, "632812000042"), (41, "TERM0001"),
            (42, "M-4711         "), (43, String(repeating: "x", count: 40)), (49, "978"),
        ] { sale.set(field, value) }
        packager.requests.complete(&sale, .sale)
        let header = TPDU(destination: packager.frame.destination, source: 0)
        #expect(try Hex.string(packager.frame.frame(packager.build(sale), header)) == printed)
        let told = try #require(text.firstMatch(of: #/ (003F[0-9A-F ]+)\n(0210 .*)\n/#))
        var reader = FrameReader(packager.frame)
        reader.append(try Hex.bytes(told.1.filter { !$0.isWhitespace }))
        guard case .message(let answer, let swapped) = try reader.next() else {
            return #expect(Bool(false), "no frame")
        }
        #expect(swapped == header.swapped)
        #expect("\(try packager.parse(answer))" == told.2)
    }
}
