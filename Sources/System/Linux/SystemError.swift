// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What the system answered to a call that failed, by errno(3).
public struct SystemError: Error, Equatable, Sendable {
    public let code: Int32

    public init(code: Int32) { self.code = code }

    /// Of the call that failed last on this thread. Ask before anything else is called.
    static var last: SystemError { SystemError(code: errno) }
}
