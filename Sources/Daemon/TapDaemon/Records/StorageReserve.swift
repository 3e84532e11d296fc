// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux
import Synchronization

/// Room on the journal's disk that nobody else can take: a file of real blocks. A full disk ends no sale that has begun,
/// because the file is given up for it; nothing new begins until the file is whole again.
final class StorageReserve: Sendable {
    static let fileName = "journal.reserve"
    private static let probeName = "journal.reserve.new"
    /// More than sixty-four lanes write from a card's first byte to the end.
    let size: Int64
    /// More than one sale writes.
    let room: Int64
    private let folder: String
    private let isWhole = Mutex(false)

    init(folder: String, size: Int64 = 4 << 20, room: Int64 = 512 << 10) {
        (self.folder, self.size, self.room) = (folder, size, room)
    }

    /// Makes the reserve whole, and sees whether there is room beside it.
    ///
    /// - Throws: `ENOSPC` or `EDQUOT` for a full disk.
    func fill() throws(SystemError) {
        try isWhole.withLock { (isWhole) throws(SystemError) in
            do throws(SystemError) {
                isWhole = isWhole && FileSystem.exists(folder + "/" + StorageReserve.fileName)
                if !isWhole { try allocate(StorageReserve.fileName, size) }
                isWhole = true
                try allocate(StorageReserve.probeName, room)
                try FileSystem.remove(folder + "/" + StorageReserve.probeName)
            } catch {
                // What could be had is nothing that counts, and somebody may need it.
                try? FileSystem.remove(folder + "/" + StorageReserve.probeName)
                if !isWhole { try? FileSystem.remove(folder + "/" + StorageReserve.fileName) }
                throw error
            }
        }
    }

    /// Whether the room is there for the next one that needs it.
    var isKept: Bool {
        isWhole.withLock { isWhole in
            isWhole = isWhole && FileSystem.exists(folder + "/" + StorageReserve.fileName)
            return isWhole
        }
    }

    /// Gives the room back to the disk, for everybody who has met its end by now.
    func release() {
        isWhole.withLock { isWhole in
            guard isWhole else { return }
            isWhole = false
            try? FileSystem.remove(folder + "/" + StorageReserve.fileName)
        }
    }

    private func allocate(_ name: String, _ size: Int64) throws(SystemError) {
        let file = try Descriptor(opening: folder + "/" + name, O_CREAT | O_RDWR | O_NOFOLLOW, mode: 0o600)
        try file.allocate(size)
        try file.synchronize()
    }
}
