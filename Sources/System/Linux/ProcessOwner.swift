// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Under whom this process works.
package enum ProcessOwner {
    /// Gives root's rights up for those of a user and its one group, for good and for all threads (credentials(7)). The other groups go
    /// first: afterwards they could not.
    ///
    /// - Throws: the kernel's refusal; what had been given up by then stays so.
    package static func become(user: UInt32, group: UInt32) throws(SystemError) {
        guard setgroups(0, nil) == 0, setgid(group) == 0, setuid(user) == 0 else { throw .last }
    }
}
