import CardBytes

extension TerminalConfiguration {
    /// A merchant's online-only test terminal: tap only, no contact slot, no PIN pad. For tests and demonstrations; live
    /// values come from the acquirer.
    public static let test = TerminalConfiguration(
        terminalData: [
            DataObject(0x9F33, [0x00, 0x08, 0x08]),
            DataObject(0x9F35, [0x21]),
            DataObject(0x9F40, [0x60, 0x00, 0xC0, 0x30, 0x00]),
            DataObject(0x9F1C, Array("00000001".utf8)),
            DataObject(0x9F1E, Array("NFC00001".utf8)),
            DataObject(0x9F16, Array("TEST MERCHANT  ".utf8)),
            DataObject(0x9F15, [0x53, 0x11]),
            DataObject(0x9F4E, Array("nfc-tap test terminal".utf8)),
            DataObject(0x9F39, [0x07]),
            DataObject(0x9F01, [0x00, 0x00, 0x00, 0x00, 0x00, 0x01]),
        ],
        combinations: [
            visaTest([0xA0, 0x00, 0x00, 0x00, 0x03, 0x10, 0x10]),
            visaTest([0xA0, 0x00, 0x00, 0x00, 0x03, 0x20, 0x10]),
            visaTest([0xA0, 0x00, 0x00, 0x00, 0x03, 0x20, 0x20]),
            mastercardTest([0xA0, 0x00, 0x00, 0x00, 0x04, 0x10, 0x10]),
            mastercardTest([0xA0, 0x00, 0x00, 0x00, 0x04, 0x30, 0x60]),
        ] + furtherTestCombinations + [c8Test])

    /// EMV mode, consumer device CVM and signature; a floor limit of zero asks for an online cryptogram always.
    private static func visaTest(_ aid: [UInt8]) -> Combination {
        Combination(
            aid: aid, kernel: .visa,
            limits: EntryPointLimits(
                transactionLimit: 1_000_000, cvmRequiredLimit: 5_000, floorLimit: 0, zeroAmountAllowed: true,
                ttq: TTQ(rawValue: 0x2200_4000)))
    }

    /// EMV mode only, on-device CVM, signature above the CVM limit, CDA; limits live in the kernel's own data.
    private static func mastercardTest(_ aid: [UInt8]) -> Combination {
        Combination(
            aid: aid, kernel: .mastercard,
            kernelData: [
                DataObject(0xDF811B, [0xA0]),
                DataObject(0xDF8117, [0x00]),
                DataObject(0xDF8118, [0x20]),
                DataObject(0xDF8119, [0x08]),
                DataObject(0xDF811F, [0x08]),
                DataObject(0xDF8120, [0xF4, 0x50, 0x84, 0x80, 0x0C]),
                DataObject(0xDF8121, [0x00, 0x00, 0x00, 0x00, 0x00]),
                DataObject(0xDF8122, [0xF4, 0x50, 0x84, 0x80, 0x0C]),
                DataObject(0xDF8123, [0x00, 0x00, 0x00, 0x00, 0x00, 0x00]),
                DataObject(0xDF8124, [0x00, 0x00, 0x01, 0x00, 0x00, 0x00]),
                DataObject(0xDF8125, [0x00, 0x00, 0x01, 0x00, 0x00, 0x00]),
                DataObject(0xDF8126, [0x00, 0x00, 0x00, 0x00, 0x50, 0x00]),
                DataObject(0x9F1D, [0x2C, 0x00, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00]),
                DataObject(0x9F6D, [0x00, 0x01]),
            ])
    }
}
