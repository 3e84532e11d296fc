// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Users and groups of this machine, from wherever it has them (nsswitch.conf(5)).
package enum UserDatabase {
    /// `nil` for a number that no user has.
    package static func name(ofUser number: UInt32) -> String? {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var strings = [CChar](repeating: 0, count: 16 * 1_024)
        guard unsafe getpwuid_r(number, &entry, &strings, strings.count, &found) == 0, unsafe found != nil,
            let name = unsafe entry.pw_name
        else { return nil }
        return unsafe String(cString: name)
    }

    /// `nil` for a name that no group has.
    package static func number(ofGroup name: String) -> UInt32? {
        var entry = unsafe group()
        var found: UnsafeMutablePointer<group>?
        var strings = [CChar](repeating: 0, count: 16 * 1_024)
        guard unsafe getgrnam_r(name, &entry, &strings, strings.count, &found) == 0, unsafe found != nil else {
            return nil
        }
        return unsafe entry.gr_gid
    }
}
