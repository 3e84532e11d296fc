// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension TerminalConfiguration {
    /// A merchant's online-only test terminal: tap only, no contact slot, no PIN pad. For tests and demonstrations;
    /// live values come from the acquirer.
    public static let test = TerminalConfiguration(
        terminalData: [
            DataObject(.terminalCapabilities, [0x00, 0x08, 0x08]),
            DataObject(.terminalType, [0x21]),
            DataObject(.additionalTerminalCapabilities, [0x60, 0x00, 0xC0, 0x30, 0x00]),
            DataObject(.terminalIdentification, Array("00000001".utf8)),
            DataObject(.interfaceDeviceSerialNumber, Array("NFC00001".utf8)),
            DataObject(.merchantIdentifier, Array("TEST MERCHANT  ".utf8)),
            DataObject(.merchantCategoryCode, [0x53, 0x11]),
            DataObject(.merchantNameAndLocation, Array("nfc-tap test terminal".utf8)),
            DataObject(.entryMode, [0x07]),
            DataObject(.acquirerIdentifier, [0x00, 0x00, 0x00, 0x00, 0x00, 0x01]),
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
                DataObject(.kernelConfiguration, [0xA0]),
                DataObject(.cardDataInputCapability, [0x00]),
                DataObject(.cvmCapabilityRequired, [0x20]),
                DataObject(.cvmCapabilityNotRequired, [0x08]),
                DataObject(.securityCapability, [0x08]),
                DataObject(.terminalActionCodeDefault, [0xF4, 0x50, 0x84, 0x80, 0x0C]),
                DataObject(.terminalActionCodeDenial, [0x00, 0x00, 0x00, 0x00, 0x00]),
                DataObject(.terminalActionCodeOnline, [0xF4, 0x50, 0x84, 0x80, 0x0C]),
                DataObject(.readerFloorLimit, [0x00, 0x00, 0x00, 0x00, 0x00, 0x00]),
                DataObject(.transactionLimitWithoutDeviceCVM, [0x00, 0x00, 0x01, 0x00, 0x00, 0x00]),
                DataObject(.transactionLimitWithDeviceCVM, [0x00, 0x00, 0x01, 0x00, 0x00, 0x00]),
                DataObject(.readerCVMLimit, [0x00, 0x00, 0x00, 0x00, 0x50, 0x00]),
                // With consumer device verification without CDA: where a CA key is missing phones go online as cards do.
                DataObject(.terminalRiskManagementData, [0x2C, 0x00, 0xA0, 0x00, 0x00, 0x00, 0x00, 0x00]),
                DataObject(.magStripeVersion, [0x00, 0x01]),
            ])
    }
}
