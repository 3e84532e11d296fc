// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux
import Logging
import Synchronization
import Testing

@testable import LocalHTTP

/// Where connections come in: without descriptors, and with somebody who connects in a loop.
@Suite(.timeLimit(.minutes(5))) struct AcceptThreadTests {
    /// getrlimit(2), accept(2): EMFILE and ENFILE leave the connection in the queue and the listener readable, so that
    /// whoever asks again at once spins.
    @Test("A6: without descriptors the listener waits longer and longer, says so once, and lets in afterwards")
    func waits() async throws {
        let lines = Seen<String>()
        let asked = Atomic<Int>(0)
        let admitted = Seen<Int32>()
        let codes: [Int32] = [EMFILE, ENFILE, ENOBUFS, ENOMEM]
        let thread = try AcceptThread(
            try listener(), logger: Logger(label: "test") { _ in LineLog(lines: lines) }, most: 1_024
        ) { _ in
            let turn = asked.wrappingAdd(1, ordering: .relaxed).oldValue
            if turn < 4 { return .failure(SystemError(code: codes[turn])) }
            return turn == 4 ? .success(1) : .failure(SystemError(code: EMFILE))
        }
        let begun = MachineClock.awake
        try thread.open(admitting: { admitted.add($0) }, failed: {})
        while admitted.all.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        // 50, 100, 200 and 400 ms: with a retry at once it would be some microseconds.
        #expect(MachineClock.awake - begun >= 750_000_000)
        #expect(admitted.all == [1])
        #expect(lines.all.count == 1, "\(lines.all)")
        #expect(lines.all.first?.contains("LimitNOFILE=") == true)
        await shut(thread)
    }

    @Test("A6: connections leave descriptors to the journal and the readers")
    func leaves() async throws {
        let asked = Atomic<Int>(0)
        let admitted = Seen<Int32>()
        // Numbers are given from the lowest: 96 of 128 are taken. What is closed here is no descriptor of anybody.
        let thread = try AcceptThread(try listener(), logger: Logger(label: "test"), most: 1_000_128) { _ in
            switch asked.wrappingAdd(1, ordering: .relaxed).oldValue {
            case 0: .success(1_000_095)
            case 1: .success(1_000_096)
            case 2: .success(1_000_127)
            case 3: .success(7)
            default: .failure(SystemError(code: EMFILE))
            }
        }
        try thread.open(admitting: { admitted.add($0) }, failed: {})
        while admitted.all.count < 2 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(admitted.all == [1_000_095, 7])
        await shut(thread)
    }

    @Test("A6: a listening socket that is broken ends the server, and one that is shut does not count as broken")
    func ends() async throws {
        let broken = try AcceptThread(try listener(), logger: Logger(label: "test"), most: 1_024) { _ in
            .failure(SystemError(code: EBADF))
        }
        let failed = WakeUp()
        try broken.open(admitting: { _ in }, failed: { failed.call() })
        await failed.wait()
        let asked = Atomic<Int>(0)
        let said = Seen<String>()
        let whole = try AcceptThread(
            try listener(), logger: Logger(label: "test") { _ in LineLog(lines: said) }, most: 1_024
        ) { listener in
            defer { asked.wrappingAdd(1, ordering: .relaxed) }
            return AcceptThread.accept(listener)
        }
        try whole.open(admitting: { _ in }, failed: { Issue.record("not broken: \(said.all)") })
        // A socket that nobody listens on says EINVAL to the first accept(2): a shut that comes before it would hide that.
        while asked.load(ordering: .relaxed) == 0 { try await Task.sleep(for: .milliseconds(1)) }
        await shut(whole)
    }

    /// unix(7): connect(2) of a socket that does not block fails with EAGAIN where the listener's queue is full: what empties
    /// the queue must not do for each connection what serving one takes.
    @Test("A5: who connects in a loop is closed at the door, and the loop that serves makes no channel for it")
    func loop() async throws {
        let made = Atomic<Int>(0)
        var limits = HTTPLimits.patient
        limits.connectionsPerSecond = 5
        try await withFolder { [limits] folder in
            let path = folder + "/s"
            let server = HTTPServer(
                socket: try ListeningSocket(path: path), limits: limits, logger: Logger(label: "test"),
                standing: { _ in
                    made.wrappingAdd(1, ordering: .relaxed)
                    return .administering
                },
                handler: { _ in HTTPResponse(status: 204) })
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await server.run() }
                defer { group.cancelAll() }
                let begun = MachineClock.awake
                let connected = try await blocking {
                    var connected = 0
                    for _ in 0..<20_000 {
                        let number = socket(
                            AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
                        if try unsafe RawSocket.withAddress(of: path, { unsafe connect(number, $0, $1) }) == 0 {
                            connected += 1
                        }
                        _ = close(number)
                    }
                    return connected
                }
                // Four seconds' worth at once, and its pace.
                var status: Int?
                while status != 204 {
                    status = try? await exchange("GET / HTTP/1.1\r\nConnection: close\r\n\r\n", at: path).status
                    if status != 204 { try await Task.sleep(for: .milliseconds(300)) }
                }
                let seconds = Int((MachineClock.awake - begun) / 1_000_000_000)
                let channels = made.load(ordering: .relaxed)
                #expect(channels <= 21 + 5 * (seconds + 1), "\(channels) channels of \(connected) in \(seconds) s")
                #expect(connected > 2_000)
            }
        }
    }

    private func shut(_ thread: AcceptThread) async {
        let closed = WakeUp()
        thread.whenClosed { closed.call() }
        thread.shut()
        await closed.wait()
    }

    /// A listening descriptor that the thread closes.
    private func listener() throws -> Int32 {
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        try #require(number >= 0)
        // unix(7), autobind: a name of the kernel's own. Without a name the socket cannot listen.
        var name = sockaddr(sa_family: sa_family_t(AF_UNIX), sa_data: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        try #require(unsafe bind(number, &name, socklen_t(MemoryLayout<sa_family_t>.size)) == 0)
        try #require(listen(number, 1) == 0)
        return number
    }
}

/// Keeps what is logged.
private struct LineLog: LogHandler {
    let lines: Seen<String>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.add("\(event.message) \(event.metadata.map { "\($0)" } ?? "")") }
}
