// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux
import Logging
import Synchronization
import Testing

@testable import LocalHTTP
@testable import ServiceProgram

/// How a program that serves comes to its end.
@Suite struct ServiceProgramTests {
    private struct Fault: Error, Equatable { let number: Int }

    /// A program whose word to systemd can be read back, by its abstract name.
    private func program(_ manager: String = "") -> ServiceProgram {
        ServiceProgram(
            "test", level: .critical, notification: ServiceNotification { $0 == "NOTIFY_SOCKET" ? manager : nil })
    }

    @Test func `What ends by itself ends the program, with its fault, and nobody is told of a stop`() async throws {
        try await withFolder { folder in
            let name = "@" + folder
            let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            defer { _ = close(descriptor) }
            try #require(UnixAddress(notifySocket: name)).bind(descriptor)
            let never: @Sendable () async -> Void = { try? await Task.sleep(for: .seconds(86_400)) }
            await #expect(throws: Fault(number: 1)) {
                try await program(name).run(until: never) { () async throws(Fault) in throw Fault(number: 1) }
            }
            try await program(name).run(until: never) { () async throws(Fault) in }
            var byte: UInt8 = 0
            #expect(unsafe recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) == -1)
        }
    }

    @Test func `A stop cancels what has no other way to end, and its fault then is none`() async throws {
        try await withFolder { folder in
            let name = "@" + folder
            let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            defer { _ = close(descriptor) }
            try #require(UnixAddress(notifySocket: name)).bind(descriptor)
            let wasCancelled = Mutex(false)
            try await program(name).run(until: {}) { () async throws(Fault) in
                try? await Task.sleep(for: .seconds(86_400))
                wasCancelled.withLock { $0 = Task.isCancelled }
                throw Fault(number: 2)
            }
            #expect(wasCancelled.withLock { $0 })
            var word = [UInt8](repeating: 0, count: 64)
            let count = unsafe recv(descriptor, &word, word.count, Int32(MSG_DONTWAIT))
            #expect(String(decoding: word.prefix(max(0, count)), as: UTF8.self) == "STOPPING=1")
        }
    }

    @Test(arguments: [nil, 3]) func `What can be stopped is stopped, goes on to its end, and ends as it says`(
        number: Int?
    ) async throws {
        let (stopped, stop) = AsyncStream.makeStream(of: Void.self)
        let ended = Mutex(false)
        let run = {
            try await program().run(stop: { stop.finish() }, until: {}) { () async throws(Fault) in
                for await _ in stopped {}
                ended.withLock { $0 = !Task.isCancelled }
                if let number { throw Fault(number: number) }
            }
        }
        if let number {
            await #expect(throws: Fault(number: number)) { try await run() }
        } else {
            try await run()
        }
        #expect(ended.withLock { $0 })
    }
}
