// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Linux
import Logging
import TestSupport
import Testing

@testable import LocalHTTP

@Suite(.timeLimit(.minutes(5))) struct ListeningSocketTests {
    private func status(_ path: String) throws -> stat {
        var status = stat()
        try #require(unsafe lstat(path, &status) == 0)
        return status
    }

    @Test(arguments: [0o660, 0o600, 0o666] as [UInt32])
    func `The file has the mode and group asked for, whatever the umask`(_ mode: UInt32) async throws {
        try await withFolder { folder in
            let socket = try ListeningSocket(path: folder + "/s", mode: mode, group: String(getgid()))
            let status = try status(folder + "/s")
            #expect(status.st_mode & 0o7777 == mode)
            #expect(status.st_mode & S_IFMT == S_IFSOCK)
            #expect(status.st_gid == getgid())
            #expect(socket.path == folder + "/s")
        }
    }

    @Test func `A group that does not exist is refused, and nothing stays behind`() async throws {
        try await withFolder { folder in
            #expect(throws: ListenError.unknownGroup("no such group")) {
                try ListeningSocket(path: folder + "/s", group: "no such group")
            }
            #expect(!FileManager.default.fileExists(atPath: folder + "/s"))
        }
    }

    @Test func `A stale socket is replaced, a living one is respected`() async throws {
        try await withFolder { folder in
            let stale = try ScriptedServer.listen(at: folder + "/s")
            _ = close(stale)
            let first = try ListeningSocket(path: folder + "/s")
            #expect(throws: ListenError.inUse(folder + "/s")) { try ListeningSocket(path: folder + "/s") }
            let client = try RawSocket(folder + "/s")
            client.close()
            #expect(first.take() != nil)
        }
    }

    @Test func `A file that is no socket is left alone`() async throws {
        try await withFolder { folder in
            try Data("keep".utf8).write(to: URL(fileURLWithPath: folder + "/s"))
            #expect(throws: ListenError.notASocket(folder + "/s")) { try ListeningSocket(path: folder + "/s") }
            #expect(try String(contentsOfFile: folder + "/s", encoding: .utf8) == "keep")
        }
    }

    @Test func `A link to somewhere else is not followed`() async throws {
        try await withFolder { folder in
            try FileManager.default.createSymbolicLink(atPath: folder + "/s", withDestinationPath: folder + "/t")
            #expect(throws: ListenError.notASocket(folder + "/s")) { try ListeningSocket(path: folder + "/s") }
        }
    }

    @Test func `Paths that no socket address can hold are refused`() async throws {
        try await withFolder { folder in
            let room = 107 - folder.utf8.count - 1
            _ = try ListeningSocket(path: folder + "/" + String(repeating: "x", count: room))
            for path in [folder + "/" + String(repeating: "x", count: room + 1), "", folder + "/a\0b"] {
                #expect(throws: ListenError.pathNotUsable(path)) { try ListeningSocket(path: path) }
            }
            #expect(throws: ListenError.system(call: .bind, at: folder + "/none/s", errno: ENOENT)) {
                try ListeningSocket(path: folder + "/none/s")
            }
        }
    }

    @Test func `The file goes with its owner, unless it is another's by then`() async throws {
        try await withFolder { folder in
            let path = folder + "/s"
            do { _ = try ListeningSocket(path: path) }
            #expect(!FileManager.default.fileExists(atPath: path))
            let first = try ListeningSocket(path: path)
            try FileManager.default.moveItem(atPath: path, toPath: path + "2")
            let second = try ListeningSocket(path: path)
            first.removeFile()
            #expect(FileManager.default.fileExists(atPath: path))
            second.removeFile()
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func `An inherited socket serves, is closed on exec, and its file is not removed`() async throws {
        try await withFolder { folder in
            let descriptor = try ScriptedServer.listen(at: folder + "/s")
            _ = fcntl(descriptor, F_SETFD, 0)
            let socket = try ListeningSocket(inherited: descriptor)
            #expect(fcntl(descriptor, F_GETFD) == FD_CLOEXEC)
            let server = HTTPServer(socket: socket, logger: .init(label: "test"), handler: echo)
            let running = Task { try await server.run() }
            let answer = try await exchange("GET /in HTTP/1.1\r\nConnection: close\r\n\r\n", at: folder + "/s")
            #expect(answer.contains("[\"in\"]"))
            server.shutDown(grace: .zero)
            try await running.value
            #expect(FileManager.default.fileExists(atPath: folder + "/s"))
        }
    }

    @Test(
        "A10: each code that the server itself answers with is in docs/integrating/gateway.md, with its status and what was wrong"
    )
    func codes() throws {
        let page = try Checkout.text("docs/integrating/gateway.md")
        for refusal in HTTPRefusal.allCases {
            let later = refusal.isRetryable ? "yes" : "no"
            let row = "| \(refusal.status) `http.\(refusal.rawValue)` | \(refusal.message) | \(later) |"
            #expect(page.contains(row), "\(row)")
        }
    }

    @Test func `A TCP address without a port gets a free one, and says which`() throws {
        let wanted = try #require(TCPAddress("127.0.0.1:0", anyPort: true))
        let socket = try ListeningSocket(address: wanted, admitting: { _ in true })
        let address = try #require(socket.address)
        #expect(address.port > 0 && "\(address)" == "127.0.0.1:\(address.port)")
        // It listens there: nobody else can.
        #expect(throws: ListenError.self) { try ListeningSocket(address: address, admitting: { _ in true }) }
        #expect(TCPAddress("127.0.0.1:0") == nil)
    }

    @Test func `A descriptor that does not listen is not taken`() throws {
        var pair: [Int32] = [0, 0]
        try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { for descriptor in pair { _ = close(descriptor) } }
        #expect(throws: ListenError.notListening) { try ListeningSocket(inherited: pair[0]) }
        #expect(throws: ListenError.notListening) { try ListeningSocket(inherited: 9_999) }
        let other = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { _ = close(other) }
        #expect(throws: ListenError.notListening) { try ListeningSocket(inherited: other) }
    }

    @Test func `A pair's credentials are this process's own`() throws {
        var pair: [Int32] = [0, 0]
        try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { for descriptor in pair { _ = close(descriptor) } }
        let peer = try #require(PeerCredentials(socket: pair[0]))
        #expect(peer.processID == getpid())
        #expect(peer.userID == getuid())
        #expect(PeerCredentials(socket: 9_999) == nil)
    }

    /// chown(2): EPERM where the caller is no member of the group; bind(2): EACCES for a port that is root's.
    @Test("D10: a socket that cannot be had is told by its place, the cause in words, and what to do")
    func words() throws {
        let path = "/run/nfc-tap/pos.sock"
        let calls: [ListenError.Call] = [.socket, .fchmod, .bind, .chown, .chmod, .listen, .unlink, .stat, .connect]
        let codes = [EPERM, EACCES, ENOENT, ENOTDIR, EROFS, ENOSPC, EADDRINUSE, EMFILE, ENFILE, ENOMEM, EPROTO]
        var phrases = calls.flatMap { call in
            codes.map { ListenError.system(call: call, at: path, errno: $0).description }
        }
        phrases += [ListenError.pathNotUsable(path), .inUse(path), .notASocket(path)].map(\.description)
        for phrase in phrases {
            #expect(phrase.contains(path) && phrase.contains(": "), "\(phrase)")
            // What the programmer called, and a number alone, say nothing to whoever reads it.
            #expect(phrase.firstMatch(of: /error \d|failed with|chown|chmod|unlink|stat\b/) == nil, "\(phrase)")
            #expect(!phrase.hasSuffix("."))
        }
        let group = ListenError.system(call: .chown, at: path, errno: EPERM).description
        #expect(group.contains("add this program's user to that group"))
        let port = ListenError.system(call: .bind, at: "127.0.0.1:80", errno: EACCES).description
        #expect(port.contains("127.0.0.1:80") && port.contains("above 1023"))
        #expect(ListenError.unknownGroup("tap").description.contains("groupadd"))
        let taken = try ListeningSocket(address: try #require(TCPAddress("127.0.0.1:0", anyPort: true))) { _ in true }
        let address = try #require(taken.address)
        #expect(throws: ListenError.system(call: .bind, at: "\(address)", errno: EADDRINUSE)) {
            try ListeningSocket(address: address) { _ in true }
        }
    }
}
