// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import EMV

/// The rules of kernel 8, one at a time.
@Suite struct C8KernelTests {
    private func outcome(_ change: (inout C8Bench) -> Void = { _ in }) throws -> Outcome {
        var bench = C8Bench()
        change(&bench)
        return try bench.run().outcome
    }

    private func results(_ change: (inout C8Bench) -> Void) throws -> String {
        Hex.string(try outcome(change).dataRecord?.value(of: 0x95) ?? [])
    }

    @Test func `a good card goes online with the data record of the kernel`() throws {
        let outcome = try outcome()
        #expect(outcome.status == .onlineRequest)
        #expect(outcome.uiOnOutcome?.message == .authorising)
        #expect(outcome.cvm == .noCVM)
        #expect(outcome.fieldOffRequest == 0x0D)
        let record = try #require(outcome.dataRecord)
        #expect(record.map { $0.tag } == Kernel8.recordTags.filter { tag in record.contains { $0.tag == tag } })
        #expect(record.value(of: 0x9F8109) == [UInt8](repeating: 0xAA, count: 8))
        #expect(record.value(of: 0x95) == [0x00, 0x00, 0x00, 0x80, 0x81])
        #expect(outcome.error == ErrorIndication())
    }

    @Test func `the kernel sends its key and its qualifier where the PDOL asks for them`() throws {
        var bench = C8Bench()
        bench.selection.append(DataObject(0x9F38, [0x9E, 0x40, 0x9F, 0x2B, 0x08]))
        let first = try #require(try bench.run().commands.first)
        #expect(first.data.count == 2 + 72)
        #expect(first.data.suffix(8) == [0x02, 0x80, 0x00, 0x10, 0xFF, 0xFF, 0x00, 0x00])
        // The ephemeral key comes from the numbers after the Unpredictable Number.
        #expect(first.data[2..<6] == [0x0A, 0x0B, 0x0C, 0x0E])
        bench.set(DataObject(0x9F820A, [0x08]))
        #expect(try bench.run().commands.first?.data.suffix(8) == [0x02, 0x00, 0x00, 0x10, 0xFF, 0xFF, 0x00, 0x00])
    }

    @Test(arguments: ["", "00FFFFFFFF0000", "0200FFFF0000", "02"])
    func `without a card qualifier of this version the next application is selected`(_ qualifier: String) throws {
        let value = try Hex.bytes(qualifier)
        let outcome = try outcome { $0.selection[1] = DataObject(0x9F2C, value) }
        #expect(outcome.status == .selectNext && outcome.start == .c)
        #expect([.cardDataMissing, .parsingError].contains(outcome.error.l2))
        #expect(outcome.fieldOffRequest == nil)
    }

    @Test func `a card without the algorithm suite of the kernel cannot be used`() throws {
        let outcome = try outcome { $0.selection[1] = DataObject(0x9F2C, [2, 0x01, 0xFF, 0xFF, 0, 0, 0]) }
        #expect(outcome.status == .endApplication && outcome.error.l2 == .cardDataError)
        #expect(outcome.uiOnOutcome?.message == .insertSwipeOrTryAnotherCard)
    }

    @Test func `a card that refuses the processing options leads to the next application`() throws {
        let outcome = try outcome { $0.statuses[0xA8] = 0x6985 }
        #expect(outcome.status == .selectNext && outcome.start == .c && outcome.fieldOffRequest == nil)
        #expect(outcome.error.l2 == .statusBytes && outcome.error.statusWord == 0x6985)
    }

    @Test(arguments: [0, 1, 2])
    func `AIP, AFL and card key data are mandatory`(_ index: Int) throws {
        #expect(try outcome { $0.options.remove(at: index) }.error.l2 == .cardDataMissing)
    }

    @Test func `card key data of another length or without a point is a decryption failure`() throws {
        for value in [[UInt8](repeating: 0x11, count: 132), [UInt8](repeating: 0xFF, count: 64)] {
            #expect(try outcome { $0.options[2] = DataObject(0x9F8103, value) }.error.l2 == .decryptionFailed)
        }
    }

    @Test func `terminal objects, other lengths and changed repetitions from a card are parsing errors`() throws {
        for object in [
            DataObject(0x9F8204, [1, 2, 3, 4, 5, 6]), DataObject(0x9F36, [1, 2, 3]), DataObject(0x82, [0x01, 0x09]),
        ] {
            #expect(try outcome { $0.options.append(object) }.error.l2 == .parsingError)
        }
        let same = DataObject(0x82, [0x01, 0x08])
        #expect(try outcome { $0.options.append(same) }.status == .onlineRequest)
    }

