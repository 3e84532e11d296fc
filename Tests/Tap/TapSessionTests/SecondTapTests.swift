// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import ReaderCore
import ReaderVirtual
import Testing

@testable import TapSession

/// A phone that does not answer GENERATE AC the first time: it wants its holder first, or leaves the field.
private struct UnreadyPhone: VirtualCard {
    enum FirstAnswer {
        /// AAC and POS Cardholder Interaction Information (DF4B of kernel 2).
        case wantsHolder
        case leaves
    }

    var phone: any VirtualCard
    var firstAnswer: FirstAnswer?

    var activation: CardActivation { phone.activation }

    mutating func powerOn() { phone.powerOn() }

    mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        guard command.count > 1, command[1] == 0xAE, let first = firstAnswer else { return phone.answer(command) }
        firstAnswer = nil
        switch first {
        case .leaves: return .gone
        case .wantsHolder:
            var writer = TLVWriter()
            writer.append(0x77) { answer in
                answer.append(0x9F27, [0x00])
                answer.append(0x9F36, [0x00, 0x01])
                answer.append(0x9F26, [UInt8](repeating: 0x11, count: 8))
                // Byte 2 bit 1: on-device cardholder verification is wanted.
                answer.append(0xDF4B, [0x00, 0x01, 0x00])
            }
            return .answer(writer.bytes + [0x90, 0x00])
        }
    }
}

@Suite("Second taps")
struct SecondTapTests {
    private func phone(_ first: UnreadyPhone.FirstAnswer?) throws -> UnreadyPhone {
        UnreadyPhone(phone: try #require(CardCatalogue.card(named: "mastercard-phone")), firstAnswer: first)
    }

    /// Runs a tap above the CVM limit; `onMessage` hears every message before it is written down.
    private func run(
        _ bench: TapBench, onMessage: (UIRequest.Message) throws -> Void = { _ in }
    ) throws -> (result: PaymentTapResult?, messages: [UIRequest.Message]) {
        bench.tap.transaction.amount = 6_000
        var messages: [UIRequest.Message] = []
        var result: PaymentTapResult?
        try withoutActuallyEscaping(onMessage) { onMessage in
            try bench.tap.run(on: bench.reader, cancellation: bench.cancellation) { signal in
                guard case .show(let request) = signal else { return }
                do { try onMessage(request.message) } catch { Issue.record(error) }
                messages.append(request.message)
            } deliver: {
                result = $0
            }
        }
        return (result, messages)
    }

    @Test func `a phone that wants its holder is read at its second tap by the same run`() throws {
        let bench = try TapBench()
        try bench.control.present(phone(.wantsHolder), named: "phone")
        let (result, messages) = try run(bench)
        #expect(result?.status == .onlineRequest)
        #expect(result?.read?.clearTags.value(of: 0x9F34) == [0x01, 0x00, 0x02])
        let asked = try #require(messages.firstIndex(of: .seePhone))
        #expect(try #require(messages.lastIndex(of: .authorising)) > asked)
        #expect(bench.reader.notes.filter { $0 == "activate" }.count == 2)
        #expect(bench.reader.notes.last == "release")
    }

    @Test func `a phone lost in GENERATE AC is asked for again and its second cryptogram counts`() throws {
        let bench = try TapBench()
        try bench.control.present(phone(.leaves), named: "phone")
        let (result, messages) = try run(bench) { message in
            guard message == .presentCardAgain else { return }
            try bench.control.obey("remove")
            try bench.control.present(phone(nil), named: "phone")
        }
        #expect(result?.status == .onlineRequest)
        #expect(messages.contains(.presentCardAgain))
        #expect(result?.read?.clearTags.value(of: 0x9F26)?.count == 8)
    }

    @Test func `a Visa phone that says 6986 is read once its field was off`() throws {
        let bench = try TapBench()
        try bench.present("see-phone")
        let (result, messages) = try run(bench)
        #expect(result?.status == .onlineRequest)
        #expect(messages.filter { $0 == .seePhone }.count == 2)
        #expect(bench.reader.notes.filter { $0 == "release" }.count == 2)
    }

    @Test func `a phone whose holder never comes ends with the time for a card`() throws {
        let bench = try TapBench(milliseconds: 200)
        try bench.control.present(phone(.leaves), named: "phone")
        #expect(throws: PaymentTapError.reader(.timedOut)) { try run(bench) }
        #expect(bench.result == nil)
    }
}
