// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Loyalty
import Testing

@Suite struct `Polling frames` {
    @Test(arguments: try LoyaltyVector.all("ecp.frame"))
    func `a frame has the published payload and checksum`(_ vector: LoyaltyVector) throws {
        let frame: ECPFrame =
            switch vector.id {
            case "ecp-vasOrPayment": ECPFrame(.passOrPayment)
            case "ecp-vasAndPayment": ECPFrame(.passAndPayment)
            case "ecp-vasOnly": ECPFrame(.passOnly)
            case "ecp-ignore-v1": .ignore
            default:
                ECPFrame(
                    configuration: 0xC8, type: 0x01, subtype: 0x00,
                    data: [0x03, 0x00, 0x02, 0x79, 0x00, 0x00, 0x00, 0x00])
            }
        #expect(frame.payload == (try vector.bytes("payload")))
        #expect(frame.checksum == (try vector.bytes("crcA")))
        #expect(frame.onAir == (try vector.bytes("onAir")))
        #expect(frame.bitCount == (try vector.number("bits")))
    }

    @Test func `the frame for payment alone ends in mode 3`() throws {
        #expect(ECPFrame(.paymentOnly).onAir == (try Hex.bytes("6A010000036DC3")))
    }

    @Test func `only readers that send the frame promise to select the pass`() {
        #expect(PassAutoSelection.pollingFrames.isAvailable)
        #expect(PassAutoSelection.readerFirmware.isAvailable)
        for reason in PassAutoSelection.Reason.allCases { #expect(!PassAutoSelection.unavailable(reason).isAvailable) }
    }
}

@Suite struct `NDEF tags` {
    @Test(arguments: try LoyaltyVector.all("ndef.t2t.memory"))
    func `a Type 2 memory yields UID and message`(_ vector: LoyaltyVector) throws {
        let bytes = try vector.bytes("memory")
        let memory = try Type2Memory(bytes)
        #expect(memory.uid == (try vector.bytes("uid")))
        let range = try #require(memory.message)
        #expect(Array(bytes[range]) == (try vector.bytes("ndef")))
        try expectContent(NDEFContent.all(in: bytes.span, range: range), vector)
    }

    private func expectContent(_ contents: [NDEFContent], _ vector: LoyaltyVector) throws {
        let expected = try #require(vector.object["expected"] as? [String: String])
        let content = try #require(contents.first)
        #expect(content.value.text == expected["value"])
        let kind: NDEFContent.Kind? =
            switch expected["type"] {
            case "U": .uri
            case "T": .text(language: expected["lang"] ?? "")
            default: expected["type"].map { .media(type: $0) }
            }
        #expect(content.kind == kind)
    }

    @Test(arguments: try LoyaltyVector.all("ndef.t4t.transcript"))
    func `a Type 4 tag is read command by command`(_ vector: LoyaltyVector) throws {
        var machine = Type4Read()
        let outcome = try #require(replay(&machine, vector.exchanges()))
        switch outcome {
        case .message(let message):
            #expect(message.revealed == (try vector.bytes("ndef")))
            try expectContent(message.withSpan { try NDEFContent.all(in: $0) }, vector)
        case .noNDEF(let status):
            #expect(status == .fileNotFound && vector.optionalText("ndef") == nil)
        case .refused, .malformed, .tooLarge, .cardLost:
            Issue.record("not read")
        }
    }

    @Test func `the tag in software gives a long message in pieces of every size`() throws {
        var writer = NDEFWriter()
        writer.append(.external, type: "example.com:member", payload: [UInt8](repeating: 0x41, count: 700))
        for pieces in [0x0F, 0x3B, 0xFF] as [UInt8] {
            var card: any VirtualCard = MemberTag(message: writer.bytes, maximumReadLength: pieces)
            var machine = Type4Read()
            guard case .message(let message) = play(&machine, on: &card).outcome else {
                Issue.record("not read in pieces of \(pieces)")
                continue
            }
            #expect(message.revealed == writer.bytes)
        }
    }

    @Test func `a message larger than the limit is refused before it is read`() {
        var card: any VirtualCard = MemberTag(message: [UInt8](repeating: 0, count: 9_000))
        var machine = Type4Read()
        let played = play(&machine, on: &card)
        guard case .tooLarge = played.outcome else {
            Issue.record("not refused")
            return
        }
        #expect(played.commands.count == 5)
    }

