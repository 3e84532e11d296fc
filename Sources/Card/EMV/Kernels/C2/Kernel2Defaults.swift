// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Values of kernel 2's configuration where the terminal sets none (C-2 Table 4.4).
enum Kernel2Defaults {
    static let objects: [DataObject] = [
        DataObject(.additionalTerminalCapabilities, [0x00, 0x00, 0x00, 0x00, 0x00]),
        DataObject(.readerApplicationVersion, [0x00, 0x02]),
        DataObject(.magStripeVersion, [0x00, 0x01]),
        DataObject(.terminalType, [0x00]),
        DataObject(.mobileSupportIndicator, [0x01]),
        DataObject(.cardDataInputCapability, [0x00]),
        DataObject(.cvmCapabilityRequired, [0x00]),
        DataObject(.cvmCapabilityNotRequired, [0x00]),
        DataObject(.securityCapability, [0x00]),
        DataObject(.defaultUDOL, [0x9F, 0x6A, 0x04]),
        DataObject(.kernelConfiguration, [0x00]),
        DataObject(.kernelID, [0x02]),
        DataObject(.magStripeCVMCapabilityRequired, [0xF0]),
        DataObject(.magStripeCVMCapabilityNotRequired, [0xF0]),
        DataObject(.tornRecordLifetime, [0x01, 0x2C]),
        DataObject(.tornRecordCapacity, [0x00]),
        DataObject(.messageHoldTime, [0x00, 0x00, 0x13]),
        DataObject(.fieldOffHoldTime, [0x0D]),
        DataObject(.readerFloorLimit, [0x00, 0x00, 0x00, 0x00, 0x00, 0x00]),
        DataObject(.transactionLimitWithoutDeviceCVM, [0x00, 0x00, 0x00, 0x00, 0x00, 0x00]),
        DataObject(.transactionLimitWithDeviceCVM, [0x00, 0x00, 0x00, 0x00, 0x00, 0x00]),
        DataObject(.readerCVMLimit, [0x00, 0x00, 0x00, 0x00, 0x00, 0x00]),
        DataObject(.terminalActionCodeDefault, [0x84, 0x00, 0x00, 0x00, 0x0C]),
        DataObject(.terminalActionCodeDenial, [0x84, 0x00, 0x00, 0x00, 0x0C]),
        DataObject(.terminalActionCodeOnline, [0x84, 0x00, 0x00, 0x00, 0x0C]),
        DataObject(.phoneMessageTable, phoneMessages),
        DataObject(.minimumGracePeriod, [0x00, 0x14]),
        DataObject(.maximumGracePeriod, [0x00, 0x32]),
        DataObject(.expectedCommandTime, [0x00, 0x12]),
        DataObject(.expectedResponseTime, [0x00, 0x18]),
        DataObject(.accuracyThreshold, [0x01, 0x2C]),
        DataObject(.mismatchThreshold, [0x32]),
    ]

    /// Phone Message Table: mask, value, message, status.
    private static let phoneMessages: [UInt8] = [
        0x00, 0x00, 0x01, 0x00, 0x00, 0x01, 0x20, 0x00,
        0x00, 0x08, 0x00, 0x00, 0x08, 0x00, 0x20, 0x00,
        0x00, 0x04, 0x00, 0x00, 0x04, 0x00, 0x20, 0x00,
        0x00, 0x01, 0x00, 0x00, 0x01, 0x00, 0x20, 0x00,
        0x00, 0x02, 0x00, 0x00, 0x02, 0x00, 0x20, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x07, 0x00,
    ]
}

extension DataStore {
    /// Sets what is not set yet, or set to nothing (C-2 KS.1).
    mutating func setDefaults(_ objects: [DataObject]) {
        for object in objects where !isPresentNotEmpty(object.tag) { set(object.tag, object.value) }
    }
}
