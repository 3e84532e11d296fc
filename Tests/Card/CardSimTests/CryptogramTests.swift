// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMVCrypto
import Testing

@testable import CardSim

@Suite struct CryptogramTests {
    private func digits(_ text: String?) -> [UInt8] { (text ?? "").utf8.map { $0 - 0x30 } }

    @Test func `triple DES equals an independent implementation`() throws {
        let rows = try CryptogramVectors.rows("triple-des")
        #expect(rows.count == 16)
        for row in rows {
            let cipher = try #require(TripleDES(key: hex(row.key)))
            let block = TripleDES.block(try hex(row.block))
            #expect(TripleDES.bytes(cipher.encrypted(block)) == (try hex(row.encrypted)), "\(row.id)")
        }
    }

    @Test func `DES decrypts what it encrypted and ignores parity bits`() {
        let cipher = DES(key: 0x1334_5779_9BBC_DFF1)
        #expect(cipher.encrypted(0x0123_4567_89AB_CDEF) == 0x85E8_1354_0F0A_B405)
        #expect(cipher.decrypted(0x85E8_1354_0F0A_B405) == 0x0123_4567_89AB_CDEF)
        #expect(DES(key: 0x1235_5678_9ABD_DEF0).encrypted(0x0123_4567_89AB_CDEF) == 0x85E8_1354_0F0A_B405)
    }

    @Test func `a key of other than sixteen bytes is no key`() {
        #expect(TripleDES(key: [UInt8](repeating: 1, count: 8)) == nil)
        #expect(TripleDES(key: [UInt8](repeating: 1, count: 24)) == nil)
    }

    @Test func `padding fills up to whole blocks`() {
        #expect(MACPadding.zeros.padded([]) == [])
        #expect(MACPadding.zeros.padded([1, 2, 3]) == [1, 2, 3, 0, 0, 0, 0, 0])
        #expect(MACPadding.zeros.padded([UInt8](repeating: 1, count: 8)).count == 8)
        #expect(MACPadding.markedZeros.padded([]) == [0x80, 0, 0, 0, 0, 0, 0, 0])
        #expect(MACPadding.markedZeros.padded([UInt8](repeating: 1, count: 7)).suffix(2) == [1, 0x80])
        #expect(MACPadding.markedZeros.padded([UInt8](repeating: 1, count: 8)).count == 16)
    }

    @Test func `master key, session key and MAC equal the published vector`() throws {
        let row = try #require(CryptogramVectors.rows("session").first)
        let issuer = try #require(TripleDES(key: hex(row.imk_ac)))
        let sequence = try hex(row.psn)[0]
        let master = try #require(CardKey.master(issuer, pan: digits(row.pan), sequence: sequence))
        #expect(master.key == (try hex(row.icc_mk)))
        let session = try #require(CardKey.session(master, counter: hex(row.atc)))
        #expect(session.key == (try hex(row.session_key)))
        #expect(session.mac(MACPadding.markedZeros.padded(try hex(row.data))) == (try hex(row.arqc)))
        #expect(CardKey.session(master, counter: [1]) == nil)
    }

    @Test func `cryptograms of each version equal an independent implementation`() throws {
        let versions: [String: CryptogramVersion] = [
            "visa10": .visa10, "visa18": .visa18, "mastercard20": .mastercard20,
        ]
        let rows = try CryptogramVectors.rows("cryptogram")
        #expect(rows.count == 24)
        for row in rows {
            let issuer = try #require(TripleDES(key: hex(row.issuerMasterKey)))
            let sequence = try hex(row.sequence)[0]
            let master = try #require(CardKey.master(issuer, pan: digits(row.pan), sequence: sequence))
            #expect(master.key == (try hex(row.cardMasterKey)), "\(row.id)")
            var values: [CardBytes.Tag: [UInt8]] = [:]
            for (name, value) in row.values ?? [:] { values[try tag(name)] = try hex(value) }
            let version = try #require(versions[row.version ?? ""])
            let cryptogram = try version.cryptogram(master) { values[$0] }
            #expect(cryptogram == (try hex(row.cryptogram)), "\(row.id)")
        }
    }

    @Test func `an object that is missing or of another length is named`() throws {
        let row = try #require(CryptogramVectors.rows("cryptogram").first)
        let master = try #require(TripleDES(key: hex(row.cardMasterKey)))
        for (name, text) in row.values ?? [:] {
            let missing = try tag(name)
            func value(_ wanted: CardBytes.Tag) -> [UInt8]? {
                try? hex(row.values?["\(wanted)"])
            }
            for version in [CryptogramVersion.visa10, .visa18, .mastercard20] where missing != 0x9F03 {
                #expect(throws: MissingObject(tag: missing)) {
                    try version.cryptogram(master) { $0 == missing ? nil : value($0) }
                }
            }
            let short = Array(try hex(text).dropLast())
            #expect(throws: MissingObject(tag: missing)) {
                try CryptogramVersion.visa18.cryptogram(master) { $0 == missing ? short : value($0) }
            }
        }
    }

    @Test func `without other amount the cryptogram counts it as zero`() throws {
        let row = try #require(CryptogramVectors.rows("cryptogram").first)
        let master = try #require(TripleDES(key: hex(row.cardMasterKey)))
        func value(_ wanted: CardBytes.Tag) -> [UInt8]? { try? hex(row.values?["\(wanted)"]) }
        let zero = [UInt8](repeating: 0, count: 6)
        let absent = try CryptogramVersion.visa18.cryptogram(master) { $0 == 0x9F03 ? nil : value($0) }
        let present = try CryptogramVersion.visa18.cryptogram(master) { $0 == 0x9F03 ? zero : value($0) }
        #expect(absent == present)
    }
}
