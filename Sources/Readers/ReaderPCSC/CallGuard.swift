// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Linux
import ReaderCore
import Synchronization

/// Watches over one reader's PC/SC calls: one that has not come back by its deadline loses its connection, and returns.
///
/// The calls themselves stay on the reader's thread, so that a tap pays no thread switch for each command. The guard's
/// own thread sleeps until the earliest moment at which it could have to act.
final class CallGuard: Sendable {
    private struct Call {
        let deadline: TapInstant
        let sever: @Sendable () -> Void
    }

    private struct State {
        var call: Call?
        var hasSevered = false
        /// When the thread wakes next; `nil` while it sleeps until it is woken.
        var nextLook: TapInstant?
        var isStopped = false
    }

    private final class Shared: Sendable {
        let state = Mutex(State())
        let wake: WakeSignal

        init() throws(ReaderError) { wake = try ReaderError.system(try WakeSignal()) }
    }

    private let shared: Shared

    init() throws(ReaderError) {
        let shared = try Shared()
        self.shared = shared
        try ReaderError.system(try PrivateThread.start(named: "pcsc-guard") { Self.watch(shared) })
    }

    deinit {
        shared.state.withLock { $0.isStopped = true }
        shared.wake.signal()
    }

    /// Runs a blocking call.
    ///
    /// - Parameters:
    ///   - deadline: when the call has to be over.
    ///   - sever: makes it return; called on the guard's thread, while the call is under way, until it has returned.
    /// - Throws: what `call` threw, or the same with the meaning `.stuck` where it had to be ended.
    func run<Value: ~Copyable>(
        until deadline: TapInstant, sever: @escaping @Sendable () -> Void,
        _ call: () throws(PCSCFailure) -> Value
    ) throws(PCSCFailure) -> Value {
        arm(Call(deadline: deadline, sever: sever))
        do throws(PCSCFailure) {
            let value = try call()
            // Severed in the very moment of success: the answer counts, the connection is found dead later.
            _ = disarm()
            return value
        } catch {
            throw disarm() ? PCSCFailure(error.call, error.code, meaning: .stuck) : error
        }
    }

    private func arm(_ call: Call) {
        let mustWake = shared.state.withLock { state in
            state.call = call
            state.hasSevered = false
            guard let nextLook = state.nextLook else { return true }
            return nextLook > call.deadline
        }
        if mustWake { shared.wake.signal() }
    }

    private func disarm() -> Bool {
        shared.state.withLock { state in
            state.call = nil
            return state.hasSevered
        }
    }

    /// The guard thread's whole life.
    private static func watch(_ shared: Shared) {
        while true {
            let (isStopped, nextLook) = shared.state.withLock { state in
                state.nextLook = state.call?.deadline
                if let call = state.call, call.deadline <= monotonicNow() {
                    // Under the lock: the call cannot return to its caller, who would release the context.
                    call.sever()
                    state.hasSevered = true
                    // On a busy machine a call may open its connection only now.
                    state.nextLook = monotonicNow().advanced(byMilliseconds: 20)
                }
                return (state.isStopped, state.nextLook)
            }
            if isStopped { return }
            _ = shared.wake.wait(until: nextLook)
        }
    }
}
