// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Values of kernel 8's configuration where the terminal sets none. Those that kernel 2 has too are kernel 2's; the
/// others are this project's choice, as the default table of C-8 is not public.
enum Kernel8Defaults {
    static let objects: [DataObject] = [
        DataObject(.terminalRiskManagementData, [UInt8](repeating: 0, count: 8)),
        DataObject(.terminalType, [0x00]),
        DataObject(.c8CardDataInputCapability, [0x00]),
        DataObject(.c8CVMCapabilityRequired, [0x00]),
        DataObject(.c8CVMCapabilityNotRequired, [0x00]),
        DataObject(.c8KernelConfiguration, [0x00, 0x00]),
        DataObject(.c8SecurityCapability, [0x00]),
        DataObject(.c8ActionCodeDenial, [0x00, 0x00, 0x00, 0x00, 0x00]),
        DataObject(.c8ActionCodeOnline, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
        DataObject(.c8FloorLimit, [0x00, 0x00, 0x00, 0x00, 0x00, 0x00]),
        DataObject(.c8CVMLimit, [0x00, 0x00, 0x00, 0x00, 0x00, 0x00]),
        DataObject(.c8MessageHoldTime, [0x00, 0x00, 0x13]),
        DataObject(.c8FieldOffHoldTime, [0x0D]),
        DataObject(.c8MinimumGracePeriod, [0x00, 0x14]),
        DataObject(.c8MaximumGracePeriod, [0x00, 0x32]),
        DataObject(.c8ExpectedCommandTime, [0x00, 0x12]),
        DataObject(.c8ExpectedResponseTime, [0x00, 0x18]),
        DataObject(.c8AccuracyThreshold, [0x01, 0x2C]),
        DataObject(.c8MismatchThreshold, [0x32]),
        // The bits that the kernel sets itself; all others may come from the card.
        DataObject(.c8KernelTVRMask, [0x84, 0x00, 0x84, 0x80, 0xCF]),
        DataObject(.messagesOnRestart, [0x18, 0x1D, 0x20, 0x21]),
        DataObject(.defaultIADMACOffset, [0x18]),
        // Error indication, write and read data status, time excess, data envelopes.
        DataObject(.discretionaryDataTagList, discretionary),
        // Amounts, country, TVR, currency, date, type, unpredictable number: what cryptograms are taken over.
        DataObject(.defaultCDOL1, cdol),
    ]

    private static let discretionary: [UInt8] =
        [0x9F, 0x82, 0x04, 0x9F, 0x82, 0x1B, 0x9F, 0x82, 0x1C, 0x9F, 0x81, 0x0C]
        + (0x11...0x1A).flatMap { [0x9F, 0x81, $0 as UInt8] }

    private static let cdol: [UInt8] = [
        0x9F, 0x02, 0x06, 0x9F, 0x03, 0x06, 0x9F, 0x1A, 0x02, 0x95, 0x05, 0x5F, 0x2A, 0x02, 0x9A, 0x03, 0x9C, 0x01,
        0x9F, 0x37, 0x04,
    ]
}
