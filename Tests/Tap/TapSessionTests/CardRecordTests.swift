// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import Foundation
import Testing

@testable import TapSession

struct CardRecordTests {
    private func members(_ record: CardRecord) throws -> [String: Any] {
        try #require(
            JSONSerialization.jsonObject(with: Data(record.plaintext.copied)) as? [String: Any])
    }

    @Test func `the plaintext is one JSON object with the documented members`() throws {
        let json = try members(CardRecord(SampleOutcomes.final(SampleOutcomes.visaRecord), SampleOutcomes.binding))
        #expect(
            Set(json.keys) == [
                "v", "id", "txn", "iat", "exp", "reader", "amount", "currency", "pan", "psn", "expiry", "track2", "emv",
                "kernel", "outcome",
            ])
        #expect(json["v"] as? Int == 1)
        #expect(json["txn"] as? String == "0193a4d2-0000-7000-8000-000000000001")
        #expect(json["iat"] as? Int == 1_700_000_000)
        #expect(json["exp"] as? Int == 1_700_000_300)
        #expect(json["reader"] as? String == #"till "1""#)
        #expect(json["amount"] as? Int == 1_250)
        #expect(json["currency"] as? String == "EUR")
        #expect(json["pan"] as? String == SampleOutcomes.pan)
        #expect(json["psn"] as? String == "01")
        #expect(json["expiry"] as? String == "3112")
        #expect(json["track2"] as? String == "4761739001010010D311220101234567890")
        #expect(json["kernel"] as? Int == 3)
        #expect(json["outcome"] as? String == "onlineRequest")
        #expect(json["emv"] as? String == Hex.string(SampleOutcomes.visaRecord.encoded))
    }

    @Test func `each record has an id of 128 random bits`() throws {
        let ids = try (0..<64).map { _ in
            let record = try CardRecord(SampleOutcomes.final(SampleOutcomes.visaRecord), SampleOutcomes.binding)
            return try #require(members(record)["id"] as? String)
        }
        #expect(ids.allSatisfy { $0.utf8.count == 32 })
        #expect(Set(ids).count == ids.count)
    }

    @Test func `5A wins over track 2, and 5F24 over its expiry`() throws {
        let record = [
            DataObject(0x57, [0x41, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0xD2, 0x50, 0x12, 0x01]),
            DataObject(0x5A, [0x54, 0x13, 0x33, 0x00, 0x89, 0x60, 0x10, 0x34]), DataObject(0x5F24, [0x30, 0x11, 0x30]),
        ]
        let json = try members(CardRecord(SampleOutcomes.final(record), SampleOutcomes.binding))
        #expect(json["pan"] as? String == "5413330089601034")
        #expect(json["expiry"] as? String == "3011")
    }

    @Test func `a number of 19 digits and one of 13 are read, filler and all`() throws {
        let long = [DataObject(0x5A, [0x62, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x5F])]
        let json = try members(CardRecord(SampleOutcomes.final(long), SampleOutcomes.binding))
        #expect(json["pan"] as? String == "6200000000000000005")
        #expect(json["track2"] == nil)
        #expect(json["expiry"] == nil)
        #expect(json["psn"] == nil)
        let short = [DataObject(0x57, [0x40, 0x00, 0x00, 0x00, 0x00, 0x00, 0x6D, 0x31, 0x12])]
        #expect(
            try CardRecord(SampleOutcomes.final(short), SampleOutcomes.binding).account.masked == "*********0006")
    }

    @Test(
        arguments: [
            nil, [], [DataObject(0x9F26, [1])], [DataObject(0x5A, [])], [DataObject(0x5A, [0xFF, 0xFF])],
            [DataObject(0x5A, [0x12, 0x34])], [DataObject(0x57, [0x47, 0x61, 0x73, 0x90, 0x01, 0x01, 0x00, 0x10])],
            [DataObject(0x57, [0x4A, 0x61, 0x73, 0x90, 0x01, 0x01, 0x00, 0x10, 0xD3])],
            [DataObject(0x5A, [UInt8](repeating: 0x11, count: 10))],
        ] as [[DataObject]?])
    func `a record without a card number is refused`(record: [DataObject]?) {
        #expect(throws: PaymentTapError.incompleteRecord) {
            try CardRecord(SampleOutcomes.final(record), SampleOutcomes.binding)
        }
    }

    @Test func `no description shows any card data`() throws {
        let final = SampleOutcomes.final(SampleOutcomes.visaRecord)
        let record = try CardRecord(final, SampleOutcomes.binding)
        var dumped = ""
        dump(record, to: &dumped)
        dump(record.clearTags, to: &dumped)
        dump(AccountData(SampleOutcomes.visaRecord), to: &dumped)
        dumped += "\(record) \(record.clearTags) \(final) \(record.account)"
        dumped += String(reflecting: record) + String(reflecting: AccountData(SampleOutcomes.visaRecord))
        #expect(!dumped.contains("476173"))
        #expect(!dumped.contains("101001"))
        #expect(!dumped.contains("1122334455667788"))
    }

    @Test func `control characters and quotes of a reader's name stay inside their string`() throws {
        var binding = SampleOutcomes.binding
        binding.reader = "a\"\\\n\u{1}é"
        let json = try members(CardRecord(SampleOutcomes.final(SampleOutcomes.visaRecord), binding))
        #expect(json["reader"] as? String == "a\"\\\n\u{1}é")
        binding.issuedAt = .max
        binding.amount = .max
        let text = String(
            decoding: try CardRecord(SampleOutcomes.final(SampleOutcomes.visaRecord), binding).plaintext.copied,
            as: UTF8.self)
        #expect(text.contains(#""amount":18446744073709551615"#))
    }
}
