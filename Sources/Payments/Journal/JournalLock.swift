// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Keeps a second daemon away from the journal, for as long as this process lives. Other programs may still read it.
///
/// The folder and the journal's own file are locked, not a file beside them: whoever unlinked that would let a second
/// daemon in. SQLite's own locks are of another kind and do not get into the way of these (flock(2), fcntl_locking(2)).
struct JournalLock: ~Copyable {
    private let folder: Int32
    /// Must not be closed before SQLite has closed the file: that would drop SQLite's locks.
    private let file: Int32
    private let path: String

    /// Makes the file where there is none.
    init(directory: String, file path: String) throws(JournalError) {
        let folder = try JournalLock.lock(directory, O_RDONLY | O_DIRECTORY, of: path)
        let file: Int32
        do throws(JournalError) {
            // SQLite gives its companion files the mode of this one.
            file = try JournalLock.lock(path, O_CREAT | O_RDWR | O_NOFOLLOW, of: path)
        } catch {
            // Nothing is stored yet: an initializer that throws with everything stored runs `deinit`, which closes again.
            _ = close(folder)
            throw error
        }
        self.folder = folder
        self.file = file
        self.path = path
    }

    /// Whether the file is still the one that has this name: neither unlinked nor replaced.
    var isInPlace: Bool {
        var ours = stat()
        var named = stat()
        guard unsafe fstat(file, &ours) == 0, unsafe lstat(path, &named) == 0 else { return false }
        return ours.st_dev == named.st_dev && ours.st_ino == named.st_ino
    }

    /// Tries of 20 ms.
    private static let patience = 25

    private static func lock(_ path: String, _ flags: Int32, of journal: String) throws(JournalError) -> Int32 {
        let opened = unsafe open(path, flags | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw .cannotOpen(path: path, errno: errno) }
        // A process that is just being started holds what was open until its program runs (open(2), O_CLOEXEC).
        for _ in 0..<patience where flock(opened, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK { usleep(20_000) }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            _ = close(opened)
            throw code == EWOULDBLOCK ? .inUse(path: journal) : .cannotOpen(path: path, errno: code)
        }
        return opened
    }

    deinit {
        _ = close(file)
        _ = close(folder)
    }
}
