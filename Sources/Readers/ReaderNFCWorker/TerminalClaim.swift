// SPDX-License-Identifier: Apache-2.0
import CNFC
import Glibc
import ReaderNFC

/// Our claim on the serial line of a device: libnfc's own does not survive, two processes can open the same line.
final class TerminalClaim {
    private let descriptor: Int32

    /// - Parameter connection: a libnfc connection string; `nil` results for devices that are no serial line.
    /// - Throws: `.inUse` where another worker holds the line, `.accessDenied`, or `.detached` where it is not there.
    init?(connection: String) throws(LibNFCError) {
        let parts = connection.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count > 1, ["pn532_uart", "arygon", "ACR122S"].contains(parts[0].lowercased()) else { return nil }
        let line = unsafe open(String(parts[1]), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard line >= 0 else {
            switch errno {
            case EBUSY: throw LibNFCError(.inUse, code: errno)
            case EACCES, EPERM: throw LibNFCError(.accessDenied, code: errno)
            default: throw LibNFCError(.detached, code: errno)
            }
        }
        guard flock(line, LOCK_EX | LOCK_NB) == 0 else {
            let reason = errno
            _ = close(line)
            throw LibNFCError(.inUse, code: reason)
        }
        descriptor = line
    }

    /// Keeps programs that know nothing of our lock from opening the line, once libnfc has opened it.
    func refuseOthers() { _ = cnfc_claim_terminal(descriptor) }

    /// Whether the line is gone: the far end of a pseudo-terminal closed, the USB adapter unplugged.
    var isHungUp: Bool {
        var watched = pollfd(fd: descriptor, events: 0, revents: 0)
        return unsafe poll(&watched, 1, 0) > 0 && watched.revents & Int16(POLLHUP | POLLERR) != 0
    }

    deinit {
        _ = cnfc_free_terminal(descriptor)
        _ = close(descriptor)
    }
}
