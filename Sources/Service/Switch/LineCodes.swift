// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ISO8583
import Linux
import LocalHTTP
import Logging
import Synchronization

/// Makes the codes of fields 64 and 128, with keys that stay where they are.
public protocol MessageAuthenticator: Sendable {
    /// The code of a message.
    ///
    /// - Parameter wrapped: the key that the host handed over; `nil` for the one of the settings.
    /// - Returns: eight bytes or more.
    /// - Throws: why the key cannot be used.
    func code(of message: [UInt8], wrapped: [UInt8]?) async throws(OpeningRefusal) -> [UInt8]
}

/// The key of messages on one line, and the one before it, by which the host's answers may still be made.
struct LineKeys: Sendable {
    private(set) var wrapped: [UInt8]?
    private var last: (key: [UInt8], until: UInt64)?
    /// Keys that were tried and are not used yet, by the message that brought them.
    private var tried: [(message: ISOMessage, key: [UInt8])] = []

    private static let mostTried = 4

    /// A key that can be used: by the host at once, here when its answer was sent.
    mutating func hold(_ key: [UInt8], of message: ISOMessage) {
        tried.append((message, key))
        if tried.count > Self.mostTried { tried.removeFirst() }
    }

    /// - Parameter until: milliseconds of a clock, to which messages by the key before count.
    mutating func use(_ message: ISOMessage, lastUntil until: UInt64) {
        guard let index = tried.firstIndex(where: { $0.message == message }) else { return }
        last = wrapped.map { ($0, until) }
        wrapped = tried.remove(at: index).key
    }

    /// By which a message that has come may be made.
    func accepted(at now: UInt64) -> [[UInt8]?] {
        var keys = [wrapped] + tried.map { $0.key }
        if let last, now < last.until { keys.append(last.key) }
        var seen: [[UInt8]?] = []
        for key in keys where !seen.contains(key) { seen.append(key) }
        return seen
    }
}

/// The codes of messages on the line to the acquirer. They are made side by side; what goes out, and what has come, stays in its order.
final class LineCodes: Sendable {
    private struct State {
        /// Counts the lines that were made.
        var number: UInt64 = 0
        var keys = LineKeys()
        /// What goes out last, and what has come last, while their codes are made.
        var sending: Task<Void, Never>?
        var receiving: Task<Void, Never>?
        /// What tries the key that came last.
        var taking: Task<Void, Never>?
    }

    private let packager: Packager
    private let macs: any MessageAuthenticator
    private let logger: Logger
    private let measures: SwitchMeasures
    private let pace = LogPace()
    private let state = Mutex(State())

    init(_ packager: Packager, _ macs: any MessageAuthenticator, _ logger: Logger, _ measures: SwitchMeasures) {
        (self.packager, self.macs, self.logger, self.measures) = (packager, macs, logger, measures)
    }

    /// A line begins or has ended: it has a key of its own.
    func begin() {
        state.withLock { state in
            state.number += 1
            state.keys = LineKeys()
        }
    }

    // MARK: - What goes out

    /// - Parameter line: of the moment; where it has ended meanwhile, nothing is sent.
    func send(_ message: ISOMessage, over line: @escaping @Sendable ([UInt8]) -> Void) {
        state.withLock { state in
            let (key, before) = (state.keys.wrapped, state.sending)
            let work = Task(executorPreference: SocketThread.shared) { await self.packed(message, key) }
            state.sending = Task(executorPreference: SocketThread.shared) {
                let bytes = await work.value
                await before?.value
                if let bytes { line(bytes) }
            }
        }
    }

    private func packed(_ message: ISOMessage, _ key: [UInt8]?) async -> [UInt8]? {
        do {
            guard packager.hasCode(message.type) else { return try packager.build(message) }
            let code = try await macs.code(of: try packager.uncoded(message).bytes, wrapped: key)
            return try packager.build(message, code: code)
        } catch {
            measures.count(.keysUnavailable)
            pace.log(
                logger, .error, "a message has no code and is not sent: look at the token", kind: "no code",
                ["type": "\(message.type)", "reason": "\(error)"])
            return nil
        }
    }

