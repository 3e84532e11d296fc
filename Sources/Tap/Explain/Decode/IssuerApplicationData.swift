// SPDX-License-Identifier: Apache-2.0
import EMV

/// Issuer Application Data (9F10): the payment systems' own formats, as far as they are public. All of them are
/// unverified.
enum IssuerApplicationData {
    static func meanings(_ value: [UInt8], kernel: KernelIdentifier?) -> [Meaning] {
        switch kernel {
        case .visa?: visa(value) ?? proprietary
        case .mastercard?: mChip(value) ?? proprietary
        case nil: visa(value) ?? mChip(value) ?? commonCore(value) ?? proprietary
        case _: commonCore(value) ?? proprietary
        }
    }

    private static let proprietary = [Meaning("proprietary format")]

    /// Visa formats 0, 1 and 3 begin with 06, formats 2 and 4 with 1F; the format is the high nibble of the CVN.
    private static func visa(_ value: [UInt8]) -> [Meaning]? {
        if value.count >= 7, value[0] == 0x06, value[3] == 0x03 {
            return [
                Meaning("byte 1", "Visa, length of what follows up to the CVR: 6"),
                Meaning("byte 2", "derivation key index \(value[1])"),
                Meaning("byte 3", "cryptogram version number \(value[2])"),
                Meaning("byte 4", "length of the card verification results: 3"),
            ] + visaResults.moved(by: 3).meanings(value, in: 4..<7) + discretionary(value, from: 7)
        }
        guard value.count == 32, value[0] == 0x1F else { return nil }
        return [
            Meaning("byte 1", "Visa, length of what follows: 31"),
            Meaning("byte 2", "cryptogram version number \(value[1]), IAD format \(value[1] >> 4)"),
            Meaning("byte 3", "derivation key index \(value[2])"),
            Meaning("bytes 4-8", "card verification results"),
        ] + visaMobileResults.moved(by: 3).meanings(value, in: 4..<7) + discretionary(value, from: 8)
    }

    /// M/Chip: key derivation index, CVN, six bytes of card verification results, DAC or ICC dynamic number, counters.
    private static func mChip(_ value: [UInt8]) -> [Meaning]? {
        guard [18, 20, 26, 28].contains(value.count), commonCore(value) == nil else { return nil }
        return [
            Meaning("byte 1", "M/Chip, key derivation index \(value[0])"),
            Meaning("byte 2", "cryptogram version number \(value[1])"),
        ] + mChipResults.moved(by: 2).meanings(value, in: 2..<8) + [
            Meaning("bytes 9-10", "data authentication code or ICC dynamic number"),
            Meaning("bytes 11-\(value.count)", "counters, plain or enciphered"),
        ]
    }

    /// Common Core Definitions (EMV Book 3 Annex C7): 0F, 15 bytes of EMV's, 0F, 15 bytes of the issuer's.
    private static func commonCore(_ value: [UInt8]) -> [Meaning]? {
        guard value.count == 32, value[0] == 0x0F, value[16] == 0x0F else { return nil }
        return [
            Meaning("byte 1", "Common Core Definitions, length of EMV's part: 15"),
            Meaning("byte 2", "common core identifier \(value[1] >> 4), cryptogram version \(value[1] & 0x0F)"),
            Meaning("byte 3", "derivation key index \(value[2])"),
            Meaning("bytes 4-8", "card verification results"),
            Meaning("bytes 9-16", "counters"),
            Meaning("bytes 17-32", "issuer discretionary data"),
        ]
    }

    private static func discretionary(_ value: [UInt8], from index: Int) -> [Meaning] {
        guard value.count > index else { return [] }
        return [Meaning("bytes \(index + 1)-\(value.count)", "issuer discretionary data")]
    }

    private static let cryptograms =
        BitTable.group(
            2, 0xC0,
            [
                0x00: "AAC returned in second GENERATE AC", 0x40: "TC returned in second GENERATE AC",
                0x80: "second GENERATE AC not requested",
            ])
        + BitTable.group(
            2, 0x30,
            [
                0x00: "AAC returned in first GENERATE AC or GPO", 0x10: "TC returned in first GENERATE AC or GPO",
                0x20: "ARQC returned in first GENERATE AC or GPO",
            ])

    private static let history =
        BitTable.bits(
            3, "last online transaction not completed", "PIN try limit exceeded", "velocity checking counters exceeded",
            "new card", "issuer authentication failed on last online transaction",
            "issuer authentication not performed after online authorisation",
            "application blocked because PIN try limit exceeded",
            "static data authentication failed on last transaction")
        + BitTable.bits(
            4, nil, nil, nil, nil, "issuer script processing failed",
            "dynamic data authentication failed on last transaction", "dynamic data authentication performed",
            "PIN verification command not received")

    private static let visaResults = BitTable(
        cryptograms,
        BitTable.bits(
            2, nil, nil, nil, nil, "issuer authentication performed and failed", "offline PIN verification performed",
            "offline PIN verification failed", "unable to go online"), history, scripts)

    private static let visaMobileResults = BitTable(
        cryptograms,
        BitTable.bits(
            2, nil, nil, nil, nil, "issuer authentication performed and failed", "CDCVM successfully performed", nil,
            "unable to go online"), history, scripts)

    /// Byte 4, bits 8 to 5.
    private static let scripts = (1...15).map { (count: UInt8) in
        BitTable.Field(byte: 4, mask: 0xF0, value: count << 4, text: "\(count) issuer script commands processed")
    }

    private static let mChipResults = BitTable(
        BitTable(cryptograms).moved(by: -1).fields,
        BitTable.bits(
            1, nil, nil, nil, nil, "date check failed", "offline PIN verification performed",
            "offline enciphered PIN verification performed", "offline PIN verification successful"),
        BitTable.bits(
            2, "DDA returned", "CDA returned in first GENERATE AC", "CDA returned in second GENERATE AC",
            "issuer authentication performed", "CIAC-default skipped on CAT3", "offline change PIN successful",
            "issuer discretionary", "issuer discretionary"),
        (1...15).map {
            BitTable.Field(byte: 3, mask: 0xF0, value: $0 << 4, text: "script counter (right nibble) \($0)")
        },
        (1...15).map { BitTable.Field(byte: 3, mask: 0x0F, value: $0, text: "PIN try counter (right nibble) \($0)") },
        BitTable.bits(
            4, "last online transaction not completed", "unable to go online", "offline PIN verification not performed",
            "offline PIN verification failed", "PIN try limit exceeded", "international transaction",
            "domestic transaction", "terminal erroneously considers offline PIN OK"),
        BitTable.bits(
            5, "lower consecutive offline limit exceeded", "upper consecutive offline limit exceeded",
            "lower cumulative offline limit exceeded", "upper cumulative offline limit exceeded",
            "go online on next transaction was set", "issuer authentication failed", "script received",
            "script failed"),
        BitTable.bits(
            6, "lower consecutive counter 2 limit exceeded", "upper consecutive counter 2 limit exceeded",
            "lower cumulative accumulator 2 limit exceeded", "upper cumulative accumulator 2 limit exceeded",
            "MTA limit exceeded", "number of days offline limit exceeded", "match found in additional check table",
            "no match found in additional check table"))
}
