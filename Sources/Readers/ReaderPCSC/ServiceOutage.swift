// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Linux
import ReaderCore

/// pcscd has ended under a wait, and may come back: how long that is waited for.
struct ServiceOutage {
    enum Next {
        /// Fails with that.
        case over(ReaderError)
        /// Another try at `at`; `first` is what it fails with where there is no time for one.
        case goesOn(first: ReaderError, at: TapInstant)
    }

    /// An upgrade stops pcscd, puts its files in place and starts it, in milliseconds on a slow machine.
    private static let patience: UInt64 = 10_000
    private static let pause: UInt64 = 100
    /// Failures that far apart are of two outages.
    private static let calm: UInt64 = 2_000

    private var begun: TapInstant?
    private var latest: TapInstant?
    private var first: ReaderError?
    /// pcscd has let a call of its own wait for far too long.
    private var wasStuck = false

    /// - Parameter error: what the failure is for the caller, where it ends the wait.
    mutating func take(_ failure: PCSCFailure, _ error: ReaderError, at now: TapInstant) -> Next {
        switch failure.meaning {
        case .connectionLost, .notRunning: break
        // A machine that stood still for a moment looks like a pcscd that hangs: a new connection tells.
        case .stuck where failure.asksService && !wasStuck: wasStuck = true
        // A pcscd that has just started may not have found its readers yet, nor polkit.
        case .readerGone, .readerUnavailable, .accessDenied:
            // A card that is refused is a refusal.
            guard failure.call != .connect, begun != nil, !isCalm(now) else { return .over(error) }
        case .cardLost, .mute, .otherProtocol, .otherVersion, .inUse, .cancelled, .timedOut, .stuck, .other:
            return .over(error)
        }
        if begun == nil || isCalm(now) { (begun, first) = (now, error) }
        latest = now
        guard let begun, let first, now < begun.advanced(byMilliseconds: Self.patience) else {
            return .over(first ?? error)
        }
        return .goesOn(first: first, at: now.advanced(byMilliseconds: Self.pause))
    }

    private func isCalm(_ now: TapInstant) -> Bool {
        latest.map { now > $0.advanced(byMilliseconds: Self.calm) } ?? true
    }
}

extension TapCancellation {
    /// Sleeps until then.
    ///
    /// - Throws: `.cancelled` as soon as somebody wants the wait to end.
    func sleep(until time: TapInstant) throws(ReaderError) {
        let wake = try ReaderError.system(try WakeSignal())
        withWaker({ wake.signal() }) { _ = wake.wait(until: time) }
        if isCancelled { throw .cancelled }
    }
}
