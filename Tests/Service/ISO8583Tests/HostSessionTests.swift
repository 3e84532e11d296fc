// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import ISO8583

/// A host with a session of its own, fields of its own, and a line that dies.
struct HostSessionTests {
    private let id = ExchangeID("a")

    private func network(_ code: String, _ more: [(Int, String)] = []) throws -> ISOMessage {
        var message = ISOMessage(try #require(MessageType(800)))
        for (field, text) in [(7, "1122000001"), (11, "000001"), (70, code)] + more { message.set(field, text) }
        return message
    }

    private func packager(_ more: String) throws -> Packager {
        try Packager(file: Array(#"{"name": "x", "base": "1987-bcd", \#(more)}"#.utf8))
    }

    // MARK: - S8

    /// 111 s before: the silence of an echo, and two echoes.
    @Test("S8: a payment without an answer asks for an echo at once, and one silence more ends the line")
    func halfOpen() throws {
        var rig = try LinkRig()
        _ = try rig.pay("a")
        let sent = rig.put(.tick, after: 20_000).sent
        #expect(sent.map(\.type.kind) == [4, 8])
        #expect(rig.put(.tick, after: 19_999).told == [])
        #expect(rig.put(.tick, after: 1).told == [.disconnect(.noEcho)])
    }

    @Test("S8: a host that answers that echo keeps its line, and is asked again with the next silence")
    func onlySlow() throws {
        var rig = try LinkRig()
        _ = try rig.pay("a")
        let echo = try #require(rig.put(.tick, after: 20_000).sent.last)
        _ = rig.put(.received(try rig.answer(to: echo, "00")))
        #expect(!rig.put(.tick, after: 40_000).told.contains(.disconnect(.noEcho)))
        #expect(rig.link.isSignedOn)
        _ = try rig.pay("b")
        #expect(rig.put(.tick, after: 20_000).sent.contains { $0.type.kind == 8 })
    }

    // MARK: - S13

    /// ISO 8583:1987, field 70: 001 sign-on, 002 sign-off.
    @Test("S13: a host's sign-off is answered, and nothing is sent until it signs on")
    func signedOff() throws {
        var rig = try LinkRig()
        _ = try rig.pay("a")
        let off = rig.put(.received(try network("002")))
        #expect(off.sent.map { $0.text(39) } == ["00"] && off.sent.first?.type == MessageType(810))
        #expect(off.told == [.alarm(.signedOff)])
        #expect(!rig.link.isSignedOn)
        let refused = rig.put(.authorize(ExchangeID("b"), try rig.payment()))
        #expect(refused == [.settled(ExchangeID("b"), .notSent(.notSignedOn))])
        // The payment before runs out, and its reversal waits.
        let late = rig.put(.tick, after: 20_000)
        #expect(late.sent.isEmpty && late.told == [.settled(id, .unknown)])
        #expect(rig.put(.received(try network("301"))).sent.first?.text(39) == "00")
        let on = rig.put(.received(try network("001")))
        #expect(on.sent.map(\.type) == [MessageType(810), MessageType(420)])
        #expect(rig.link.isSignedOn)
    }

    @Test("S13: a host that has signed off and says no more is asked after a minute")
    func signedOffForGood() throws {
        var rig = try LinkRig()
        _ = rig.put(.received(try network("002")))
        #expect(rig.put(.tick, after: 59_999).sent.isEmpty)
        let signOn = try #require(rig.put(.tick, after: 1).sent.first)
        #expect(signOn.type == MessageType(800) && signOn.text(70) == "001")
        _ = rig.put(.received(try rig.answer(to: signOn, "00")))
        #expect(rig.link.isSignedOn)
    }

    @Test("S13: a cut-over is answered with its fields, and its day is handed on")
    func cutOver() throws {
        var rig = try LinkRig(.ascii1987)
        let effects = rig.put(.received(try network("201", [(15, "1129")])))
        let answer = try #require(effects.sent.first)
        #expect(answer.text(39) == "00" && answer.text(15) == "1129" && answer.text(70) == "201")
        #expect(effects.contains(.cutOver("1129")))
        #expect(rig.link.isSignedOn)
    }

    @Test(
        "S13: the packager says what of a host's wishes is obeyed; the rest is refused and told",
        arguments: [true, false])
    func configured(isObeyed: Bool) throws {
        let words = isObeyed ? #""echo", "keyChange""# : #""echo""#
        let packager = try packager(#""network": {"obeyed": [\#(words)]}"#)
        let time = try #require(HostTime(year: 2026, month: 11, day: 22, hour: 14, minute: 30, second: 5))
        let moment = LinkMoment(milliseconds: 0, time: time)
        var link = AcquirerLink(packager, stan: 1, at: moment)
        _ = link.handle(.connected, at: moment)
        let key = link.handle(.received(try network("101")), at: moment)
        #expect(key.sent.first?.text(39) == (isObeyed ? "00" : "12"))
        #expect(key.told.isEmpty == isObeyed)
        let off = link.handle(.received(try network("002")), at: moment)
        #expect(off.sent.first?.text(39) == "12")
        #expect(
            throws: PackagerError.notOneOf("network.obeyed", ["signOn", "signOff", "echo", "cutOver", "keyChange"])
        ) {
            try self.packager(#""network": {"obeyed": ["everything"]}"#)
        }
    }

    /// “HTTP”: a web server at the acquirer's port.
    @Test("S13: the bytes where a length should stand are kept for the log, and no more of them")
    func wrongFrame() throws {
        var reader = FrameReader(FrameFormat())
        reader.append(Array("HTTP/1.1 400".utf8))
        #expect(throws: FrameError.self) { try reader.next() }
        #expect(reader.refusedHead == Array("HT".utf8))
    }

    // MARK: - S12

    @Test("S12: an answer with another field is told with the field, and is not taken", arguments: [7, 32, 37, 41])
    func namedField(field: Int) throws {
        var rig = try LinkRig()
        let answer = try rig.answer(to: try rig.pay("a"), "00") {
            $0.set(field, [7: "1122143006", 32: "10987654321", 37: "632614000099", 41: "TERM0002"][field] ?? "")
        }
        #expect(rig.put(.received(answer)).told == [.alarm(.answerDiffers(id, field: field))])
        #expect(rig.link.openExchanges.count == 1)
    }

    /// Public POS manuals: a host whose reference number is its own, and one that sets its own time.
    @Test("S12: a host's own reference names the payment from its answer on, also after a restart of the link")
    func hostReference() throws {
        let packager = try packager(#""answers": {"match": [32, 41], "reference": "host"}"#)
        let plain = try LinkRig()
        let moment = plain.moment
        var link = AcquirerLink(packager, stan: 1, at: moment)
        let signOn = try #require(link.handle(.connected, at: moment).sent.first)
        _ = link.handle(.received(try plain.answer(to: signOn, "00") { $0.set(7, "0101000000") }), at: moment)
        #expect(link.isSignedOn)
        let asked = try #require(link.handle(.authorize(id, try plain.payment()), at: moment).sent.first)
        let answer = try plain.answer(to: asked, "00") {
            $0.set(37, "HOST00000001")
            $0.set(7, "0101000000")
        }
        let effects = link.handle(.received(answer), at: moment)
        #expect(effects.told == [.settled(id, .approved(answer))])
        guard case .record(let exchange) = effects.first else { throw LinkRig.Missing() }
        #expect(exchange.original.text(37) == "HOST00000001")
        // A second one is the same answer; another terminal's is none.
        #expect(link.handle(.received(answer), at: moment).told == [])
        let reversal = try #require(link.handle(.reverse(id, .customerCancel), at: moment).sent.first)
        #expect(reversal.text(37) == "HOST00000001")
        var foreign = try plain.answer(to: reversal, "00")
        foreign.set(41, "TERM0002")
        #expect(link.handle(.received(foreign), at: moment).told == [.alarm(.answerDiffers(id, field: 41))])
    }

    @Test("S12: what is matched are fields that are kept of the request, and not the host's own")
    func answerRules() throws {
        #expect(throws: PackagerError.notInItself("answers.match", field: 55)) {
            try packager(#""answers": {"match": [55]}"#)
        }
        #expect(throws: PackagerError.notInItself("answers.match", field: 37)) {
            try packager(#""answers": {"match": [37], "reference": "host"}"#)
        }
        #expect(throws: PackagerError.missing("answers.match")) { try packager(#""answers": {"match": []}"#) }
        #expect(try packager(#""answers": {"reference": "host"}"#).answers.match == [7, 32, 41])
        let rules = try Packager(.bcd1987).answers
        #expect(rules == AnswerRules(match: [7, 32, 37, 41], reference: .ours))
        // An answer has one of the two names.
        var request = ISOMessage(try #require(MessageType(200)))
        for (field, text) in [(7, "1124123456"), (11, "000001"), (37, "000000000001")] { request.set(field, text) }
        for (kept, wrong) in [([7, 11], nil), ([11, 37], nil), ([11], 7)] as [([Int], Int?)] {
            #expect(request.keeping(kept).difference(from: request, rules) == wrong)
        }
    }
}
