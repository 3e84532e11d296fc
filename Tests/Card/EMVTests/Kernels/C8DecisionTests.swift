// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import EMV

/// Action analysis, cardholder verification, restarts, relay resistance and outcomes of kernel 8.
@Suite struct C8DecisionTests {
    private func outcome(_ change: (inout C8Bench) -> Void = { _ in }) throws -> Outcome {
        var bench = C8Bench()
        change(&bench)
        return try bench.run().outcome
    }

    @Test(
        arguments: [
            (0x21, false, ApplicationCryptogram.arqc), (0x14, true, .arqc), (0x34, false, .arqc), (0x23, false, .tc),
            (0x23, true, .aac), (0x16, true, .aac), (0x36, false, .tc), (0x22, false, .tc), (0x22, true, .arqc),
            (0x25, false, .tc),
        ] as [(UInt8, Bool, ApplicationCryptogram)])
    func `the terminal's type and the card decide where the TVR does not`(
        type: UInt8, cardIsOnlineOnly: Bool, expected: ApplicationCryptogram
    ) {
        let decision = Kernel8TAA.decide(
            .kernel8Format, denial: [], online: .floorLimitExceeded, TerminalType(rawValue: type),
            cardIsOnlineOnly: cardIsOnlineOnly)
        #expect(decision == expected)
    }

    @Test func `every bit of the TVR denies or goes online by its action code`() {
        for bit in 0..<40 as Range<UInt64> {
            let tvr = TVR(rawValue: 1 << bit)
            func decide(_ denial: TVR, _ online: TVR, _ type: UInt8) -> ApplicationCryptogram {
                Kernel8TAA.decide(
                    tvr, denial: denial, online: online, TerminalType(rawValue: type), cardIsOnlineOnly: false)
            }
            #expect(decide(tvr, [], 0x21) == .aac && decide(tvr, tvr, 0x22) == .aac && decide(tvr, [], 0x23) == .aac)
            #expect(decide([], tvr, 0x22) == .arqc)
            #expect(decide([], TVR(rawValue: ~tvr.rawValue), 0x22) == .tc)
            // Offline-only terminals have no use for the code of online.
            #expect(decide([], tvr, 0x23) == .tc)
        }
    }

    @Test(
        arguments: [
            (0x00, 0x08, Outcome.CVM.noCVM, "1F0002", ""), (0x01, 0x20, .obtainSignature, "1E0000", ""),
            (0x02, 0x40, .onlinePIN, "020000", "040000"), (0x03, 0x04, .confirmationCodeVerified, "010002", ""),
            (0x0F, 0x00, nil, "3F0000", ""), (0xFF, 0xFF, nil, "3F0001", "800000"),
            (0x04, 0xFF, nil, "3F0001", "800000"),
            (0x00, 0xF7, nil, "3F0001", "800000"), (0x01, 0xDF, nil, "3F0001", "800000"),
            (0x02, 0xBF, nil, "3F0001", "800000"), (0x03, 0xFB, nil, "3F0001", "800000"),
        ] as [(UInt8, UInt8, Outcome.CVM?, String, String)])
    func `the card's decision counts where the terminal has the method`(
        decision: UInt8, allowed: UInt8, cvm: Outcome.CVM?, results: String, tvr: String
    ) throws {
        let made = CardholderVerificationDecision(decision, allowed: allowed)
        #expect(made.cvm == cvm)
        #expect(Hex.string(made.results) == results)
        let bits = tvr.isEmpty ? [] : try Hex.bytes("0000" + tvr)
        #expect(made.tvr == (tvr.isEmpty ? [] : TVR(bits)))
    }

