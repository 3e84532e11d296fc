// SPDX-License-Identifier: Apache-2.0
import EMV

// Bits that the card sets.

extension BitTable {
    /// Application Interchange Profile (82; EMV Book 3 Annex C1 and the kernels' own bits). Where the kernel is not known, the
    /// bits that depend on it say so.
    static func interchangeProfile(_ kernel: KernelIdentifier?) -> BitTable {
        switch kernel {
        case .mastercard?:
            BitTable(
                commonProfile,
                bits(1, nil, nil, nil, nil, nil, nil, "on-device cardholder verification supported"),
                bits(
                    2, "EMV mode supported", "mobile phone", "contactless transaction", nil, nil, nil, nil,
                    "relay resistance protocol supported"))
        case .visa?, .unionPay?:
            BitTable(
                bits(
                    1, nil, "SDA for online authorisations supported", "fDDA supported", nil, nil, nil, nil, nil),
                bits(2, "mag-stripe mode (MSD) supported"))
        case .americanExpress?:
            BitTable(commonProfile, bits(2, "EMV mode supported", "mobile device"))
        case .jcb?:
            BitTable(commonProfile, bits(2, "EMV mode supported"))
        case .c8?:
            BitTable(
                bits(1, nil, nil, nil, nil, nil, nil, nil, "local authentication supported"),
                bits(2, nil, nil, nil, nil, nil, nil, nil, "relay resistance protocol supported"),
                group(2, 0x08, [0x08: "offline capable card", 0x00: "online-only card"]),
                group(
                    2, 0x06,
                    [0x02: "IAD-MAC copied into the IAD at 9F821E", 0x04: "IAD-MAC copied into the IAD at 9F8107"]))
        case _:
            BitTable(
                commonProfile,
                bits(1, nil, nil, nil, nil, nil, nil, "reserved for contactless (kernel 2: on-device CVM)"),
                bits(
                    2, "EMV mode supported (kernel 3: MSD supported)", "mobile device (kernels 2 and 4)",
                    "contactless transaction (kernel 2)", nil, nil, nil, nil,
                    "relay resistance protocol supported (kernels 2 and 8)"))
        }
    }

    private static let commonProfile = bits(
        1, "XDA supported", "SDA supported", "DDA supported", "cardholder verification supported",
        "terminal risk management to be performed", "issuer authentication supported", nil, "CDA supported")

    /// Application Usage Control (9F07; EMV Book 3 Annex C2).
    static let usageControl = BitTable(
        bits(
            1, "valid for domestic cash transactions", "valid for international cash transactions",
            "valid for domestic goods", "valid for international goods", "valid for domestic services",
            "valid for international services", "valid at ATMs", "valid at terminals other than ATMs"),
        bits(2, "domestic cashback allowed", "international cashback allowed"))

    /// Card Transaction Qualifiers (9F6C; EMV Contactless Book C-3 Annex A.2).
    static let cardTransactionQualifiers = BitTable(
        bits(
            1, "online PIN required", "signature required",
            "go online if offline data authentication fails and reader is online capable",
            "switch interface if offline data authentication fails and reader supports contact chip",
            "go online if application expired", "switch interface for cash transactions",
            "switch interface for cashback transactions", "not valid for contactless ATM transactions"),
        bits(2, "consumer device CVM performed", "card supports issuer update processing at the POS"))

    /// Form Factor Indicator (9F6E of kernels 3 and 7; EMV Contactless Book C-3 Annex A.2). Sources disagree on the codes
    /// of byte 1; unverified.
    static let formFactor = BitTable(
        group(1, 0xE0, [0x00: "no version number", 0x20: "version 1"]),
        group(
            1, 0x1F,
            [
                0x00: "form factor: card", 0x01: "form factor: mini-card", 0x02: "form factor: non-card",
                0x03: "form factor: consumer mobile phone", 0x04: "form factor: wrist-worn device",
            ]),
        bits(
            2, "passcode capable", "signature panel", "hologram", "CVV2", "two-way messaging",
            "cloud based payment credentials", "biometric cardholder verification capable"),
        group(4, 0x0F, [0x00: "proximity contactless interface (ISO/IEC 14443)"]))

    /// Cryptogram Information Data (9F27; EMV Book 3 §6.5.5.4).
    static let cryptogramInformation = BitTable(
        group(
            1, 0xC0,
            [
                0x00: "AAC: transaction declined", 0x40: "TC: transaction approved offline",
                0x80: "ARQC: online authorisation requested", 0xC0: "reserved",
            ]),
        bits(1, nil, nil, nil, nil, "advice required"),
        group(
            1, 0x07,
            [
                0x00: "no reason given", 0x01: "service not allowed", 0x02: "PIN try limit exceeded",
                0x03: "issuer authentication failed",
            ]))

    /// Application Capabilities Information (9F5D of kernel 2; bit numbers unverified).
    static let applicationCapabilities = BitTable(
        group(
            1, 0x0F,
            [0x00: "data storage not supported", 0x01: "data storage version 1", 0x02: "data storage version 2"]),
        bits(
            2, nil, nil, nil, nil, nil, "field off detection supported", "balance reading supported",
            "CDA supported over TC, ARQC and AAC"))

    /// POS Cardholder Interaction Information (DF4B of kernel 2).
    static let cardholderInteraction = BitTable(
        bits(
            2, nil, nil, nil, "on-device verification successful", "context is conflicting",
            "offline change PIN required", "ACK required", "on-device verification required"),
        bits(3, nil, nil, nil, nil, nil, nil, nil, "wallet requires second tap"))

    /// Card Processing Requirements (9F71 of kernel 6; the order of byte 2 is unverified).
    static let cardProcessingRequirements = BitTable(
        bits(1, "online PIN required", "signature required"),
        bits(2, nil, nil, nil, nil, nil, nil, "fallback to signature", "fallback to no CVM"))
}
