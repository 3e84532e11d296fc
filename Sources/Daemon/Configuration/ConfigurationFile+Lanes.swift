// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import ReaderModels
import Settings

extension ConfigurationFile {
    /// `[[lane]]` and `[lane-groups]`.
    mutating func readLanes(_ top: inout ConfigurationTable) {
        let entries = top.subtables("lane")
        // Of lanes that are wrong in another way too: whoever names them makes no mistake.
        var names: Set<String> = []
        for var entry in entries {
            let lane = lane(&entry)
            entry.finish()
            guard let name = entry.text("name") else { continue }
            guard names.insert(name).inserted else {
                entry.report("name", "is used twice", "give every lane a name of its own")
                continue
            }
            guard let lane else { continue }
            if let other = lanes.first(where: { $0.hasSameDevice(as: lane) }) {
                entry.report("reader", "is that of the lane \(other.name), too", "give every lane a reader of its own")
            }
            lanes.append(lane)
        }
        if entries.isEmpty { top.report("lane", "is missing", "write [[lane]] with name and reader") }
        if entries.count > 64 { top.report("lane", "occurs more than 64 times", "remove some") }
        readLaneGroups(&top, names)
    }

    private func lane(_ table: inout ConfigurationTable) -> Lane? {
        let name = table.text("name")
        if name?.isReference(upTo: 32) != true {
            table.report("name", "is missing or not 1 to 32 visible characters", "write name = \"till-1\"")
        }
        let reader = table.text("reader").flatMap { ReaderAddress($0) }
        if reader == nil {
            table.report(
                "reader", "is missing or of an unknown kind", "write pcsc:NAME, libnfc:CONNECTION or virtual:SOCKET")
        }
        if case .virtual = reader, mode == .live {
            table.report("reader", "is a virtual one", "live mode takes real readers only")
        }
        let feedback = FeedbackLevel(rawValue: table.text("feedback") ?? "lights+sound")
        if feedback == nil { table.report("feedback", "is of no known kind", "write lights+sound, lights or off") }
        let device = table.text("pin-device")
        let standing = ConfigurationFile.standing(&table, mode: mode)
        guard let name, let reader, let feedback else { return nil }
        var lane = Lane(name: name, reader: reader, feedback: feedback)
        lane.pinDevice = device
        lane.standing = standing
        return lane
    }

    private mutating func readLaneGroups(_ top: inout ConfigurationTable, _ lanes: Set<String>) {
        var table = top.subtable("lane-groups")
        for name in table.keys {
            let members = table.texts(name)
            if !name.isReference(upTo: 32) {
                table.report(
                    name, "is not 1 to 32 visible characters", "write counter = [\"till-1\", \"till-2\"]")
            } else if members.isEmpty || Set(members).count != members.count {
                table.report(name, "is empty or names a lane twice", "name each of its lanes once")
            } else if let unknown = members.first(where: { !lanes.contains($0) }) {
                table.report(name, "names the lane \(unknown), which does not exist", "add [[lane]] or remove it")
            }
            laneGroups[name] = members
        }
        table.finish()
    }
}

extension ConfigurationFile.Lane {
    /// Whether both want one and the same device. A part of a PC/SC name may be that of several; a name with pcscd's number of the
    /// reader is that of one.
    fileprivate func hasSameDevice(as other: Self) -> Bool {
        if case .pcsc(let text) = reader, PCSCReaderName(text).readerNumber == nil { return false }
        return reader == other.reader
    }
}
