// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import Glibc
import ReaderCore
import ReaderVirtual
import Testing

@Suite("The virtual reader's socket", .timeLimit(.minutes(5)))
struct VirtualReaderSocketTests {
    private let path = "/tmp/nfc-tap-virtual-\(UUID().uuidString).sock"

    private func send(_ line: String) throws(VirtualSocketError) -> String {
        try VirtualReaderSocket.send(line, to: path, until: Desk.soon())
    }

    @Test func `A card presented through the socket wakes the reader`() throws {
        let desk = try Desk()
        let socket = try VirtualReaderSocket(path: path, control: desk.control)
        defer { socket.stop() }
        let path = path
        desk.onceWaiting { _ = try? VirtualReaderSocket.send("present one", to: path, until: Desk.soon()) }
        #expect(try desk.activate(within: 60_000) == .card(CountingCard(name: 1).activation))
        #expect(try send("state").hasPrefix("ok attached=yes field=on card=one active=yes"))
        #expect(try send("remove") == "ok")
        #expect(try send("eject").hasPrefix("error unknown command 'eject'"))
    }

    @Test func `The socket is its owner's alone, and gone after the end`() throws {
        let desk = try Desk()
        let socket = try VirtualReaderSocket(path: path, control: desk.control)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        socket.stop()
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(throws: VirtualSocketError.system(call: "connect", at: path, errno: ENOENT)) { try send("state") }
        socket.stop()
    }

    @Test func `A socket that is served is left alone, a stale one is replaced`() throws {
        let desk = try Desk()
        let first = try VirtualReaderSocket(path: path, control: desk.control)
        #expect(throws: VirtualSocketError.inUse(path)) { try VirtualReaderSocket(path: path, control: desk.control) }
        #expect(try send("remove") == "ok")
        first.stop()
        try #require(FileManager.default.createFile(atPath: path, contents: nil))
        #expect(throws: VirtualSocketError.notASocket(path)) {
            try VirtualReaderSocket(path: path, control: desk.control)
        }
        try FileManager.default.removeItem(atPath: path)
        try leaveStaleSocket()
        let second = try VirtualReaderSocket(path: path, control: desk.control)
        #expect(try send("remove") == "ok")
        second.stop()
    }

    @Test func `A path that no socket address holds is refused`() throws {
        let long = "/tmp/" + String(repeating: "x", count: 103)
        let desk = try Desk()
        #expect(throws: VirtualSocketError.pathTooLong(long)) {
            try VirtualReaderSocket(path: long, control: desk.control)
        }
    }

    @Test func `Lines may come in pieces or several at once, and one that never ends is cut off`() throws {
        let desk = try Desk()
        let socket = try VirtualReaderSocket(path: path, control: desk.control)
        defer { socket.stop() }
        // Two commands in one write: the answer to the first is all that `send` waits for.
        #expect(try send("present one\ndelay 5") == "ok")
        #expect(try send(String(repeating: "x", count: 2_000)).hasPrefix("error line of more than 256 bytes"))
        #expect(try send("state").contains("card=one"))
    }

    /// connect(2): EAGAIN, where a Unix socket's queue is full.
    @Test("A5: a command waits for a place in the reader's queue until its deadline, and a full socket is no stale one")
    func full() throws {
        let listening = try bound()
        defer { close(listening) }
        defer { try? FileManager.default.removeItem(atPath: path) }
        try #require(listen(listening, 0) == 0)
        // The first one fills it, and stays in it; the next ones do not come in.
        for _ in 0..<3 {
            #expect(throws: VirtualSocketError.noAnswer) {
                try VirtualReaderSocket.send("state", to: path, until: monotonicNow().advanced(byMilliseconds: 30))
            }
        }
        #expect(throws: VirtualSocketError.inUse(path)) {
            try VirtualReaderSocket(path: path, control: try Desk().control)
        }
        // Once the server takes it out, whoever waits is answered.
        Thread.detachNewThread {
            usleep(50_000)
            for _ in 0..<2 {
                let number = accept(listening, nil, nil)
                _ = unsafe Glibc.send(number, "ok\n", 3, Int32(MSG_NOSIGNAL))
                _ = close(number)
            }
        }
        #expect(try send("state") == "ok")
    }

    /// Binds a socket to the path and closes it without removing the file.
    private func leaveStaleSocket() throws { close(try bound()) }

    /// A socket that has the path, and does not listen yet.
    private func bound() throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let result = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0)
        return descriptor
    }
}
