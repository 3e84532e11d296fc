// SPDX-License-Identifier: Apache-2.0
import ReaderModels
import Synchronization

/// The slots that one `PCSCReader` of this process has, so that neither at the start nor after a replug two readers of the same
/// model end up with the same device.
final class ReaderClaim: Sendable {
    private static let claimed = Mutex<[String: Int]>([:])
    private let names: Mutex<[String]>

    /// Claims a reader that somebody named in full, whoever else has it.
    init(_ name: String) {
        names = Mutex([name])
        Self.claimed.withLock { $0[name, default: 0] += 1 }
    }

    /// Claims the first device of which nobody has a slot; `nil` where there is none.
    init?(firstOf devices: [[String]]) {
        let found = Self.claimed.withLock { claimed -> [String]? in
            let free = devices.first { device in !device.isEmpty && device.allSatisfy { claimed[$0] == nil } }
            for name in free ?? [] { claimed[name, default: 0] += 1 }
            return free
        }
        guard let found else { return nil }
        names = Mutex(found)
    }

    deinit { release() }

    /// What is claimed, in pcscd's order.
    var slots: [PCSCReaderName] { names.withLock { $0.map(PCSCReaderName.init) } }

    /// Finds the device whose slots used to be `old` among `candidates`, and claims it. A slot keeps its number.
    ///
    /// - Parameter text: the part of its name that the reader was asked for by; one that names a serial number is of no other.
    /// - Returns: the slots of the same names; else of the first unclaimed device of the same model, slots and serial part;
    ///   else of the same model and slots, because the serial part of many readers is only their place on the bus. `nil` where
    ///   there is none.
    func move(
        to candidates: [PCSCReaderName], from old: [PCSCReaderName], matching text: String
    ) -> [PCSCReaderName]? {
        release()
        guard let first = old.first else { return nil }
        let found = Self.claimed.withLock { claimed -> [PCSCReaderName]? in
            let free = candidates.filter {
                claimed[$0.full] == nil && $0.isSameSlot(as: first) && $0.keepsSerial(of: first, in: text)
            }
            let lead =
                candidates.first { $0.full == first.full } ?? free.first { $0.serial == first.serial } ?? free.first
            guard let lead else { return nil }
            let slots = candidates.filter { candidate in
                candidate == lead
                    || candidate.isOfSameDevice(as: lead) && old.contains { candidate.isSameSlot(as: $0) }
            }
            for slot in slots { claimed[slot.full, default: 0] += 1 }
            return slots
        }
        names.withLock { $0 = found?.map(\.full) ?? [] }
        return found
    }

    func release() {
        let released = names.withLock { names in
            defer { names = [] }
            return names
        }
        Self.claimed.withLock { claimed in
            for name in released {
                let left = (claimed[name] ?? 1) - 1
                claimed[name] = left > 0 ? left : nil
            }
        }
    }
}

extension PCSCReaderName {
    /// Whether it is what the other is, of the same device or of another one of the same model.
    fileprivate func isSameSlot(as other: PCSCReaderName) -> Bool {
        model == other.model && slot == other.slot && slotNumber == other.slotNumber
    }

    /// Whether `text` names nothing of the former name that is only that reader's own.
    fileprivate func keepsSerial(of old: PCSCReaderName, in text: String) -> Bool {
        let wanted = PCSCReaderName(text).stem.lowercased()
        return stem.lowercased().contains(wanted) || !old.stem.lowercased().contains(wanted)
    }
}
