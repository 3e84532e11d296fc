// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Linux
import ReaderCore
import ReaderPCSC

/// Tells of PC/SC readers that come and go, from a thread of its own, until it is released.
final class ReaderWatch: Sendable {
    /// Ends with the watch.
    let changes: AsyncStream<PCSCMonitor.Change>
    private let cancellation = TapCancellation()

    /// - Throws: `.faulty` where the system has no thread or file descriptor left.
    init() throws(ReaderError) {
        let (changes, continuation) = AsyncStream<PCSCMonitor.Change>.makeStream()
        self.changes = changes
        let pause = try ReaderError.system(try WakeSignal())
        let watch: @Sendable () -> Void = { [cancellation] in
            defer { continuation.finish() }
            // Without a descriptor for it there is none: lanes then find out by themselves, a second later.
            guard let monitor = try? PCSCMonitor() else { return }
            while !cancellation.isCancelled {
                do throws(ReaderError) {
                    let deadline = monotonicNow().advanced(byMilliseconds: 60_000)
                    let found = try monitor.changes(until: deadline, cancellation: cancellation)
                    for change in found { continuation.yield(change) }
                } catch {
                    // pcscd refuses us until an administrator lets it.
                    let next = monotonicNow().advanced(byMilliseconds: 1_000)
                    cancellation.withWaker({ pause.signal() }) { _ = pause.wait(until: next) }
                }
            }
        }
        try ReaderError.system(try PrivateThread.start(named: "pcsc-watch", watch))
    }

    deinit { cancellation.cancel() }
}
