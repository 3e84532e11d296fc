// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import Envelope
import ReaderCore
import ReaderVirtual
import Testing

@testable import TapSession

/// The issuer's answer on its way to the card. The test card verifies the issuer's cryptogram by itself (EMV Book 2 §8.2.1,
/// held against pyemv in CardSim's tests); the kernel knows nothing of it.
@Suite("The issuer's answer and the card")
struct IssuerUpdateTests {
    private let marker = CardFingerprinter()

    /// A sale, and the reader on which the card is presented again.
    private func sale(_ name: String = "visa-issuer-update", marker: CardFingerprinter?) throws -> TapBench {
        let bench = try TapBench()
        for index in bench.tap.configuration.combinations.indices {
            // TTQ byte 3 bit 8: issuer update processing.
            bench.tap.configuration.combinations[index].limits.ttq = bench.tap.configuration.combinations[index].limits
                .ttq.map { TTQ(rawValue: $0.rawValue | 0x8000) }
        }
        bench.tap.marker = marker
        try bench.present(name)
        try bench.run()
        return bench
    }

    private func answer(_ bench: TapBench, scripts: String = "", code: String = "00") throws -> OnlineResponse {
        let text = try bench.plaintext()
        let bytes = try Hex.bytes(String(try #require(text.firstMatch(of: /"emv":"([0-9A-F]*)"/)).1))
        let record = try TLV.children(bytes).map { ($0.tag, Array(bytes[$0.value])) }
        let data = try #require(TestIssuer.authenticationData(for: record, responseCode: Array(code.utf8)))
        return OnlineResponse(
            authorisationResponseCode: Array(code.utf8), issuerAuthenticationData: data, scripts: try Hex.bytes(scripts)
        )
    }

    /// A script of one command in template 72: 86, seven bytes.
    private static let script = "7209860784DA9F58020A0B"

    private func update(
        _ bench: TapBench, _ response: OnlineResponse, milliseconds: UInt64 = 5_000,
        onMessage: (UIRequest) -> Void = { _ in }
    ) throws -> IssuerUpdateOutcome {
        let update = try #require(bench.result?.issuerUpdate)
        let deadlines = TapDeadlines(card: monotonicNow().advanced(byMilliseconds: milliseconds))
        return withoutActuallyEscaping(onMessage) { onMessage in
            update.run(
                response, on: bench.reader, marker: marker, deadlines: deadlines, cancellation: bench.cancellation
            ) {
                if case .show(let request) = $0 { onMessage(request) }
            }
        }
    }

    @Test func `the card takes its issuer's answer and its script, and is asked for with its own message`() throws {
        let bench = try sale(marker: marker)
        var messages: [UIRequest] = []
        let outcome = try update(bench, answer(bench, scripts: Self.script)) { messages.append($0) }
        #expect(outcome.state == .done)
        #expect(outcome.scriptResults == [0x90, 0x00, 0x90, 0x00])
        #expect(messages.first?.message == .presentCardAgain)
        #expect(bench.reader.notes.last == "release")
    }

    @Test func `an answer that is not the issuer's is refused by the card, and so is its script`() throws {
        let bench = try sale(marker: marker)
        var forged = try answer(bench, scripts: Self.script)
        forged.issuerAuthenticationData[0] ^= 0x01
        let outcome = try update(bench, forged)
        #expect(outcome.state == .failed)
        #expect(outcome.scriptResults == [0x63, 0x00, 0x69, 0x85])
    }

    @Test func `the response code is part of what the issuer vouches for`() throws {
        let bench = try sale(marker: marker)
        var other = try answer(bench, code: "05")
        other.issuerAuthenticationData[9] = 0x30
        #expect(try update(bench, other).state == .failed)
    }

    @Test func `another kind of card gets nothing of the answer`() throws {
        let bench = try sale(marker: marker)
        let response = try answer(bench)
        try bench.control.obey("remove")
        // The same application, whose PDOL is another.
        try bench.present("repeated-dol")
        let outcome = try update(bench, response)
        #expect(outcome.state == .failed)
        #expect(outcome.scriptResults.isEmpty)
    }

    @Test func `a card of the same kind refuses the answer to another one's cryptogram`() throws {
        let bench = try sale(marker: marker)
        let response = try answer(bench)
        try bench.control.obey("remove")
        try bench.present("visa-issuer-update")
        let outcome = try update(bench, response)
        #expect(outcome.state == .failed)
        #expect(outcome.scriptResults == [0x69, 0x85])
    }

    @Test func `without a card nothing is done, and so with an answer that cannot be brought to one`() throws {
        let bench = try sale(marker: marker)
        let response = try answer(bench)
        let update = try #require(bench.result?.issuerUpdate)
        #expect(update.isDue(after: response))
        for odd in [
            OnlineResponse(authorisationResponseCode: [0x30, 0x30]),
            OnlineResponse(authorisationResponseCode: [0x30, 0x30], issuerAuthenticationData: [1, 2, 3]),
            OnlineResponse(authorisationResponseCode: [0x30, 0x30], scripts: [0x72, 0x05, 0x86]),
            OnlineResponse(
                authorisationResponseCode: [0x30, 0x30],
                scripts: [0x72, 0x81, 0x90] + [UInt8](repeating: 0, count: 144)),
        ] {
            #expect(!update.isDue(after: odd))
            #expect(try self.update(bench, odd).state == .skipped)
        }
        try bench.control.obey("remove")
        #expect(try self.update(bench, response, milliseconds: 50).state == .skipped)
    }

    @Test func `a card that leaves in between has failed`() throws {
        let bench = try sale(marker: marker)
        let response = try answer(bench)
        try bench.control.obey("remove")
        var card = LeavingCard(card: try #require(CardCatalogue.card(named: "visa-issuer-update")))
        card.leavesAt = 0x82
        try bench.control.present(card, named: "leaving")
        #expect(try update(bench, response).state == .failed)
    }

    @Test func `only a card that wants it, on a terminal that can, and with a mark is asked for again`() throws {
        #expect(try sale("visa", marker: marker).result?.issuerUpdate == nil)
        #expect(try sale("mastercard", marker: marker).result?.issuerUpdate == nil)
        #expect(try sale(marker: nil).result?.issuerUpdate == nil)
        let plain = try TapBench()
        plain.tap.marker = marker
        try plain.present("visa-issuer-update")
        #expect(try plain.run()?.status == .onlineRequest)
        #expect(plain.result?.issuerUpdate == nil)
        let update = try #require(try sale(marker: marker).result?.issuerUpdate)
        #expect("\(update)" == "issuer update of AID A0000000031010, kernel 3")
        #expect(Mirror(reflecting: update).children.isEmpty)
    }
}

/// Leaves the field at one command.
private struct LeavingCard: VirtualCard {
    var card: any VirtualCard
    var leavesAt: UInt8 = 0

    var activation: CardActivation { card.activation }

    mutating func powerOn() { card.powerOn() }

    mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        command.count > 1 && command[1] == leavesAt ? .gone : card.answer(command)
    }
}
