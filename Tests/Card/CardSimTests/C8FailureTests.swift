// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import EMVCrypto
import TestSupport
import Testing

@testable import CardSim

/// Kernel 8 against cards that lie, leave or talk nonsense.
@Suite struct C8FailureTests {
    /// Changes the value of `tag` in the answers that carry it.
    private func run(changing tag: CardBytes.Tag, _ kernelData: [DataObject] = []) throws -> C8Tap.Run {
        var tap = C8Tap()
        tap.kernelData = kernelData
        var changed = 0
        let run = try tap.run { _, answer in
            guard let node = try? TLV.first(tag, answer.data), let last = node.value.last else { return answer }
            changed += 1
            var data = answer.data
            data[last] ^= 0x01
            return ResponseAPDU(data: data, status: answer.status)
        }
        #expect(changed > 0)
        return run
    }

    @Test(arguments: [0x9F8105, 0x9F26, 0x9F10, 0x9F36] as [CardBytes.Tag])
    func `a change to what the MACs cover ends the application`(_ tag: CardBytes.Tag) throws {
        let run = try run(changing: tag)
        #expect(run.outcome.outcome.status == .endApplication)
        #expect(run.error.l2 == .edaMACFailed)
        #expect(run.record.isEmpty)
        #expect(run.told.value(of: 0x9F8204) == run.error.bytes)
    }

    @Test func `another blinded key leads to other session keys, and nothing can be read`() throws {
        // The first byte of the value belongs to the key, the last one to the blinding factor.
        var tap = C8Tap()
        let run = try tap.run { _, answer in
            guard let node = try? TLV.first(0x9F8103, answer.data) else { return answer }
            var data = answer.data
            data.replaceSubrange(node.value.prefix(32), with: P256Generator.x)
            return ResponseAPDU(data: data, status: answer.status)
        }
        #expect(run.outcome.outcome.status == .endApplication)
    }

    @Test func `a key that is no point of the curve is a decryption failure`() throws {
        var tap = C8Tap()
        let run = try tap.run { _, answer in
            guard let node = try? TLV.first(0x9F8103, answer.data) else { return answer }
            var data = answer.data
            data.replaceSubrange(node.value.prefix(32), with: [UInt8](repeating: 0xFF, count: 32))
            return ResponseAPDU(data: data, status: answer.status)
        }
        #expect(run.outcome.outcome.status == .endApplication)
        #expect(run.error.l2 == .decryptionFailed)
    }

    @Test(arguments: [0x9F8103, 0x90] as [CardBytes.Tag])
    func `failed local authentication shows in the TVR where the configuration reports it`(
        _ tag: CardBytes.Tag
    ) throws {
        let reported = try run(changing: tag, [DataObject(0x9F8209, [0x08, 0x00])])
        #expect(reported.outcome.outcome.status == .onlineRequest)
        #expect(reported.record.value(of: 0x95)?[0] == 0x04)
        let silent = try run(changing: tag)
        #expect(silent.outcome.outcome.status == .onlineRequest)
        #expect(silent.record.value(of: 0x95)?[0] == 0x00)
        let denied = try run(changing: tag, [DataObject(0x9F820B, [0x04, 0, 0, 0, 0])])
        #expect(denied.outcome.outcome.status == .declined)
    }

    @Test func `an expired certificate and a missing CA key fail local authentication`() throws {
        for change in [
            { (tap: inout C8Tap) in tap.date = EMVDate(year: 2050, month: 1, day: 1) },
            { (tap: inout C8Tap) in tap.authentication = .using(.test, eccKeys: CAECCPublicKeys.none(.test)) },
        ] {
            var tap = C8Tap()
            tap.kernelData = [DataObject(0x9F8209, [0x08, 0x00])]
            change(&tap)
            #expect(try tap.run().record.value(of: 0x95)?[0] == 0x04)
        }
    }