    // MARK: - What has come

    /// - Parameter deliver: told what has come, in its order.
    func receive(_ bytes: [UInt8], _ message: ISOMessage, _ deliver: @escaping @Sendable (LinkInput) async -> Void) {
        state.withLock { state in
            let (number, keys, before) = (state.number, state.keys, state.receiving)
            let work = Task(executorPreference: SocketThread.shared) { await self.isAuthentic(bytes, message, keys) }
            state.receiving = Task(executorPreference: SocketThread.shared) {
                let isAuthentic = await work.value
                await before?.value
                // What the session says is of its line; an answer to a payment is one, whichever line it came over.
                guard self.packager.hasCode(message.type) || self.isLine(number) else { return }
                await deliver(isAuthentic ? .received(message) : .unauthenticated(message))
            }
        }
    }

    private func isLine(_ number: UInt64) -> Bool { state.withLock { $0.number == number } }

    private func isAuthentic(_ bytes: [UInt8], _ message: ISOMessage, _ keys: LineKeys) async -> Bool {
        guard packager.hasCode(message.type) else { return true }
        guard let (covered, code) = packager.coded(bytes, message) else { return false }
        for key in keys.accepted(at: MachineClock.all / 1_000_000) {
            do throws(OpeningRefusal) {
                let own = try await macs.code(of: covered, wrapped: key).prefix(MACRules.count)
                if own.count == code.count, zip(own, code).reduce(0, { $0 | $1.0 ^ $1.1 }) == 0 { return true }
            } catch {
                // What cannot be verified is no approval.
                measures.count(.keysUnavailable)
                pace.log(
                    logger, .error, "a code cannot be verified, and its message does not count: look at the token",
                    kind: "not verified", ["type": "\(message.type)", "reason": "\(error)"])
            }
        }
        return false
    }

    // MARK: - Keys

    /// Tries the key that the host has handed over: whether it is whole, and the one that the host means. What is sent is coded by it after ``use(_:lastFor:)``.
    ///
    /// - Parameter end: told whether it can be used.
    func take(_ message: ISOMessage, _ end: @escaping @Sendable (LinkInput) async -> Void) {
        state.withLock { state in
            let (number, before) = (state.number, state.taking)
            state.taking = Task(executorPreference: SocketThread.shared) {
                await before?.value
                let key = await self.handed(message)
                let isLine = self.state.withLock { state in
                    guard state.number == number else { return false }
                    if let key { state.keys.hold(key, of: message) }
                    return true
                }
                guard isLine else { return }
                if key != nil { self.logger.notice("the acquirer has handed over a key for messages") }
                await end(.keyTaken(message, key != nil))
            }
        }
    }

    /// What is sent from here on is coded by the key that this message brought.
    ///
    /// - Parameter lastFor: milliseconds for which answers by the key before still count.
    func use(_ message: ISOMessage, lastFor: UInt64) {
        state.withLock { $0.keys.use(message, lastUntil: MachineClock.all / 1_000_000 + lastFor) }
    }

    private func handed(_ message: ISOMessage) async -> [UInt8]? {
        guard let mac = packager.mac, let field = mac.exchange, let text = message[field],
            let handed = HandedKey(text, mac.algorithm)
        else { return nil }
        let zeros = [UInt8](repeating: 0, count: mac.algorithm.blockCount)
        do throws(OpeningRefusal) {
            for trial in handed.trials {
                guard try await macs.code(of: zeros, wrapped: trial.wrapped).starts(with: trial.check) else {
                    return nil
                }
            }
            return handed.wrapped
        } catch {
            pace.log(logger, .error, "a key of the acquirer cannot be taken", kind: "key", ["reason": "\(error)"])
            return nil
        }
    }
}
