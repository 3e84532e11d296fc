// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV

/// Outcome Parameter Set, Error Indication and User Interface Request Data (EMV Contactless Book C-2 §A.1).
enum OutcomeMeaning {
    static func error(_ value: [UInt8]) -> [Meaning]? {
        guard value.count == 6 else { return nil }
        var meanings = [
            Meaning("byte 1", "L1: " + (ErrorIndication.L1(rawValue: value[0]).map { "\($0)" } ?? "reserved")),
            Meaning("byte 2", "L2: " + (ErrorIndication.L2(rawValue: value[1]).map { "\($0)" } ?? "reserved")),
            Meaning("byte 3", "L3: " + (ErrorIndication.L3(rawValue: value[2]).map { "\($0)" } ?? "reserved")),
        ]
        let status = StatusWord(sw1: value[3], sw2: value[4])
        if status.rawValue != 0 { meanings.append(Meaning("bytes 4-5", "\(status) \(CodeNames.statusWord(status))")) }
        meanings.append(
            Meaning("byte 6", "message: " + (UIRequest.Message(rawValue: value[5]).map { "\($0)" } ?? "reserved")))
        return meanings
    }

    static func parameters(_ value: [UInt8]) -> [Meaning]? {
        guard value.count == 8 else { return nil }
        func word(_ name: String?) -> String { name ?? "not applicable" }
        var meanings = [
            Meaning("byte 1", "status: " + word(EMV.Outcome.Status(rawValue: value[0]).map { "\($0)" })),
            Meaning("byte 2", "start: " + word(StartPoint(rawValue: value[1]).map { "\($0)" })),
            Meaning(
                "byte 3",
                "online response data: " + word(EMV.Outcome.OnlineResponseData(rawValue: value[2]).map { "\($0)" })),
            Meaning("byte 4", "CVM: " + word(EMV.Outcome.CVM(rawValue: value[3]).map { "\($0)" })),
        ]
        meanings += flags.meanings(value, in: 4..<5)
        meanings.append(
            Meaning(
                "byte 6",
                "alternate interface: "
                    + word(EMV.Outcome.AlternateInterface(rawValue: value[5]).map { "\($0)" })))
        meanings.append(
            Meaning("byte 7", value[6] == 0xFF ? "no field off" : "field off for \(Int(value[6]) * 100) ms"))
        meanings.append(Meaning("byte 8", "removal time-out \(Int(value[7]) * 100) ms"))
        return meanings
    }

    private static let flags = BitTable(
        BitTable.bits(
            5, "UI request on outcome present", "UI request on restart present", "data record present",
            "discretionary data present", "receipt"))

    /// 22 bytes, or 13 of kernel 8.
    static func userInterface(_ value: [UInt8]) -> [Meaning]? {
        guard value.count == 22 || value.count == 13 else { return nil }
        var meanings = [
            Meaning("byte 1", "message: " + (UIRequest.Message(rawValue: value[0]).map { "\($0)" } ?? "reserved")),
            Meaning("byte 2", "status: " + (UIRequest.Status(rawValue: value[1]).map { "\($0)" } ?? "reserved")),
        ]
        if let hold = BCD.decode(value[2..<5]) { meanings.append(Meaning("bytes 3-5", "hold \(hold * 100) ms")) }
        return meanings
    }
}