    @Test func `a restart that the card asks for keeps the data record`() throws {
        for (indicator, status, message) in [
            ([0x20, 0x20], Outcome.Status.endApplication, UIRequest.Message.seePhone),
            ([0x20, 0x00], .endApplication, .presentCardAgain), ([0x20, 0x09], .endApplication, .presentCardAgain),
            ([0x31, 0x00], .tryAnotherInterface, .insertOrSwipe), ([0x3F, 0x1D], .tryAnotherInterface, .insertCard),
            ([0x00, 0x00], .declined, .notAuthorised),
        ] as [([UInt8], Outcome.Status, UIRequest.Message)] {
            var options = CommonKernelOptions()
            options.restartIndicator = indicator
            var tap = C8Tap(.personalised(disposition: .alwaysDeclines, options: options))
            let outcome = try tap.run().outcome.outcome
            #expect(outcome.status == status)
            #expect(outcome.uiOnOutcome?.message == message)
            #expect(outcome.start == (indicator[0] == 0x20 ? .b : nil))
            #expect(outcome.alternateInterface == (indicator[0] == 0x31 ? .contactChip : nil))
            #expect(outcome.dataRecord?.value(of: 0x9F27) == [0x00])
        }
    }

    @Test func `without cryptography the kernel ends before its first command`() throws {
        var tap = C8Tap()
        tap.authentication = .unavailable
        let run = try tap.run()
        #expect(run.outcome.outcome.status == .endApplication)
        #expect(run.error.l2 == .terminalDataError)
        #expect(run.commands.count == 2)
    }

    @Test func `RSA certificates are not done and end the application`() throws {
        var tap = C8Tap()
        tap.kernelData = [DataObject(0x9F8209, [0x20, 0x00])]
        let run = try tap.run()
        #expect(run.outcome.outcome.status == .endApplication)
        #expect(run.error.l2 == .terminalDataError)
    }

    private static let disturbed: [DataObject] = [
        DataObject(0x9F8209, [0x18, 0x00]), DataObject(0x9F8203, [0x9F, 0x81, 0x11]),
        DataObject(0xBF8104, [0x9F, 0x81, 0x12, 0x01, 0x55]),
    ]

    /// A transaction with every command that the kernel knows: SELECT twice, GPO, relay resistance, three records, READ
    /// DATA, GENERATE AC, WRITE DATA.
    private func tap() -> C8Tap {
        var tap = C8Tap()
        tap.kernelData = Self.disturbed
        return tap
    }

    @Test func `a card lost after any step leads to an outcome`() throws {
        var whole = tap()
        let count = try whole.run().commands.count
        #expect(count == 10)
        for step in 0..<count {
            var torn = tap()
            var isLost = false
            let run = try torn.run { number, answer in
                if number == step || isLost {
                    isLost = number == step
                    return nil
                }
                return answer
            }
            #expect(run.outcome.outcome.status == .onlineRequest || run.outcome.outcome.status == .endApplication)
            // From GENERATE AC on the card may have counted the transaction: the tap does not just start over.
            if step == 8 { #expect(run.outcome.outcome.start == .b && run.commands.count == 9) }
            if step == 9 { #expect(run.verdict == .verified && run.commands.count == 10) }
        }
    }

    @Test func `an answer that is cut, too long, wrong or random leads to an outcome at every step`() throws {
        var generator = SeededGenerator(seed: 8)
        for step in 0..<10 {
            for round in 0..<30 {
                var odd = tap()
                let run = try odd.run { number, answer in
                    guard number == step else { return answer }
                    return Self.disturb(answer, round, &generator)
                }
                #expect(run.outcome.outcome.status != .selectNext && run.outcome.outcome.status != .tryAgain)
            }
        }
    }

    private static func disturb(
        _ answer: ResponseAPDU, _ round: Int, _ generator: inout SeededGenerator
    ) -> ResponseAPDU {
        var data = answer.data
        var status = answer.status
        switch round % 6 {
        case 0: data = Array(data.prefix(Int.random(in: 0...data.count, using: &generator)))
        case 1: data += (0..<40).map { _ in .random(in: 0...255, using: &generator) }
        case 2:
            if !data.isEmpty {
                data[Int.random(in: 0..<data.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
        case 3:
            data = (0..<Int.random(in: 0...256, using: &generator)).map { _ in .random(in: 0...255, using: &generator) }
        case 4: status = StatusWord(.random(in: 0x6000...0x6FFF, using: &generator))
        default: data = data.prefix(2) + data.dropFirst(2).shuffled(using: &generator)
        }
        return ResponseAPDU(data: data, status: status)
    }
}

/// x-coordinate of the base point: a key, but not the card's.
enum P256Generator {
    static let x: [UInt8] = .hex("6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296")
}
