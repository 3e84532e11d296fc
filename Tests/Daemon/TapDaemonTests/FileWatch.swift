// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Tells of every write to a file, as the kernel sees it.
final class FileWatch {
    private let descriptor: Int32

    /// - Returns: `nil` where the file is not there.
    init?(_ path: String) {
        descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard descriptor >= 0, unsafe inotify_add_watch(descriptor, path, UInt32(IN_MODIFY)) >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Waits for the `count`th write from now on, but no longer than `milliseconds` for each.
    func awaitWrites(_ count: Int, milliseconds: Int32) {
        var seen = 0
        // Events are 16 bytes; equal ones in a row are merged, which only makes the count smaller.
        var event = [UInt8](repeating: 0, count: 16)
        while seen < count {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&waiting, 1, milliseconds) == 1 else { return }
            if unsafe read(descriptor, &event, event.count) == 16 { seen += 1 }
        }
    }
}