    @Test(
        arguments: [
            (0x40, ApplicationCryptogram.tc, Outcome.Status.approved), (0x80, .tc, .onlineRequest),
            (0x00, .tc, .declined),
            (0x80, .arqc, .onlineRequest), (0x00, .arqc, .declined), (0x00, .aac, .declined),
            (0x40, .arqc, .endApplication),
            (0x40, .aac, .endApplication), (0x80, .aac, .endApplication), (0xC0, .tc, .endApplication),
        ] as [(UInt8, ApplicationCryptogram, Outcome.Status)])
    func `the cryptogram may be less than asked for, never more`(
        information: UInt8, requested: ApplicationCryptogram, status: Outcome.Status
    ) throws {
        var bench = C8Bench()
        bench.cryptogram[0] = DataObject(0x9F27, [information])
        bench.set(
            DataObject(0x9F820C, [0, 0, 0, 0, 0]), DataObject(0x9F820B, [0, 0, 0, requested == .aac ? 0x80 : 0, 0]))
        if requested == .arqc { bench.set(DataObject(0x9F35, [0x21])) }
        let (outcome, commands) = try bench.run()
        #expect(commands.last?.p1 == requested.rawValue)
        #expect(outcome.status == status)
        #expect((outcome.error.l2 == .cardDataError) == (status == .endApplication))
    }

    @Test func `what the card reports can turn an approval into online or decline`() throws {
        func run(_ code: CardBytes.Tag) throws -> Outcome {
            try outcome {
                $0.cryptogram[0] = DataObject(0x9F27, [0x40])
                $0.cryptogram.append(DataObject(0x9F8104, [0xFF, 0x40, 0xFF, 0xFF, 0xFF]))
                $0.set(
                    DataObject(0x9F820C, [0, 0, 0, 0, 0]), DataObject(code, [0x00, 0x40, 0, 0, 0]),
                    DataObject(0x9F821A, [0xFF, 0x00, 0xFF, 0xFF, 0xFF]))
            }
        }
        #expect(try run(0x9F820C).status == .onlineRequest)
        #expect(try run(0x9F820B).status == .declined)
        #expect(try run(0x9F820B).dataRecord?.value(of: 0x95) == [0x00, 0x40, 0x00, 0x80, 0x81])
    }

    @Test func `an approval with signature says so`() throws {
        let outcome = try outcome {
            $0.set(DataObject(0x9F820C, [0, 0, 0, 0, 0]))
            $0.cryptogram[0] = DataObject(0x9F27, [0x40])
            $0.cryptogram[4] = DataObject(0x9F8102, [0x01])
        }
        #expect(outcome.uiOnOutcome?.message == .approvedPleaseSign)
        #expect(outcome.uiOnOutcome?.holdTime == 13)
    }

    @Test(
        arguments: [
            (0x00, Outcome.Status.declined), (0x09, .declined), (0x01, .declined), (0x17, .declined),
            (0x19, .endApplication), (0x20, .endApplication), (0x31, .endApplication),
        ] as [(UInt8, Outcome.Status)])
    func `a decline of anything but cash and purchase ends without a word`(
        type: UInt8, status: Outcome.Status
    ) throws {
        let outcome = try outcome {
            $0.type = TransactionType(rawValue: type)
            $0.cryptogram[0] = DataObject(0x9F27, [0x00])
        }
        #expect(outcome.status == status)
        #expect(outcome.uiOnOutcome?.message == (status == .declined ? .notAuthorised : .clearDisplay))
        #expect(outcome.dataRecord != nil)
    }

    @Test func `a restart indicator is read by its nibbles`() {
        #expect(RestartIndicator([0x20, 0x20])?.request == .presentAgain)
        #expect(RestartIndicator([0x31, 0x00])?.request == .otherInterface(.contactChip))
        #expect(RestartIndicator([0x32, 0x00])?.request == .otherInterface(.magStripe))
        #expect(RestartIndicator([0x3F, 0x00])?.request == .otherInterface(nil))
        #expect(RestartIndicator([0x10, 0x00])?.request == RestartIndicator.Request.none)
        #expect(RestartIndicator([0x20]) == nil && RestartIndicator(nil) == nil)
        let indicator = RestartIndicator([0x20, 0x20])
        #expect(indicator?.message(allowed: [0x20], else: .presentCardAgain) == .seePhone)
        #expect(indicator?.message(allowed: [0x21], else: .presentCardAgain) == .presentCardAgain)
        #expect(RestartIndicator([0x20, 0x77])?.message(allowed: [0x77], else: .presentCardAgain) == .presentCardAgain)
    }

