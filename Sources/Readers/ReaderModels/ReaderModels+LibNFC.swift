// SPDX-License-Identifier: Apache-2.0
// Table: readers without CCID, by the drivers of libnfc 1.8.0.

extension ReaderModels {
    static let pn53x: [ReaderModel] = [
        pn53x(
            "SCM SCL3711", [USBDeviceID(0x04E6, 0x5591)], marks: ["SCL3711"],
            antenna: "the flat side of the stick, away from the plug", quirks: [.claimedByKernel]),
        pn53x(
            "SCM SCL3712", [USBDeviceID(0x04E6, 0x5594)], marks: ["SCL3712"],
            antenna: "the flat side of the stick, away from the plug"),
        pn53x(
            "NXP PN533", [USBDeviceID(0x04CC, 0x2533)], marks: ["PN533"], antenna: "over the board's copper loop",
            quirks: [.claimedByKernel]),
        pn53x(
            "NXP PN531", [USBDeviceID(0x04CC, 0x0531), USBDeviceID(0x054C, 0x0193)], marks: ["PN531"],
            antenna: "over the board's copper loop"),
        pn53x(
            "Sony RC-S360", [USBDeviceID(0x054C, 0x02E1)], marks: ["RCS360"], antenna: "the middle of the top face",
            quirks: [.claimedByKernel]),
        pn53x(
            "ASK LoGO", [USBDeviceID(0x1FD3, 0x0608)], marks: ["ASKLOGO"], antenna: "the middle of the top face"),
        pn532Board,
    ]

    /// On a serial line, mostly behind an FTDI or CH340 bridge, whose ids say nothing of the board.
    static let pn532Board = pn53x(
        "PN532 board", [], marks: ["PN532"], antenna: "over the board's copper loop",
        quirks: [.behindSerialBridge, .sharedSerialLine, .fieldStaysOn])

    private static func pn53x(
        _ name: String, _ devices: [USBDeviceID], marks: [String], antenna: String, quirks: Set<ReaderQuirk> = []
    ) -> ReaderModel {
        ReaderModel(
            name, devices, marks: marks, backend: .libnfc, antenna: antenna, features: [.pollingFrames],
            quirks: quirks.union([.fieldStaysOn]))
    }
}
