// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension CardDataDecoder {
    func command(_ command: CommandAPDU) -> Decoded {
        let name = CodeNames.command(command) ?? "unknown command"
        let header = Hex.string([command.cla, command.ins, command.p1, command.p2])
        var meanings = [Meaning("header", "\(header) \(name)")]
        meanings += parameters(command)
        if !command.data.isEmpty { meanings.append(Meaning("data", data(command))) }
        meanings.append(Meaning("Le", command.le.map { "\($0)" } ?? "absent"))
        return Decoded(form: "apdu", meanings: meanings, objects: [])
    }

    /// P1 and P2 of the commands that say something with them.
    private func parameters(_ command: CommandAPDU) -> [Meaning] {
        switch (command.cla, command.ins) {
        case (0x00, 0xA4):
            return [Meaning("P1 P2", command.p2 == 0x02 ? "by name, next occurrence" : "by name, first occurrence")]
        case (0x00, 0xB2):
            return [Meaning("P1", "record \(command.p1)"), Meaning("P2", "SFI \(command.p2 >> 3)")]
        case (0x80, 0xAE):
            let type = BitTable.cryptogramInformation.meanings([command.p1 & 0xC0]).first?.text ?? "reserved"
            return [Meaning("P1", type + (command.p1 & 0x10 != 0 ? ", with CDA signature" : ", no CDA signature"))]
        case (0x80, 0xCA), (0x80, 0xDA):
            let tag = command.p1 == 0 ? "\(Hex.string([command.p2]))" : Hex.string([command.p1, command.p2])
            return [Meaning("P1 P2", "tag \(tag)")]
        case _:
            return []
        }
    }

    private func data(_ command: CommandAPDU) -> String {
        let text = Hex.string(command.data)
        guard command.ins == 0xA4, let name = CodeNames.scheme(command.data) else { return text }
        return "\(text) \(name)"
    }
}
