// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What this process was started with.
package enum Environment {
    /// A variable's value; `nil` where it is not set.
    package static func value(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }

    /// Removes a variable. Only before any thread is started: other threads may read the environment at any time.
    package static func remove(_ name: String) { _ = unsafe unsetenv(name) }

    /// Path of the program that runs here; `nil` without /proc.
    package static var program: String? { FileSystem.link("/proc/self/exe") }

    /// Path of another program in the folder of this one, which need not be there; `nil` without /proc.
    package static func beside(_ name: String) -> String? {
        guard let own = program, let slash = own.lastIndex(of: "/") else { return nil }
        return String(own[...slash]) + name
    }
}
