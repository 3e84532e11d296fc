// SPDX-License-Identifier: Apache-2.0
// Bits that the terminal sets.

extension BitTable {
    /// Terminal Verification Results (95) and action codes (EMV Book 3 Annex C5).
    static let tvr = BitTable(
        bits(
            1, "offline data authentication was not performed", "SDA failed", "ICC data missing",
            "card appears on the terminal's exception file", "DDA failed", "CDA failed", "SDA selected",
            "XDA selected"),
        bits(
            2, "ICC and terminal have different application versions", "expired application",
            "application not yet effective", "requested service not allowed for card product", "new card"),
        bits(
            3, "cardholder verification was not successful", "unrecognised CVM", "PIN try limit exceeded",
            "PIN entry required, but PIN pad missing or not working", "PIN entry required, but PIN was not entered",
            "online PIN entered"),
        bits(
            4, "transaction exceeds floor limit", "lower consecutive offline limit exceeded",
            "upper consecutive offline limit exceeded", "transaction selected randomly for online processing",
            "merchant forced transaction online"),
        bits(
            5, "default TDOL used", "issuer authentication failed", "script processing failed before final GENERATE AC",
            "script processing failed after final GENERATE AC", "relay resistance threshold exceeded",
            "relay resistance time limits exceeded"),
        group(5, 0x03, [0x01: "relay resistance protocol not performed", 0x02: "relay resistance protocol performed"]))

    /// TVR of kernel 8, whose bytes 1 and 5 differ (EMV Contactless Book C-8).
    static let tvrKernel8 = BitTable(
        fields: tvr.fields.filter { $0.byte != 5 && !($0.byte == 1 && ($0.mask == 0x80 || $0.mask == 0x04)) }
            + bits(1, "local authentication not performed", nil, nil, nil, nil, "local authentication failed")
            + bits(
                5, "TVR format of kernel 8", "AID mismatch", nil, nil, "relay resistance threshold exceeded",
                "relay resistance time limits exceeded")
            + group(
                5, 0x03, [0x01: "relay resistance protocol not performed", 0x02: "relay resistance protocol performed"]
            ))

    /// Transaction Status Information (9B; EMV Book 3 Annex C6, unverified).
    static let tsi = BitTable(
        bits(
            1, "offline data authentication was performed", "cardholder verification was performed",
            "card risk management was performed", "issuer authentication was performed",
            "terminal risk management was performed", "script processing was performed"))

    /// Terminal Transaction Qualifiers (9F66; EMV Contactless Book A Table 5-4). Byte 2 bits 4 and 3 are Discover's, byte 4
    /// bit 8 is older Visa's (unverified).
    static let ttq = BitTable(
        bits(
            1, "mag-stripe mode supported", nil, "EMV mode supported", "EMV contact chip supported",
            nil, "online PIN supported", "signature supported",
            "offline data authentication for online authorisations supported"),
        group(1, 0x08, [0x08: "offline-only reader", 0x00: "online capable reader"]),
        bits(
            2, "online cryptogram required", "CVM required", "(contact chip) offline PIN supported", nil, "fast mode",
            "aggregate amount"),
        bits(3, "issuer update processing supported", "consumer device CVM supported"),
        bits(4, "fDDA 1.0 supported"))

    private static let cardDataInput = bits(
        1, "manual key entry", "magnetic stripe", "IC with contacts")
    private static let cvmCapability = bits(
        1, "plaintext PIN for ICC verification", "enciphered PIN for online verification", "signature (paper)",
        "enciphered PIN for offline verification", "no CVM required")
    private static let security = bits(1, "SDA", "DDA", "card capture", nil, "CDA")

    /// Terminal Capabilities (9F33; EMV Book 4 Annex A2).
    static let terminalCapabilities = BitTable(
        fields: cardDataInput + BitTable(fields: cvmCapability).moved(by: 1).fields
            + BitTable(fields: security).moved(by: 2).fields)
    /// DF8117, DF8118 and DF8119, DF811F: the bytes of 9F33 one by one (EMV Contactless Book C-2 §A.1).
    static let cardDataInputCapability = BitTable(fields: cardDataInput)
    static let cvmCapabilities = BitTable(fields: cvmCapability)
    static let securityCapability = BitTable(fields: security)

