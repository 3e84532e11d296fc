// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import ISO8583

/// Fields 64 and 128, and the key that a host hands over.
struct MACTests {
    private let id = ExchangeID("a")

    private func packager(_ mac: String, _ more: String = "") throws -> Packager {
        try Packager(file: Array(#"{"name": "x", "base": "1987-bcd", "mac": {\#(mac)}\#(more)}"#.utf8))
    }

    @Test("S20: a code stands at the end, in 64 or in 128 where a field above 64 is there, and covers all before it")
    func place() throws {
        let packager = try packager(#""algorithm": "cmac""#)
        var message = ISOMessage(try #require(MessageType(200)))
        for (field, text) in [(3, "000000"), (4, "000000001000"), (11, "000001")] { message.set(field, text) }
        let code: [UInt8] = Array(1...16)
        for field in [64, 128] {
            if field == 128 { message.set(90, String(repeating: "0", count: 42)) }
            let bare = try packager.uncoded(message)
            #expect(bare.field == field)
            let bytes = try packager.build(message, code: code)
            #expect(bytes == bare.bytes + code.prefix(8))
            let parsed = try packager.parse(bytes)
            #expect(parsed[field] == Array(code.prefix(8)) && parsed.fields.last == field)
            let coded = try #require(packager.coded(bytes, parsed))
            #expect(coded.covered == bare.bytes && coded.code == Array(code.prefix(8)))
            let unsigned = try packager.build(message)
            #expect(packager.coded(unsigned, message) == nil)
        }
        // Eight bytes at the end are no code in another field, as a PIN block's are.
        var ending = ISOMessage(message.type)
        ending[52] = Array(1...8)
        #expect(try packager.coded(packager.build(ending), ending) == nil)
        let (network, plain) = try (#require(MessageType(800)), Packager(.bcd1987))
        #expect(packager.hasCode(message.type) && !packager.hasCode(network) && !plain.hasCode(message.type))
    }

    @Test("S20: a packager's “mac” is read strictly")
    func settings() throws {
        #expect(throws: PackagerError.missing("mac.algorithm")) { try packager("") }
        #expect(throws: PackagerError.notOneOf("mac.algorithm", ["cmac", "retail"])) {
            try packager(#""algorithm": "des""#)
        }
        #expect(throws: PackagerError.noSuchField("mac.exchange", field: 129)) {
            try packager(#""algorithm": "cmac", "exchange": 129"#)
        }
        for format in ["b4", "ans8"] {
            #expect(throws: PackagerError.wrongKind("fields.64", wanted: "the format b8, for “mac” is here")) {
                try packager(
                    #""algorithm": "cmac""#, #", "fields": [{"field": 64, "name": "x", "format": "\#(format)"}]"#)
            }
        }
        #expect(try packager(#""algorithm": "retail""#).mac == MACRules(algorithm: .retail, exchange: nil))
        #expect(
            try packager(#""algorithm": "retail", "exchange": 48"#).mac == MACRules(algorithm: .retail, exchange: 48))
    }

    // MARK: - Answers

    private func rig() throws -> LinkRig {
        var rig = try LinkRig()
        rig.link = AcquirerLink(
            try packager(#""algorithm": "retail""#), stan: 1, at: LinkMoment(milliseconds: 1_000, time: rig.time))
        _ = rig.put(.connected)
        _ = rig.put(.received(try rig.answer(to: try rig.signOn(), "00")))
        return rig
    }

    @Test(
        "S20: an answer whose code is wrong or missing is doubt at once, whatever it says",
        arguments: ["00", "51", nil])
    func doubt(code: String?) throws {
        var rig = try rig()
        let asked = try rig.pay("a")
        let effects = rig.put(.unauthenticated(try rig.answer(to: asked, code)))
        #expect(effects.told == [.settled(id, .unknown), .alarm(.notAuthentic(id))])
        #expect(effects.sent.map(\.type.description) == ["0420"])
        // The host's own word after that comes too late, and is told nobody.
        let late = rig.put(.received(try rig.answer(to: asked, "00")))
        #expect(late.told == [.alarm(.lateApproval(id, afterReversal: false))])
    }

    @Test("S20: after an approval that cannot be verified the host's “never had it” is an open item")
    func unknownAfterDoubt() throws {
        var rig = try rig()
        let asked = try rig.pay("a")
        let taken = try #require(rig.put(.unauthenticated(try rig.answer(to: asked, "00"))).sent.first)
        let told = rig.put(.received(try rig.answer(to: taken, "25"))).told
        #expect(told.contains(.alarm(.openItem(id))) && !told.contains(.reversed(id)))
    }

    @Test("S20: an acknowledgement that cannot be verified ends nothing")
    func acknowledgement() throws {
        var rig = try rig()
        _ = try rig.pay("a")
        let taken = try #require(rig.put(.tick, after: 20_000).sent.first)
        #expect(taken.type.description == "0420")
        let effects = rig.put(.unauthenticated(try rig.answer(to: taken, "00")))
        #expect(effects == [.alarm(.notAuthentic(nil))])
        #expect(rig.link.openExchanges.map(\.id) == [id])
        #expect(rig.put(.received(try rig.answer(to: taken, "00"))).told == [.reversed(id)])
    }

    // MARK: - Keys

    private func keyed() throws -> (LinkRig, ISOMessage) {
        var rig = try LinkRig(signsOn: false)
        rig.link = AcquirerLink(
            try packager(#""algorithm": "cmac", "exchange": 48"#), stan: 1,
            at: LinkMoment(milliseconds: 1_000, time: rig.time))
        _ = rig.put(.connected)
        let effects = rig.put(.received(try rig.answer(to: try rig.signOn(), "00")))
        let request = try #require(effects.sent.first)
        #expect(request.type.description == "0800" && request.text(70) == "101")
        #expect(!rig.link.isSignedOn)
        return (rig, request)
    }

    @Test("S20: the key of a line is asked for after the sign-on, and nothing is sent before it is taken")
    func asked() throws {
        var (rig, request) = try keyed()
        #expect(rig.put(.authorize(id, try rig.payment())) == [.settled(id, .notSent(.notSignedOn))])
        let answer = try rig.answer(to: request, "00") { $0.set(48, "00") }
        #expect(rig.put(.received(answer)) == [.takeKey(answer)])
        #expect(!rig.link.isSignedOn)
        #expect(rig.put(.keyTaken(answer, true)) == [.useKey(answer)])
        #expect(rig.link.isSignedOn)
        // The host's own change of key: answered when it is taken, refused when not, and the line goes on.
        var change = ISOMessage(try #require(MessageType(800)))
        for (field, text) in [(7, "1122000001"), (11, "000001"), (48, "00"), (70, "101")] { change.set(field, text) }
        #expect(rig.put(.received(change)) == [.takeKey(change)])
        let taken = rig.put(.keyTaken(change, true))
        #expect(taken.sent.map { $0.text(39) } == ["00"])
        // The host uses the new key once it has this answer: S26.
        #expect(taken.last == .useKey(change) && taken.count == 2)
        let refused = rig.put(.keyTaken(change, false))
        #expect(refused.sent.map { $0.text(39) } == ["12"] && refused.told == [.alarm(.keyRefused)])
        #expect(rig.link.isSignedOn)
    }

    @Test("S20: a line without a key that can be taken ends", arguments: [true, false])
    func none(isSilent: Bool) throws {
        var (rig, request) = try keyed()
        if isSilent {
            #expect(rig.put(.tick, after: 20_000) == [.disconnect(.noKey)])
        } else {
            let answer = try rig.answer(to: request, "00") { $0.set(48, "00") }
            _ = rig.put(.received(answer))
            #expect(rig.put(.keyTaken(answer, false)) == [.alarm(.keyRefused), .disconnect(.noKey)])
        }
        #expect(!rig.link.isSignedOn)
    }

    @Test("S20: where the key is one of the settings, the host's change of it is refused")
    func kept() throws {
        var rig = try rig()
        var change = ISOMessage(try #require(MessageType(800)))
        for (field, text) in [(7, "1122000001"), (11, "000001"), (70, "101")] { change.set(field, text) }
        let effects = rig.put(.received(change))
        #expect(effects.sent.map { $0.text(39) } == ["12"])
        #expect(effects.told == [.alarm(.notServed(change.type))])
    }

    @Test("S20: a handed key is hexadecimal: a wrapping and three bytes of its check value")
    func text() throws {
        let text = Array(String(repeating: "ab", count: 24).utf8) + Array("010203".utf8)
        let key = try #require(HandedKey(text, .cmac))
        #expect(key.wrapped.count == 24 && key.trials == [HandedKey.Trial(wrapped: key.wrapped, check: [1, 2, 3])])
        let wrong: [[UInt8]] = [text.dropLast(2), text.dropLast(1), text + [0x30, 0x30], Array("zz".utf8), []]
        for text in wrong {
            #expect(HandedKey(text, .cmac) == nil)
        }
        #expect(HandedKey(text, .retail) == nil)
    }

    /// ISO 9797-1, algorithm 3: all blocks but the last one are chained by the left key alone.
    @Test(
        "S27: a handed key of the retail MAC is two keys and the left one, each with its own check value",
        arguments: [24, 32])
    func retailText(count: Int) throws {
        let (both, left) = (String(repeating: "ab", count: count), String(repeating: "cd", count: count))
        let text = Array((both + "010203" + left + "040506").utf8)
        let key = try #require(HandedKey(text, .retail))
        let parts = (key.wrapped.prefix(count), key.wrapped.suffix(count))
        #expect(
            parts.0.allSatisfy { $0 == 0xAB } && parts.1.allSatisfy { $0 == 0xCD } && key.wrapped.count == 2 * count)
        #expect(
            key.trials == [
                HandedKey.Trial(wrapped: key.wrapped, check: [1, 2, 3]),
                HandedKey.Trial(wrapped: Array(parts.1 + parts.1), check: [4, 5, 6]),
            ])
        // Two keys that are one are DES with one key.
        let wrong: [[UInt8]] = [
            Array((both + "010203").utf8), text.dropLast(2), text.dropLast(6),
            Array((both + "010203" + both + "010203").utf8),
            Array((both + "010203" + left + "010203").utf8),
            // No wrapped key has so many bytes.
            Array(("ab" + both + "010203cd" + left + "040506").utf8),
        ]
        for text in wrong { #expect(HandedKey(text, .retail) == nil) }
    }
}
