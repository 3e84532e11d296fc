// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import CardSim

@Suite struct TestIssuerTests {
    private func record(_ name: String, _ application: String) throws -> [CardBytes.Tag: [UInt8]] {
        var script = try TapScript(name)
        _ = try script.select(application)
        _ = try script.options()
        try script.readRecords()
        if script.objects[0x8C] != nil { _ = try script.generateAC(0x80) }
        return Dictionary(script.record, uniquingKeysWith: { first, _ in first })
    }

    private func verdict(_ record: [CardBytes.Tag: [UInt8]]) -> ARQCVerdict {
        TestIssuer.verify(record.map { ($0.key, $0.value) })
    }

    private static let needed: [CardBytes.Tag] = [
        0x9F26, 0x9F10, 0x9F36, 0x9F37, 0x9F02, 0x9F1A, 0x95, 0x5F2A, 0x9A, 0x9C, 0x82,
    ]
    private static let cards = [
        ("visa", "A0000000031010"), ("visa-afl", "A0000000031010"), ("mastercard-nocda", "A0000000041010"),
    ]

    @Test func `any changed input breaks the cryptogram`() throws {
        for (name, application) in Self.cards {
            let good = try record(name, application)
            #expect(verdict(good) == .verified, "\(name)")
            for tag in Self.needed + [0x9F03] where tag != 0x9F10 {
                var changed = good
                changed[tag]?[0] ^= 0x01
                #expect(verdict(changed) == .wrongCryptogram, "\(tag) of \(name)")
            }
            var results = good
            results[0x9F10]?[4] ^= 0x10
            #expect(verdict(results) == .wrongCryptogram)
            var sequence = good
            sequence[0x5F34] = [0x02]
            #expect(verdict(sequence) == .wrongCryptogram)
        }
    }

    @Test func `an object that is absent or too short is named`() throws {
        let good = try record("visa", "A0000000031010")
        for tag in Self.needed {
            var changed = good
            changed[tag] = nil
            #expect(verdict(changed) == .missing(tag))
            guard tag != 0x9F10 else { continue }
            changed[tag] = good[tag].map { Array($0.dropLast()) }
            #expect(verdict(changed) == .missing(tag))
        }
        var nameless = good
        nameless[0x57] = nil
        nameless[0x5A] = nil
        #expect(verdict(nameless) == .missing(0x5A))
    }

    @Test func `the PAN counts from 5A or else from track 2`() throws {
        var record = try record("visa-afl", "A0000000031010")
        record[0x57] = nil
        #expect(verdict(record) == .verified)
        record[0x57] = try hex("4761739001010010D4912201")
        record[0x5A] = nil
        #expect(verdict(record) == .verified)
        record[0x57] = try hex("4761739001010028D4912201")
        #expect(verdict(record) == .wrongCryptogram)
    }

    @Test func `other issuers' cards and unknown versions are unknown`() throws {
        var record = try record("visa", "A0000000031010")
        record[0x5A] = try hex("4000000000000002")
        #expect(verdict(record) == .unknownCard)
        record[0x5A] = nil
        record[0x9F10]?[2] = 0x63
        #expect(verdict(record) == .unknownCard)
        record[0x9F10] = [0x06]
        #expect(verdict(record) == .unknownCard)
        record[0x57] = [0x47, 0x61, 0x73]
        #expect(verdict(record) == .missing(0x5A))
        #expect(TestIssuer.verify([]) == .missing(0x9F26))
    }

    @Test func `the first of two objects with one tag counts`() throws {
        let good = try record("visa", "A0000000031010").map { ($0.key, $0.value) }
        #expect(TestIssuer.verify(good + [(0x9F02, [0, 0, 0, 0, 0, 1])]) == .verified)
        #expect(TestIssuer.verify([(0x9F02, [0, 0, 0, 0, 0, 1])] + good) == .wrongCryptogram)
    }
}
