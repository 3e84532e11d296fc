// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// A keyboard that this process is to the kernel, by way of `/dev/uinput`. Whatever has the focus gets what it types. It is gone with
/// the last reference.
package final class VirtualKeyboard: Sendable {
    private let device: Descriptor

    /// - Parameters:
    ///   - name: for people, as `/proc/bus/input/devices` lists it; 79 bytes at most.
    ///   - keys: all that it has, by the codes of linux/input-event-codes.h.
    /// - Throws: `ENOENT` or `ENODEV` where the kernel's module `uinput` is not loaded, `EACCES` or `EPERM` where the process may not open it.
    package init(path: String = "/dev/uinput", name: String, keys: [UInt16]) throws(SystemError) {
        let device = try Descriptor(opening: path, O_WRONLY)
        let code = unsafe clinux_make_keyboard(device.number, name, keys, UInt32(keys.count))
        guard code == 0 else { throw SystemError(code: code) }
        self.device = device
    }

    /// One key goes down or up.
    ///
    /// - Throws: what the kernel has against it.
    package func change(_ key: UInt16, isDown: Bool) throws(SystemError) {
        let code = clinux_change_key(device.number, key, isDown ? 1 : 0)
        guard code == 0 else { throw SystemError(code: code) }
    }
}
