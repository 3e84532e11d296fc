// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux
import Synchronization

/// Room on the journal's disk that nobody else can take: a file of real blocks. A full disk ends no sale that has begun,
/// because the file is given up for it; nothing new begins until the file is whole again.
final class StorageReserve: Sendable {
    private struct State {
        var isWhole = false
        /// A write has failed since room beside it was really taken: statvfs(3) knows no quota.
        var isDoubted = false
        var allocations = 0
    }

    static let fileName = "journal.reserve"
    private static let probeName = "journal.reserve.new"
    /// More than sixty-four lanes write from a card's first byte to the end.
    let size: Int64
    /// More than one sale writes.
    let room: Int64
    /// With so many bytes free nothing is taken to see whether there is room: a disk that only rests is not written.
    let ample: Int64
    private let folder: String
    private let state = Mutex(State())

    init(folder: String, size: Int64 = 4 << 20, room: Int64 = 512 << 10, ample: Int64 = 16 << 20) {
        (self.folder, self.size, self.room, self.ample) = (folder, size, room, ample)
    }

    /// Makes the reserve whole, and sees whether there is room beside it: by a look where there is plenty, else by taking it.
    ///
    /// - Throws: `ENOSPC` or `EDQUOT` for a full disk.
    func fill() throws(SystemError) {
        try state.withLock { (state) throws(SystemError) in
            do throws(SystemError) {
                state.isWhole = state.isWhole && FileSystem.exists(folder + "/" + StorageReserve.fileName)
                if !state.isWhole { try allocate(StorageReserve.fileName, size, &state) }
                state.isWhole = true
                if !state.isDoubted, try FileSystem.room(at: folder) >= ample { return }
                try allocate(StorageReserve.probeName, room, &state)
                try FileSystem.remove(folder + "/" + StorageReserve.probeName)
                state.isDoubted = false
            } catch {
                // What could be had is nothing that counts, and somebody may need it.
                try? FileSystem.remove(folder + "/" + StorageReserve.probeName)
                if !state.isWhole { try? FileSystem.remove(folder + "/" + StorageReserve.fileName) }
                state.isDoubted = true
                throw error
            }
        }
    }

    /// Has the next `fill` take room, whatever the disk says of itself: a write has failed.
    func doubt() { state.withLock { $0.isDoubted = true } }

    /// Files that were allocated, for whoever counts what a daemon at rest does to a disk.
    var allocations: Int { state.withLock { $0.allocations } }

    /// Whether the room is there for the next one that needs it.
    var isKept: Bool {
        state.withLock { state in
            state.isWhole = state.isWhole && FileSystem.exists(folder + "/" + StorageReserve.fileName)
            return state.isWhole
        }
    }

    /// Gives the room back to the disk, for everybody who has met its end by now.
    func release() {
        state.withLock { state in
            state.isDoubted = true
            guard state.isWhole else { return }
            state.isWhole = false
            try? FileSystem.remove(folder + "/" + StorageReserve.fileName)
        }
    }

    private func allocate(_ name: String, _ size: Int64, _ state: inout State) throws(SystemError) {
        state.allocations += 1
        let file = try Descriptor(opening: folder + "/" + name, O_CREAT | O_RDWR | O_NOFOLLOW, mode: 0o600)
        try file.allocate(size)
        try file.synchronize()
    }
}
