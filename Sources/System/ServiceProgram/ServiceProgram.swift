// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import Glibc
import Linux
package import LocalHTTP
package import Logging
import UnixSignals

/// A program that serves until it is stopped: what it says, its log, and how it begins and ends.
package struct ServiceProgram: Sendable {
    package let name: String
    package let logger: Logger
    /// The line to systemd.
    package let notification: ServiceNotification

    /// Logs what happens.
    package init(_ name: String) { self.init(name, level: .info) }

    /// Logs what somebody has to know, and details for developers where `isVerbose`.
    package init(_ name: String, isVerbose: Bool) { self.init(name, level: isVerbose ? .debug : .notice) }

    init(_ name: String, level: Logger.Level, notification: ServiceNotification = ServiceNotification()) {
        self.name = name
        self.notification = notification
        logger = Logger(label: name) { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
    }

    /// Writes one line to standard error, behind the program's name.
    package func say(_ text: String) { try? Descriptor.write("\(name): \(text)\n", to: STDERR_FILENO) }

    /// Says what is wrong.
    ///
    /// - Returns: what the program then throws, to end with 1.
    package func end(_ text: String) -> ExitCode {
        say(text)
        return ExitCode(1)
    }

    /// Keeps this process' memory out of core dumps: for programs that see no card, yet tokens, ids or member numbers.
    package func forbidDumps() {
        if !ProcessHardening.forbidDumps() { logger.warning("core dumps could not be forbidden") }
    }

    /// Serves until `body` ends, or until SIGTERM or SIGINT, which cancel it.
    ///
    /// - Parameters:
    ///   - begin: called once a signal is heeded, before systemd is told that the program is ready; `nil` where `body` tells it.
    /// - Throws: what `body` ended with.
    package func serve<Fault: Error>(
        beginning begin: (() -> Void)?, _ body: @escaping @Sendable () async throws(Fault) -> Void
    ) async throws(Fault) {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        if let begin {
            begin()
            notification.send(.ready)
        }
        try await run(until: { for await _ in signals { break } }) { () async throws(Fault) in
            async let _: Void = ProcessHardening.stayWithoutUsedCode()
            try await body()
        }
    }

    /// Serves until `body` ends; SIGTERM and SIGINT call `stop`, which makes it end.
    ///
    /// - Parameter begin: called once a signal is heeded, before systemd is told that the program is ready.
    /// - Throws: what `body` ended with.
    package func serve<Fault: Error>(
        beginning begin: () -> Void, stop: @escaping @Sendable () -> Void,
        _ body: @escaping @Sendable () async throws(Fault) -> Void
    ) async throws(Fault) {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        begin()
        notification.send(.ready)
        try await run(stop: stop, until: { for await _ in signals { break } }, body)
    }

    /// Runs `body` until it ends. Once `isTold` returns systemd hears that the program stops, and `stop` is called; without
    /// one `body` is cancelled.
    func run<Fault: Error>(
        stop: (@Sendable () -> Void)? = nil, until isTold: @escaping @Sendable () async -> Void,
        _ body: @escaping @Sendable () async throws(Fault) -> Void
    ) async throws(Fault) {
        let outcome = await withTaskGroup(of: Result<Void, Fault>?.self) { group in
            group.addTask {
                do throws(Fault) { return .success(try await body()) } catch { return .failure(error) }
            }
            group.addTask {
                await isTold()
                return nil
            }
            defer { group.cancelAll() }
            if let outcome = await group.next() ?? nil { return outcome }
            notification.send(.stopping)
            guard let stop else { return .success(()) }
            stop()
            return (await group.next() ?? nil) ?? .success(())
        }
        try outcome.get()
    }
}