    @Test func `smart posters are looked into and external and absolute records understood`() throws {
        var poster = NDEFWriter()
        poster.append(.wellKnown, type: "T", payload: [0x02] + Array("deHallo".utf8))
        poster.append(.wellKnown, type: "U", payload: [0x02] + Array("example.com".utf8))
        var message = NDEFWriter()
        message.append(.wellKnown, type: "Sp", payload: poster.bytes)
        message.append(.external, type: "example.com:member", payload: Array("42".utf8))
        message.append(.absoluteURI, type: "https://example.org/", payload: [])
        message.append(.unknown, type: "", payload: [1, 2, 3])
        let contents = try NDEFContent.all(in: message.bytes.span)
        #expect(
            contents.map(\.kind) == [.text(language: "de"), .uri, .external(type: "example.com:member"), .uri])
        #expect(contents.map(\.value.text) == ["Hallo", "https://www.example.com", "42", "https://example.org/"])
    }

    @Test(arguments: [
        ("8065E5672C", "\u{65E5}\u{672C}"), ("80FEFF0041", "A"), ("80FFFE4100", "A"), ("80D83DDE00", "\u{1F600}"),
    ])
    func `UTF-16 text is read in either order and with surrogates`(_ payload: String, _ text: String) throws {
        var message = NDEFWriter()
        message.append(.wellKnown, type: "T", payload: try Hex.bytes(payload))
        #expect(try NDEFContent.all(in: message.bytes.span).map(\.value.text) == [text])
    }

    @Test(arguments: ["80D83D", "80DE00", "80D83D0041", "8000", "00FF", "05656E", ""])
    func `damaged text is left out`(_ payload: String) throws {
        var message = NDEFWriter()
        message.append(.wellKnown, type: "T", payload: try Hex.bytes(payload))
        #expect(try NDEFContent.all(in: message.bytes.span).isEmpty)
    }

    @Test func `a member number is what follows the programme's prefix`() throws {
        var message = NDEFWriter()
        message.append(.wellKnown, type: "U", payload: [0x04] + Array("shop.example/m/77".utf8))
        message.append(.wellKnown, type: "T", payload: [0x82] + Array("en".utf8) + [0x00, 0x4E, 0x00, 0x31])
        message.append(.external, type: "example.com:member", payload: Array("42".utf8))
        message.append(.media, type: "text/plain", payload: Array("x".utf8))
        let contents = try NDEFContent.all(in: message.bytes.span)
        func number(_ rule: NDEFMembership) -> String? { rule.memberNumber(in: contents)?.text }
        #expect(number(.uri(prefix: "https://shop.example/m/")) == "77")
        #expect(number(.uri(prefix: "https://other.example/")) == nil)
        #expect(number(.uri(prefix: "https://shop.example/m/77")) == nil)
        #expect(number(.text(prefix: "N")) == "1")
        #expect(number(.external(type: "example.com:member")) == "42")
        #expect(number(.media(type: "text/plain")) == "x")
        #expect(number(.external(type: "other")) == nil)
    }

    @Test(arguments: [
        ("D1", NDEFError.truncated(offset: 0)), ("D10105", .truncated(offset: 0)),
        ("51010055", .misplacedBegin(offset: 0)), ("F1010055", .chunked(offset: 0)),
        ("D60000", .unsupportedFormat(offset: 0)), ("D70000", .unsupportedFormat(offset: 0)),
        ("D0010055", .unsupportedFormat(offset: 0)), ("D101005500", .bytesAfterLast(offset: 4)),
        ("91010055", .truncated(offset: 4)), ("9101005591010055", .misplacedBegin(offset: 4)),
        ("C101FFFFFFFF55", .truncated(offset: 0)), ("", .truncated(offset: 0)),
    ])
    func `damaged messages are refused with the place`(_ hex: String, _ error: NDEFError) throws {
        let bytes = try Hex.bytes(hex)
        #expect(throws: error) { try NDEF.records(of: bytes) }
    }

    @Test func `a message of too many records is refused`() {
        var writer = NDEFWriter()
        for _ in 0...NDEF.maximumRecords { writer.append(.wellKnown, type: "T", payload: []) }
        let bytes = writer.bytes
        #expect(throws: NDEFError.tooManyRecords) { try NDEF.records(of: bytes) }
    }