    @Test func `encrypted records take the next number of the card`() throws {
        let plain = C8Bench.account.encoded
        let outcome = try outcome {
            $0.options[1] = DataObject(0x94, [0x08, 0x01, 0x02, 0x01])
            // The blinding factor had number 8000.
            $0.records = [
                [0xDA] + TLVWriter.length(plain.count) + plain.map { $0 ^ 0x01 },
                [0xDA, 0x05, 0x9F ^ 0x02, 0x07 ^ 0x02, 0x02 ^ 0x02, 0xFF ^ 0x02, 0xC0 ^ 0x02],
            ]
        }
        #expect(outcome.status == .onlineRequest)
        #expect(outcome.dataRecord?.value(of: 0x5A) == C8Bench.account[0].value)
        #expect(outcome.dataRecord?.value(of: 0x9F07) == [0xFF, 0xC0])
    }

    @Test(arguments: ["", "71025A00", "70", "7002FFFF5A", "DA03010203", "5A0101"])
    func `a record that is no template is a parsing error`(_ record: String) throws {
        let bytes = try Hex.bytes(record)
        let outcome = try outcome { $0.records = [bytes] }
        #expect(outcome.status == .endApplication)
        #expect([.parsingError, .cardDataMissing].contains(outcome.error.l2))
    }

    @Test(arguments: [0x9F27, 0x9F36, 0x9F26, 0x9F10, 0x9F8102, 0x9F8105] as [CardBytes.Tag])
    func `everything in the answer to GENERATE AC is mandatory`(_ tag: CardBytes.Tag) throws {
        #expect(try outcome { bench in bench.cryptogram.removeAll { $0.tag == tag } }.error.l2 == .cardDataMissing)
    }

    @Test func `a card without PAN cannot be used`() throws {
        #expect(try outcome { $0.records = [[0x70, 0x00]] }.error.l2 == .cardDataMissing)
    }

    @Test func `a wrong EDA-MAC ends the application`() throws {
        let outcome = try outcome { $0.cryptogram[5] = DataObject(0x9F8105, [UInt8](repeating: 0xED, count: 8)) }
        #expect(outcome.status == .endApplication && outcome.error.l2 == .edaMACFailed)
        #expect(outcome.dataRecord == nil)
        #expect(outcome.discretionaryData?.value(of: 0x9F8204) == [0x00, 0x13, 0x00, 0x00, 0x00, 0x1C])
    }

    @Test func `an Extended SDA Tag List that is cut off makes the IAD-MAC impossible`() throws {
        let outcome = try outcome { $0.options.append(DataObject(0x9F810A, [0x84, 0x9F])) }
        #expect(outcome.error.l2 == .iadMACFailed)
    }

    @Test func `the IAD-MAC is copied to the default offset, to the card's, or not at all`() throws {
        func issuerData(_ profile: UInt8, _ offset: UInt8?) throws -> [UInt8]? {
            try outcome {
                $0.options[0] = DataObject(0x82, [0x01, 0x08 | profile])
                if let offset { $0.options.append(DataObject(0x9F8107, [offset])) }
            }.dataRecord?.value(of: 0x9F10)
        }
        let mac = [UInt8](repeating: 0xAA, count: 8)
        func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
        #expect(try issuerData(0x02, nil) == zeros(24) + mac)
        #expect(try issuerData(0x04, 3) == zeros(3) + mac + zeros(21))
        #expect(try issuerData(0x00, 3) == zeros(32))
        #expect(try issuerData(0x04, 25) == nil)
        #expect(try issuerData(0x04, nil) == nil)
        #expect(try outcome { $0.options[0] = DataObject(0x82, [0x01, 0x0C]) }.error.l2 == .cardDataError)
    }

    @Test func `local authentication is noted where it was not done or failed`() throws {
        #expect(try results { $0.options[0] = DataObject(0x82, [0x00, 0x08]) } == "8000008081")
        #expect(try results { $0.set(DataObject(0x9F820A, [0x00])) } == "8000008081")
        #expect(try results { $0.failure = .iccSignature } == "0000008081")
        #expect(
            try results {
                $0.failure = .iccSignature
                $0.set(DataObject(0x9F8209, [0x08, 0x00]))
            } == "0400008081")
        let missing = try outcome { $0.records = [[0x70] + C8Bench.template([C8Bench.account[0]])] }
        #expect(missing.error.l2 == .cardDataError)
    }

    @Test func `an AID that is no prefix of the DF name is noted`() throws {
        #expect(try results { $0.selection[0] = DataObject(0x84, [0xF0, 1, 2, 3, 4]) } == "00000080C1")
    }

    @Test func `limits compare with above`() throws {
        for (amount, receipt) in [(1_000, false), (1_001, true)] as [(UInt64, Bool)] {
            let outcome = try outcome {
                $0.amount = amount
                $0.set(DataObject(0x9F820D, [0, 0, 0, 0, 0x10, 0]))
            }
            #expect(outcome.receipt == receipt)
            #expect(outcome.dataRecord?.value(of: 0x95)?[3] == (receipt ? 0x80 : 0x00))
        }
    }
}
