import Glibc

/// Keeps a second daemon away from the journal, for as long as this process lives. Other programs may still read it.
struct JournalLock: ~Copyable {
    private let descriptor: Int32

    init(path: String) throws(JournalError) {
        descriptor = unsafe open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .cannotOpen(path: path) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            _ = close(descriptor)
            throw .inUse(path: path)
        }
    }

    deinit { _ = close(descriptor) }
}
