// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Under whom this process works.
package enum ProcessOwner {
    /// Gives root's rights up for those of a user and its one group, for good and for all threads (credentials(7)). The other groups go
    /// first: afterwards they could not.
    ///
    /// - Throws: the kernel's refusal; what had been given up by then stays so.
    package static func become(user: UInt32, group: UInt32) throws(SystemError) {
        guard setgroups(0, nil) == 0, setgid(group) == 0, setuid(user) == 0 else { throw .last }
        // What root had locked counts against the user's limit: no stack could grow, and no memory be had (mlockall(2)).
        if clinux_locked_memory_limit() != .max { munlockall() }
    }

    /// The same, for a folder's owner: whoever owns it may lay links there, through which root would read and write. Changes nothing for
    /// a user who is not root.
    ///
    /// - Throws: why the folder cannot be looked at, or the kernel's refusal.
    package static func becomeOwner(of folder: String) throws(SystemError) {
        guard geteuid() == 0 else { return }
        let owner = try FileStatus(of: folder)
        if owner.userID != 0 { try become(user: owner.userID, group: owner.groupID) }
    }
}
