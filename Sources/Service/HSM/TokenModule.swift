// SPDX-License-Identifier: Apache-2.0
import CPKCS11
import Linux
import Synchronization

/// A loaded module, which the process has once. It is initialised when a call needs it, and anew after it was lost, but never while
/// another thread is inside: PKCS#11 leaves open what happens then (§5.4, C_Finalize).
final class TokenModule: Sendable {
    private struct State {
        var isInitialized = false
        /// Somebody has lost it. It is ended when the last one is out.
        var isStale = false
        var running = 0
        /// Counts the beginnings: sessions of an earlier one are gone.
        var generation: UInt64 = 0
        /// When it began, in nanoseconds of `MachineClock.awake`, until something worked since.
        var begun: UInt64?
    }

    /// Between two beginnings without success, in nanoseconds: a token that is gone is not asked for by each call of each till.
    private static let pause: UInt64 = 1_000_000_000
    private static let loaded = Mutex<[String: TokenModule]>([:])

    let number: Int32
    private let state = Mutex(State())

    private init(_ number: Int32) { self.number = number }

    static func at(_ path: String) throws(TokenError) -> TokenModule {
        try loaded.withLock { (loaded) throws(TokenError) in
            if let module = loaded[path] { return module }
            var number: Int32 = -1
            // The path and the number live for the call.
            let code = unsafe cpkcs11_open(path, &number)
            guard code == CKR_OK else { throw .unavailable(.module(path: path)) }
            let module = TokenModule(number)
            loaded[path] = module
            return module
        }
    }

    /// Before calls of the module; `leave` has to follow.
    ///
    /// - Returns: which beginning this is.
    func enter() throws(TokenError) -> UInt64 {
        try state.withLock { (state) throws(TokenError) in
            endIfNobodyIsInside(&state)
            guard !state.isStale else { throw .unavailable(.pausing) }
            if !state.isInitialized { try begin(&state) }
            state.running += 1
            return state.generation
        }
    }

    func leave(hasWorked: Bool) {
        state.withLock { state in
            state.running -= 1
            if hasWorked { state.begun = nil }
            endIfNobodyIsInside(&state)
        }
    }

    /// What began as `generation` is gone.
    func lost(_ generation: UInt64) {
        state.withLock { state in
            if state.generation == generation, state.isInitialized { state.isStale = true }
        }
    }

    private func begin(_ state: inout State) throws(TokenError) {
        let now = MachineClock.awake
        if let begun = state.begun, now &- begun < Self.pause { throw .unavailable(.pausing) }
        state.begun = now
        let code = cpkcs11_initialize(number)
        guard code == CKR_OK || code == CKR_CRYPTOKI_ALREADY_INITIALIZED else {
            throw .unavailable(.lost(code: code))
        }
        state.isInitialized = true
        state.generation += 1
    }

    private func endIfNobodyIsInside(_ state: inout State) {
        guard state.isStale, state.running == 0 else { return }
        // Whatever it answers: the next beginning tells whether it is there.
        _ = cpkcs11_finalize(number)
        state.isStale = false
        state.isInitialized = false
    }
}
