// SPDX-License-Identifier: Apache-2.0
public import CardBytes
package import Linux

/// The machine's monotonic clock (`CLOCK_MONOTONIC`).
public func monotonicNow() -> TapInstant { TapInstant(nanoseconds: MachineClock.awake) }

extension WakeSignal {
    /// Waits for a signal and takes it.
    ///
    /// - Parameter deadline: `nil` waits for ever.
    /// - Returns: whether there was one before `deadline`.
    package func wait(until deadline: TapInstant?) -> Bool { wait(untilNanoseconds: deadline?.nanoseconds) }
}

extension ReaderError {
    /// Calls what the system may refuse, a thread or a descriptor.
    ///
    /// - Throws: `.faulty` with the error number.
    package static func system<Result>(
        _ call: @autoclosure () throws(SystemError) -> Result
    ) throws(ReaderError) -> Result {
        do throws(SystemError) { return try call() } catch { throw .faulty(code: Int64(error.code)) }
    }
}
