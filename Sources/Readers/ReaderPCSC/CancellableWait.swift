// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Glibc
import Linux
import ReaderCore
import Synchronization

extension SmartCardContext {
    /// Waits for another state than `known`, for at most a second, so that a cancelled wait that went unnoticed and an
    /// event that libpcsclite did not report never cost more than that.
    ///
    /// - Throws: `.cancelled`, and `.stuck` where pcscd does not answer at all.
    func nextState(
        of reader: String, unless known: ReaderState, until deadline: TapInstant, cancellation: TapCancellation,
        guardedBy callGuard: CallGuard
    ) throws(PCSCFailure) -> ReaderState {
        try nextStates(
            of: [reader], unless: [known], until: deadline, cancellation: cancellation, guardedBy: callGuard
        ).first ?? .unaware
    }

    /// The same for several readers at once, of which one changes.
    func nextStates(
        of readers: [String], unless known: [ReaderState], until deadline: TapInstant, cancellation: TapCancellation,
        guardedBy callGuard: CallGuard
    ) throws(PCSCFailure) -> [ReaderState] {
        try cancellable(cancellation) { () throws(PCSCFailure) in
            let slice = milliseconds(until: deadline)
            let limit = monotonicNow().advanced(byMilliseconds: UInt64(slice) + CallLimit.service.rawValue)
            return try callGuard.run(until: limit, sever: { [link] in link.sever() }) { () throws(PCSCFailure) in
                try states(of: readers, unless: known, milliseconds: slice)
            }
        }
    }

    /// Runs a wait of this context so that `cancellation` ends it.
    ///
    /// SCardCancel is lost unless the wait has begun at that very moment. So the wish is repeated, every millisecond,
    /// until the waiter says that it is done.
    func cancellable<Value>(
        _ cancellation: TapCancellation, _ wait: () throws(PCSCFailure) -> Value
    ) throws(PCSCFailure) -> Value {
        guard !cancellation.isCancelled else { throw .cancelledWait }
        let canceller = canceller
        let wish = CancelRequest()
        defer { wish.waiterIsDone() }
        let value = try cancellation.withWaker({ wish.cancel(with: canceller) }, wait)
        guard !cancellation.isCancelled else { throw .cancelledWait }
        return value
    }

    private func milliseconds(until deadline: TapInstant) -> UInt32 {
        let rest = deadline.nanoseconds(since: monotonicNow()) / 1_000_000 + 1
        return UInt32(clamping: min(rest, 1_000))
    }
}

extension PCSCFailure {
    fileprivate static var cancelledWait: PCSCFailure { PCSCFailure(.getStatusChange, 0, meaning: .cancelled) }
}

/// One wait and the wish to end it.
private final class CancelRequest: Sendable {
    private let isDone = Atomic(false)

    func waiterIsDone() { isDone.store(true, ordering: .releasing) }

    /// On a thread of its own: the caller must not wait for pcscd.
    func cancel(with canceller: WaitCanceller) {
        // Without a thread the wait ends by itself within a second and finds the wish then.
        try? PrivateThread.start(named: "pcsc-cancel") { [self] in
            while !isDone.load(ordering: .acquiring) {
                canceller.cancel()
                usleep(1_000)
            }
        }
    }
}
