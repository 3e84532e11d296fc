// SPDX-License-Identifier: Apache-2.0
/// What the commands for lamps and buzzer that ACS's reference manuals print would show.
enum IFDIndicator {
    /// `FF 00 40 P2 04 T1 T2 N link` (ACR122U) sounds N times if link is not 0; `E0 00 00 28 01 length` once.
    static func tones(_ call: IFDReader.Call) -> Int {
        let command = bytes(of: call)
        if command.starts(with: [0xFF, 0x00, 0x40]), command.count == 9 {
            return command[8] == 0 ? 0 : Int(command[7])
        }
        return command.starts(with: [0xE0, 0x00, 0x00, 0x28, 0x01]) && command.count == 6 && command[5] > 0 ? 1 : 0
    }

    /// Bits of the final state: 0 red, 1 green of an ACR122U; of later ones as the model has them.
    static func lamps(_ call: IFDReader.Call) -> UInt8? {
        let command = bytes(of: call)
        if command.starts(with: [0xFF, 0x00, 0x40]), command.count == 9 { return command[3] & 0x03 }
        return command.starts(with: [0xE0, 0x00, 0x00, 0x29, 0x01]) && command.count == 6 ? command[5] : nil
    }

    /// The command itself; a control call has its code before it.
    private static func bytes(of call: IFDReader.Call) -> [UInt8] {
        switch call.kind {
        case .transmit: call.data
        case .control: Array(call.data.dropFirst(4))
        case .powerUp, .powerDown, .reset, .presence: []
        }
    }
}
