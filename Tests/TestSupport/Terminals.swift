// SPDX-License-Identifier: Apache-2.0
import CardBytes
public import EMV

/// Terminals that the public transcripts were recorded with.
public enum Terminals {
    /// Limits of 200.00, 80.00 and 80.00; EMV mode, online PIN, consumer device CVM.
    public static let visaLimits = EntryPointLimits(
        transactionLimit: 20_000, cvmRequiredLimit: 8_000, floorLimit: 8_000, ttq: TTQ(rawValue: 0x2400_4000))

    public static func visa(_ limits: EntryPointLimits = visaLimits) -> TerminalConfiguration {
        TerminalConfiguration(
            terminalData: [
                DataObject(0x9F33, [0xA0, 0x48, 0xC8]), DataObject(0x9F4E, Array("SHOP".utf8)),
                DataObject(0x9F35, [0x22]), DataObject(0x9F39, [0x07]),
            ],
            combinations: [
                Combination(aid: [0xA0, 0x00, 0x00, 0x00, 0x03, 0x10, 0x10], kernel: .visa, limits: limits)
            ])
    }

    /// Terminal type 22, EMV and mag-stripe mode. The action codes for online make a correct kernel ask for an ARQC.
    public static func mastercard(_ changes: [DataObject] = []) -> TerminalConfiguration {
        var kernelData = [
            DataObject(0xDF811B, [0x20]), DataObject(0xDF8117, [0x00]), DataObject(0xDF8118, [0x60]),
            DataObject(0xDF8119, [0x08]), DataObject(0xDF811F, [0x08]),
            DataObject(0xDF8120, [0x00, 0x00, 0x00, 0x00, 0x00]),
            DataObject(0xDF8121, [0x00, 0x00, 0x00, 0x00, 0x00]),
            DataObject(0xDF8122, [0xF4, 0x50, 0x84, 0x80, 0x0C]),
            DataObject(0xDF8123, [0x00, 0x00, 0x00, 0x01, 0x00, 0x00]),
            DataObject(0xDF8124, [0x00, 0x00, 0x00, 0x03, 0x00, 0x00]),
            DataObject(0xDF8125, [0x00, 0x00, 0x00, 0x05, 0x00, 0x00]),
            DataObject(0xDF8126, [0x00, 0x00, 0x00, 0x00, 0x10, 0x00]),
        ]
        for change in changes {
            kernelData.removeAll { $0.tag == change.tag }
            kernelData.append(change)
        }
        return TerminalConfiguration(
            terminalData: [
                DataObject(0x9F35, [0x22]), DataObject(0x9F53, [0x32]), DataObject(0x9F1E, [0x32, 0x32]),
                DataObject(0x9F40, [0x60, 0x00, 0xF0, 0xF0, 0x01]),
            ],
            combinations: [
                Combination(
                    aid: [0xA0, 0x00, 0x00, 0x00, 0x04, 0x10, 0x10], kernel: .mastercard, kernelData: kernelData)
            ])
    }
}
