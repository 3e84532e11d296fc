// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import Testing

@testable import TapSession

struct ClearDataObjectsTests {
    @Test func `only what is on the list comes through, in the order of the record`() {
        let tags = ClearDataObjects(of: SampleOutcomes.visaRecord)
        #expect(tags.objects.map(\.tag) == [0x9F02, 0x9F26, 0x82, 0x9F36, 0x5F34, 0x9F10])
        #expect(tags.hex.hasPrefix("9F0206000000001250"))
        #expect(tags.value(of: 0x82) == [0x20, 0x00])
    }

    @Test(
        arguments: [
            0x56, 0x57, 0x5A, 0x99, 0x5F20, 0x5F24, 0x9F0B, 0x9F1F, 0x9F20, 0x9F24, 0x9F46, 0x9F6B, 0x90, 0x9F4B, 0x93,
            0x70, 0xDF8129, 0x5F50, 0x9F12,
        ] as [CardBytes.Tag])
    func `account data, references and certificates can never be clear`(tag: CardBytes.Tag) {
        #expect(!ClearTags.allowed.contains(tag))
        #expect(ClearDataObjects(of: [DataObject(tag, [0x12, 0x34])]).objects.isEmpty)
    }

    @Test func `the list is the documented one`() {
        #expect(ClearTags.allowed.count == 33)
        #expect(ClearTags.allowed.allSatisfy { !$0.isConstructed })
    }

    @Test func `an allowed object that spells the card number is left out`() {
        let account = DataObject(0x5A, [0x47, 0x61, 0x73, 0x90, 0x01, 0x01, 0x00, 0x10])
        let disguises: [[UInt8]] = [
            [0x47, 0x61, 0x73, 0x90, 0x01, 0x01, 0x00, 0x10],
            [0x00, 0x47, 0x61, 0x73, 0x90, 0x01, 0x01, 0x00, 0x10, 0xFF],
            [0xF4, 0x76, 0x17, 0x39, 0x00, 0x10, 0x10, 0x01, 0x0F], Array("4761739001010010".utf8),
            Array("x4761739001010010".utf8),
        ]
        for value in disguises {
            #expect(ClearDataObjects(of: [account, DataObject(0x9F7C, value)]).objects.isEmpty, "\(value.count) bytes")
        }
        let harmless = DataObject(0x9F7C, [0x47, 0x61, 0x73, 0x90])
        #expect(ClearDataObjects(of: [account, harmless]).objects == [harmless])
    }

    @Test func `of a tag that comes twice the first counts`() {
        let tags = ClearDataObjects(of: [DataObject(0x82, [1, 1]), DataObject(0x82, [2, 2])])
        #expect(tags.objects == [DataObject(0x82, [1, 1])])
    }

    @Test func `a masked account shows four digits and no more`() throws {
        let account = try #require(MaskedAccount(AccountData(SampleOutcomes.visaRecord), aid: []))
        #expect(account.lastFour == "0010")
        #expect(account.masked == "************0010")
    }
}
