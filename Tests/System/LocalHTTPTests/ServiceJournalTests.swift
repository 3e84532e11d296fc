// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Linux
import Testing

@testable import LocalHTTP

/// Log entries as systemd's journal takes them, on a socket as the journal has one: held against the protocol's text, as
/// no systemd-journald runs where the tests do.
@Suite struct ServiceJournalTests {
    /// Device and inode of a descriptor, as the service manager puts them into `JOURNAL_STREAM`.
    private func stream(of descriptor: Int32) throws -> String {
        var found = stat()
        try #require(unsafe fstat(descriptor, &found) == 0)
        return "\(found.st_dev):\(found.st_ino)"
    }

    /// Runs `body` with a socket in the place of the journal's and a file in that of standard error.
    private func withJournal(_ body: (_ path: String, _ socket: Int32, _ output: Int32) throws -> Void) async throws {
        try await withFolder { folder in
            let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            defer { _ = close(descriptor) }
            let address = try #require(UnixAddress(path: folder + "/socket"))
            try address.bind(descriptor)
            let output = unsafe open(folder + "/stderr", O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
            defer { _ = close(output) }
            try body(folder + "/socket", descriptor, output)
        }
    }

    private func receive(_ descriptor: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 300_000)
        let count = unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count >= 0 ? Array(buffer.prefix(count)) : nil
    }

    @Test func `An entry is one datagram of fields, and a value with a line break goes by its length`() async throws {
        try await withJournal { path, socket, output in
            let journal = try #require(
                ServiceJournal(stream: try stream(of: output), of: output, path: path))
            #expect(journal.send([("MESSAGE", "a=b"), ("PRIORITY", "6"), ("nfc_tap_lane-1", ""), ("TEXT", "x\nyz")]))
            let expected =
                Array("MESSAGE=a=b\nPRIORITY=6\nNFC_TAP_LANE_1=\nTEXT\n".utf8) + [4, 0, 0, 0, 0, 0, 0, 0]
                + Array("x\nyz\n".utf8)
            #expect(receive(socket) == expected)
        }
    }

    @Test func `A name of the journal's own cannot be made, and a long value is cut`() async throws {
        try await withJournal { path, socket, output in
            let journal = try #require(ServiceJournal(stream: try stream(of: output), of: output, path: path))
            let long = String(repeating: "\n", count: 100_000)
            #expect(journal.send([("__PID", "1"), (String(repeating: "n", count: 100), long)]))
            let cut = ServiceJournal.maximumValueBytes
            let expected =
                Array(("PID=1\n" + String(repeating: "N", count: 64) + "\n").utf8)
                + [UInt8(cut & 0xFF), UInt8(cut >> 8), 0, 0, 0, 0, 0, 0] + Array(repeating: 0x0A, count: cut + 1)
            #expect(receive(socket) == expected)
        }
    }

    @Test func `It is there only where standard error is the stream that the manager has connected`() async throws {
        try await withJournal { path, _, output in
            let stream = try stream(of: output)
            #expect(ServiceJournal(stream: stream, of: output, path: path) != nil)
            for other in [nil, "", "1:2", stream + "0"] {
                #expect(ServiceJournal(stream: other, of: output, path: path) == nil)
            }
            #expect(ServiceJournal(stream: stream, of: -1, path: path) == nil)
            #expect(ServiceJournal(stream: stream, of: STDIN_FILENO, path: path) == nil)
        }
    }

    @Test func `A journal that is not there or takes nothing more is told, not waited for`() async throws {
        try await withJournal { path, socket, output in
            let stream = try stream(of: output)
            let nowhere = try #require(ServiceJournal(stream: stream, of: output, path: path + "-none"))
            #expect(!nowhere.send([("MESSAGE", "m")]))
            let journal = try #require(ServiceJournal(stream: stream, of: output, path: path))
            var taken = 0
            while taken < 100_000, journal.send([("MESSAGE", "m")]) { taken += 1 }
            #expect(taken < 100_000)
            while receive(socket) != nil {}
            #expect(journal.send([("MESSAGE", "again")]))
            #expect(receive(socket) == Array("MESSAGE=again\n".utf8))
        }
    }
}
