// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// American Express, JCB, Discover and UnionPay in the test terminal: no contact slot, no PIN pad, signature and
/// consumer device above the CVM limit.
extension TerminalConfiguration {
    static let furtherTestCombinations = [
        americanExpressTest,
        jcbTest,
        qualifiedTest([0xA0, 0x00, 0x00, 0x01, 0x52, 0x30, 0x10], .discover),
        qualifiedTest([0xA0, 0x00, 0x00, 0x03, 0x33, 0x01, 0x01, 0x01], .unionPay),
        qualifiedTest([0xA0, 0x00, 0x00, 0x03, 0x33, 0x01, 0x01, 0x02], .unionPay),
        qualifiedTest([0xA0, 0x00, 0x00, 0x03, 0x33, 0x01, 0x01, 0x03], .unionPay),
    ]

    private static func limits(_ ttq: TTQ? = nil) -> EntryPointLimits {
        EntryPointLimits(
            transactionLimit: 1_000_000, cvmRequiredLimit: 5_000, floorLimit: 0, zeroAmountAllowed: true, ttq: ttq)
    }

    /// Kernels 6 and 7 go by the TTQ as kernel 3 does.
    private static func qualifiedTest(_ aid: [UInt8], _ kernel: KernelIdentifier) -> Combination {
        Combination(aid: aid, kernel: kernel, limits: limits(TTQ(rawValue: 0x2200_4000)))
    }

    /// EMV partial online, mobile CVM and signature, SDA and CDA.
    private static let americanExpressTest = Combination(
        aid: [0xA0, 0x00, 0x00, 0x00, 0x25, 0x01], kernel: .americanExpress, limits: limits(),
        kernelData: [
            DataObject(.readerCapabilities, [0xC0]),
            DataObject(.enhancedReaderCapabilities, [0x18, 0xA0, 0x00, 0x03]),
            DataObject(.terminalCapabilities, [0x00, 0x28, 0x88]),
            DataObject(.readerApplicationVersion, [0x00, 0x01]),
            DataObject(.terminalActionCodeDefault, [0xDC, 0x50, 0x84, 0x00, 0x00]),
            DataObject(.terminalActionCodeDenial, [0x00, 0x10, 0x00, 0x00, 0x00]),
            DataObject(.terminalActionCodeOnline, [0xDE, 0x00, 0xFC, 0x98, 0x00]),
        ])

    /// EMV mode with offline data authentication.
    private static let jcbTest = Combination(
        aid: [0xA0, 0x00, 0x00, 0x00, 0x65, 0x10, 0x10], kernel: .jcb, limits: limits(),
        kernelData: [
            DataObject(.kernelConfiguration, [0x22]),
            DataObject(.terminalCompatibilityIndicator, [0x02]),
            DataObject(.terminalInterchangeProfile, [0x50, 0x00, 0x00]),
            DataObject(.terminalCapabilities, [0x00, 0x28, 0x08]),
            DataObject(.readerApplicationVersion, [0x02, 0x00]),
            DataObject(.terminalActionCodeDefault, [0x04, 0x00, 0x00, 0x00, 0x00]),
            DataObject(.terminalActionCodeDenial, [0x04, 0x40, 0x00, 0x00, 0x00]),
            DataObject(.terminalActionCodeOnline, [0xF8, 0x50, 0xAC, 0xF8, 0x00]),
        ])
}
