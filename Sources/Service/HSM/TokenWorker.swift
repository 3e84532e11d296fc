// SPDX-License-Identifier: Apache-2.0
import CPKCS11
import Linux
import Synchronization

/// What all sessions of a token share: the module, the settings, and that a refused PIN is not tried again.
final class TokenAccess: Sendable {
    let module: TokenModule
    let settings: TokenSettings
    /// Whether the PIN was refused. Held while somebody logs in, so that two sessions do not use up two attempts.
    private let isPINRefused = Mutex(false)

    init(_ settings: TokenSettings) throws(TokenError) {
        self.settings = settings
        module = try TokenModule.at(settings.module)
    }

    /// A session that is logged in.
    func session() throws(TokenCode) -> TokenSession {
        let session = try TokenSession.open(module.number, token: settings.token, writes: settings.mayMakeKeys)
        try isPINRefused.withLock { (isRefused) throws(TokenCode) in
            do throws(TokenCode) {
                guard !isRefused else { throw TokenCode(number: CK_RV(CKR_PIN_INCORRECT)) }
                try session.login(settings.pin)
            } catch {
                isRefused = error.isOfPIN
                session.close()
                throw error
            }
        }
        return session
    }

    /// What an answer of the token means to whoever asked.
    func error(_ code: TokenCode) -> TokenError {
        switch Int(code.number) {
        case CPKCS11_NO_TOKEN: .unavailable(.noToken(label: settings.token))
        case CPKCS11_SEVERAL_TOKENS: .unavailable(.severalTokens(label: settings.token))
        default:
            if code.isOfPIN {
                .pinRefused
            } else {
                code.loss == nil ? .refused(code: code.number) : .unavailable(.lost(code: code.number))
            }
        }
    }
}

/// A key as it was found in one session.
struct FoundKey: Sendable {
    /// The key in the token.
    let original: CK_OBJECT_HANDLE
    /// Bytes of an RSA modulus.
    var modulus = 0
    /// What is worked with: a copy for the session, or the key itself where the token makes none. `nil` before the first work.
    var working: CK_OBJECT_HANDLE?
    /// When the token last had the key, in nanoseconds of `MachineClock.awake`.
    var seen: UInt64 = 0

    var object: CK_OBJECT_HANDLE { working ?? original }
}

/// A session and what was found in it.
struct LiveSession {
    let calls: TokenSession
    let settings: TokenSettings
    fileprivate let generation: UInt64
    var keys: [TokenKey: FoundKey] = [:]
    /// Whether the token does not do OAEP with SHA-256.
    var refusesOAEP = false
    /// Keys of the books by their labels.
    var books: [String: FoundKey] = [:]
    /// Keys that came wrapped, oldest first.
    var unwrapped: [(key: UnwrappedKey, object: CK_OBJECT_HANDLE)] = []
}

/// What tells a key that came wrapped from others: its wrapping, its type (CKK_…), and the label of the key by which it was unwrapped.
struct UnwrappedKey: Equatable {
    let wrapped: [UInt8]
    let type: Int
    let zone: String
}

/// One session on a thread of its own. Sessions are opened when they are needed, and anew once they are lost.
actor TokenWorker {
    private let thread: SerialThread
    private let access: TokenAccess
    private var live: LiveSession?

    // The thread lives longer than the actor.
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    init(_ access: TokenAccess, number: Int) throws(TokenError) {
        self.access = access
        if let free = Self.free.withLock({ $0.popLast() }) {
            thread = free
            return
        }
        do throws(SystemError) { thread = try SerialThread(name: "token-\(number)") } catch {
            throw .unavailable(.busy)
        }
    }

    /// Threads whose workers are gone. They wait for the next ones and never end: what a module's libraries do at the end of a thread
    /// that has called them (OpenSSL frees what is the thread's own) must not meet what they do at the end of the process.
    private static let free = Mutex<[SerialThread]>([])

    deinit {
        let thread = thread
        Self.free.withLock { $0.append(thread) }
    }

    /// Does `work` on the session's thread behind what waits there, and hands over what came of it there. A task for it would be two
    /// more changes of thread.
    ///
    /// - Parameters:
    ///   - isWanted: asked when its turn comes; what nobody waits for any more is left.
    ///   - end: told what came of it, and how many nanoseconds it took; `nil` where it was left.
    nonisolated func perform<Answer: Sendable>(
        while isWanted: @escaping @Sendable () -> Bool,
        _ work: @escaping @Sendable (inout LiveSession) throws(TokenFailure) -> Answer,
        _ end: @escaping @Sendable (Result<Answer, TokenError>, UInt64?) -> Void
    ) {
        thread.perform {
            guard isWanted() else { return end(.failure(.unavailable(.abandoned)), nil) }
            let begin = MachineClock.awake
            let result = self.assumeIsolated { worker -> Result<Answer, TokenError> in
                do throws(TokenError) { return .success(try worker.perform(work)) } catch { return .failure(error) }
            }
            end(result, MachineClock.awake &- begin)
        }
    }

    /// Does `work`, which is done twice if the token was lost before or meanwhile.
    private func perform<Result: Sendable>(
        _ work: @Sendable (inout LiveSession) throws(TokenFailure) -> Result
    ) throws(TokenError) -> Result {
        let first: TokenCode
        do throws(TokenFailure) {
            return try attempt(work)
        } catch {
            guard case .code(let code) = error, code.loss != nil else { throw final(error) }
            first = code
        }
        do throws(TokenFailure) {
            return try attempt(work)
        } catch {
            // Not why it was lost, but that it was.
            if case .error(.unavailable(.pausing)) = error { throw access.error(first) }
            throw final(error)
        }
    }

    private func final(_ failure: TokenFailure) -> TokenError {
        switch failure {
        case .error(let error): error
        case .code(let code): access.error(code)
        }
    }

    private func attempt<Result: Sendable>(
        _ work: @Sendable (inout LiveSession) throws(TokenFailure) -> Result
    ) throws(TokenFailure) -> Result {
        let generation: UInt64
        do throws(TokenError) { generation = try access.module.enter() } catch { throw .error(error) }
        var hasWorked = false
        defer { access.module.leave(hasWorked: hasWorked) }
        do throws(TokenFailure) {
            var session = try session(of: generation)
            // Whatever becomes of the work: what it has copied is there.
            defer { live = session }
            let result = try work(&session)
            hasWorked = true
            return result
        } catch {
            if case .code(let code) = error, let loss = code.loss {
                live?.calls.close()
                live = nil
                if loss == .module { access.module.lost(generation) }
            }
            throw error
        }
    }

    private func session(of generation: UInt64) throws(TokenFailure) -> LiveSession {
        if let live, live.generation == generation { return live }
        do throws(TokenCode) {
            let session = LiveSession(calls: try access.session(), settings: access.settings, generation: generation)
            live = session
            return session
        } catch {
            live = nil
            throw .code(error)
        }
    }

    /// Ends the session.
    func close() {
        guard let session = live, let generation = try? access.module.enter() else { return }
        if session.generation == generation { session.calls.close() }
        live = nil
        access.module.leave(hasWorked: false)
    }
}