    @Test func `relay resistance repeats with the same number and marks what it finds`() throws {
        func run(_ relay: [UInt8], _ milliseconds: UInt64) throws -> (Outcome, [CommandAPDU]) {
            var bench = C8Bench()
            bench.options[0] = DataObject(0x82, [0x01, 0x09])
            bench.set(DataObject(0x9F8209, [0x10, 0x00]), DataObject(0x9F821F, [0x9F, 0x81, 0x0C]))
            bench.relay = [0x80, 0x0A, 1, 2, 3, 4] + relay
            bench.milliseconds = milliseconds
            let (outcome, commands) = try bench.run()
            return (outcome, commands.filter { $0.ins == 0xEA })
        }
        let (good, once) = try run([0, 0, 0, 0x64, 0, 0x18], 5)
        #expect(good.dataRecord?.value(of: 0x95)?.last == 0x82 && once.count == 1)
        let (slow, thrice) = try run([0, 0, 0, 0x64, 0, 0x18], 20)
        #expect(slow.dataRecord?.value(of: 0x95)?.last == 0x86)
        #expect(thrice.count == 3 && thrice.allSatisfy { $0.data == [0x0A, 0x0B, 0x0C, 0x0D] })
        // 20 ms less 1.8 ms and 2.4 ms, above 10 ms by 5.8 ms.
        #expect(slow.discretionaryData?.value(of: 0x9F810C) == [0x00, 0x3A])
        let (fast, _) = try run([0xFF, 0xFF, 0xFF, 0xFF, 0, 0x18], 5)
        #expect(fast.error.l2 == .cardDataError)
        let (estimate, _) = try run([0, 0, 0, 0x64, 0, 0], 5)
        #expect(estimate.dataRecord?.value(of: 0x95)?.last == 0x82)
        let (short, _) = try run([0, 0], 5)
        #expect(short.error.l2 == .parsingError)
    }

    @Test func `discretionary data and data record take the names of the tag mapping list`() throws {
        let outcome = try outcome {
            $0.set(
                DataObject(0x9F8221, [0x9F, 0x26, 0xDF, 0x01, 0x9F, 0x82, 0x04, 0xDF, 0x02]),
                DataObject(0x9F821F, [0x9F, 0x82, 0x04]))
        }
        #expect(outcome.dataRecord?.value(of: 0xDF01) == [1, 2, 3, 4, 5, 6, 7, 8])
        #expect(outcome.dataRecord?.value(of: 0x9F26) == nil)
        #expect(outcome.discretionaryData?.map { $0.tag } == [0xDF02])
    }

    @Test func `data envelopes that are malformed or too long are the terminal's error`() throws {
        for list in [[0x9F, 0x81], [0x9F, 0x81, 0x11, 0x82, 0x01, 0x00] + [UInt8](repeating: 0, count: 256)] {
            let outcome = try outcome { $0.set(DataObject(0xBF8104, list)) }
            #expect(outcome.error.l2 == .terminalDataError)
        }
    }

    @Test func `a list of tags is read whole or not at all`() {
        #expect(TagList([])?.tags == [])
        #expect(TagList([0x84, 0x9F, 0x02, 0x9F, 0x81, 0x11])?.tags == [0x84, 0x9F02, 0x9F8111])
        for cut in [[0x9F], [0x84, 0x9F, 0x81], [0x9F, 0x81, 0x82, 0x83, 0x84]] as [[UInt8]] {
            #expect(TagList(cut) == nil)
        }
    }

    @Test func `a stopped kernel says so, and a command out of turn ends it`() throws {
        var kernel = Kernel8()
        let now = TapInstant(nanoseconds: 0)
        #expect(kernel.stop(now: now).error.l3 == .stop)
        guard case .finished(let outcome) = kernel.received(ResponseAPDU(status: .success), now: now).action else {
            Issue.record("a finished kernel sends nothing")
            return
        }
        #expect(outcome.status == .endApplication)
    }
}