    @Test func `Type 2 memories with wrong check bytes or lengths are refused`() throws {
        let good = try LoyaltyVector.one("t2t-url", kind: "ndef.t2t.memory").bytes("memory")
        func changed(_ offset: Int, _ value: UInt8) -> [UInt8] {
            var bytes = good
            bytes[offset] = value
            return bytes
        }
        #expect(throws: Type2MemoryError.wrongCheckByte) { try Type2Memory(changed(3, good[3] ^ 1)) }
        #expect(throws: Type2MemoryError.wrongCheckByte) { try Type2Memory(changed(8, good[8] ^ 1)) }
        #expect(throws: Type2MemoryError.noCapabilityContainer) { try Type2Memory(changed(12, 0)) }
        #expect(throws: Type2MemoryError.tooShort) { try Type2Memory(Array(good.prefix(15))) }
        #expect(throws: Type2MemoryError.truncated) { try Type2Memory(changed(17, 0xFE)) }
        #expect(try Type2Memory(changed(16, 0xFE)).message == nil)
        // Lock control and padding before the message.
        let shifted = Array(good.prefix(16)) + [0x01, 0x03, 0xA0, 0x10, 0x44, 0x00] + Array(good.dropFirst(16))
        #expect(try Type2Memory(shifted).message?.lowerBound == 24)
    }
}

@Suite struct `Card identifiers` {
    @Test(arguments: try LoyaltyVector.all("uid.class"))
    func `a UID's class decides whether it may be a member number`(_ vector: LoyaltyVector) throws {
        let uid = try vector.bytes("uid")
        let expected = try vector.text("expected")
        let (uidClass, refusal): (UIDClass, UIDRefusal?) =
            expected.hasPrefix("fixed")
            ? (.fixed(manufacturer: 0x04), nil)
            : expected.hasPrefix("4-byte")
                ? (.mayRepeat, .mayRepeat)
                : expected.hasPrefix("random") ? (.random, .random) : (.triple, nil)
        #expect(UIDClass(uid) == uidClass)
        let card = CardActivation(technology: .typeA, uid: uid, sak: UInt8(try vector.text("sak"), radix: 16))
        switch UIDMembership().memberNumber(of: card) {
        case .number(let number): #expect(refusal == nil && number.text == Hex.string(uid))
        case .refused(let reason): #expect(reason == refusal)
        }
    }

    @Test func `numbers follow the programme's format`() {
        func number(_ uid: [UInt8], _ membership: UIDMembership) -> String? {
            switch membership.memberNumber(of: CardActivation(technology: .typeA, uid: uid)) {
            case .number(let number): number.text
            case .refused: nil
            }
        }
        let uid: [UInt8] = [0x04, 0, 0, 0, 0, 0, 0xFF]
        #expect(number(uid, UIDMembership(isReversed: true)) == "FF000000000004")
        #expect(number(uid, UIDMembership(format: .decimal)) == "1125899906842879")
        #expect(
            number([0x04, 0, 0, 0, 0, 0, 1], UIDMembership(format: .decimal, isReversed: true, minimumDigits: 17))
                == "00281474976710660")
        #expect(number([0x01, 0x02, 0x03, 0x04], UIDMembership(acceptsRepeating: true)) == "01020304")
        #expect(
            number([UInt8](repeating: 0xFF, count: 10), UIDMembership(format: .decimal)) == "1208925819614629174706175")
        #expect(number([0x08, 0x02, 0x03, 0x04], UIDMembership(acceptsRepeating: true)) == nil)
    }

    @Test func `what is no UID is refused`() {
        func refusal(_ card: CardActivation) -> UIDRefusal? {
            switch UIDMembership(acceptsRepeating: true).memberNumber(of: card) {
            case .number: nil
            case .refused(let reason): reason
            }
        }
        #expect(refusal(CardActivation(technology: .typeB, uid: [1, 2, 3, 4])) == .notAnIdentifier)
        #expect(refusal(CardActivation(technology: .typeA)) == .unknown)
        #expect(refusal(CardActivation(technology: .typeA, uid: [0x88, 2, 3, 4])) == .notAnIdentifier)
        #expect(refusal(CardActivation(technology: .typeA, uid: [1, 2, 3])) == .notAnIdentifier)
    }
}
