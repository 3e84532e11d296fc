// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The name under which one `PCSCReader` of this process has its reader, so that after a replug two readers of the same
/// model do not end up with the same device.
final class ReaderClaim: Sendable {
    private static let claimed = Mutex<[String: Int]>([:])
    private let name: Mutex<String?>

    init(_ name: String) {
        self.name = Mutex(name)
        Self.add(name)
    }

    deinit { release() }

    /// Finds the reader that used to be `old` among `candidates` and claims its name.
    ///
    /// - Returns: the one of the same name; else the first unclaimed one of the same model, slot and serial part; else
    ///   of the same model and slot, because the serial part of many readers is only their place on the bus.
    func move(to candidates: [PCSCReaderName], from old: PCSCReaderName) -> PCSCReaderName? {
        release()
        let found = Self.claimed.withLock { claimed -> PCSCReaderName? in
            let free = candidates.filter { claimed[$0.full] == nil && $0.model == old.model && $0.slot == old.slot }
            let found =
                candidates.first { $0.full == old.full } ?? free.first { $0.serial == old.serial } ?? free.first
            if let found { claimed[found.full, default: 0] += 1 }
            return found
        }
        name.withLock { $0 = found?.full }
        return found
    }

    func release() {
        let released = name.withLock { name in
            defer { name = nil }
            return name
        }
        guard let released else { return }
        Self.claimed.withLock { claimed in
            let left = (claimed[released] ?? 1) - 1
            claimed[released] = left > 0 ? left : nil
        }
    }

    private static func add(_ name: String) {
        claimed.withLock { $0[name, default: 0] += 1 }
    }
}