    /// Additional Terminal Capabilities (9F40; EMV Book 4 Annex A3).
    static let additionalTerminalCapabilities = BitTable(
        bits(1, "cash", "goods", "services", "cashback", "inquiry", "transfer", "payment", "administrative"),
        bits(2, "cash deposit"),
        bits(3, "numeric keys", "alphabetic and special keys", "command keys", "function keys"),
        bits(
            4, "print, attendant", "print, cardholder", "display, attendant", "display, cardholder", nil, nil,
            "code table 10", "code table 9"),
        bits(
            5, "code table 8", "code table 7", "code table 6", "code table 5", "code table 4", "code table 3",
            "code table 2", "code table 1"))

    /// Terminal Risk Management Data (9F1D; EMV Contactless Book C-2 §A.1.161).
    static let terminalRiskManagementData = BitTable(
        bits(
            1, "restart supported", "enciphered PIN verified online (contactless)", "signature (contactless)",
            "enciphered PIN verified by ICC (contactless)", "no CVM required (contactless)", "CDCVM (contactless)",
            "plaintext PIN verified by ICC (contactless)", "present and hold supported"),
        bits(
            2, "CVM limit exceeded", "enciphered PIN verified online (contact)", "signature (contact)",
            "enciphered PIN verified by ICC (contact)", "no CVM required (contact)", "CDCVM (contact)",
            "plaintext PIN verified by ICC (contact)"),
        bits(
            3, "mag-stripe mode contactless transactions not supported",
            "EMV mode contactless transactions not supported", "CDCVM without CDA supported"),
        bits(4, "CDCVM bypass requested", "SCA exempt"))

    /// Kernel Configuration (DF811B; EMV Contactless Book C-2 §A.1).
    static let kernelConfiguration = BitTable(
        bits(
            1, "mag-stripe mode contactless transactions not supported",
            "EMV mode contactless transactions not supported", "on-device cardholder verification supported",
            "relay resistance protocol supported", "reserved for payment system",
            "read all records even when no CDA"))

    /// Mobile Support Indicator (9F7E of kernel 2).
    static let mobileSupport = BitTable(
        bits(1, nil, nil, nil, nil, nil, nil, "on-device cardholder verification required", "mobile supported"))

    /// Enhanced Contactless Reader Capabilities (9F6E of kernel 4).
    static let amexReader = BitTable(
        bits(
            1, "contact mode supported", "mag-stripe mode supported", "EMV full online mode supported (legacy)",
            "EMV partial online mode supported", "mobile supported", "try another interface before a decline"),
        bits(
            2, "mobile CVM supported", "online PIN supported", "signature supported", "plaintext offline PIN supported"),
        bits(3, "reader is offline only", "CVM required"),
        bits(4, "exempt from no-CVM checks", "delayed authorisation"),
        group(4, 0x07, [0x01: "kernel version 2.2-2.3", 0x02: "kernel version 2.4-2.6", 0x03: "kernel version 2.7"]))

    /// Contactless Reader Capabilities (9F6D of kernel 4).
    static let amexReaderCapabilities = BitTable(
        group(
            1, 0xC8,
            [
                0x00: "deprecated", 0x40: "mag-stripe, CVM not required", 0x48: "mag-stripe, CVM required",
                0x80: "deprecated, EMV and mag-stripe", 0xC0: "EMV and mag-stripe, CVM not required",
                0xC8: "EMV and mag-stripe, CVM required",
            ]))

    /// Terminal Interchange Profile (9F53 of kernel 5).
    static let jcbInterchangeProfile = BitTable(
        bits(
            1, "CVM required by reader", "signature supported", "online PIN supported", "on-device CVM supported",
            nil, "reader is a transit reader", "EMV contact chip supported", "offline PIN supported (contact)"),
        bits(2, "issuer update supported"))

    /// Terminal Compatibility Indicator (9F52 of kernel 5).
    static let jcbCompatibility = BitTable(
        bits(1, nil, nil, nil, nil, nil, nil, "EMV mode supported", "mag-stripe mode supported"))
}
