// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Keeps a second daemon away from the journal, for as long as this process lives. Other programs may still read it.
struct JournalLock: ~Copyable {
    private let descriptor: Int32

    init(path: String) throws(JournalError) {
        let opened = unsafe open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw .cannotOpen(path: path) }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            // Not stored yet: an initializer that throws with everything stored runs `deinit`, which closes again.
            _ = close(opened)
            throw .inUse(path: path)
        }
        descriptor = opened
    }

    deinit { _ = close(descriptor) }
}
