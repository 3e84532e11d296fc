// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Testing

@testable import Linux

struct UnixConnectionTests {
    @Test("R9: the kernel tells who is at the other end of a connection")
    func kernel() throws {
        let path = "/tmp/unix-connection-\(UInt32.random(in: 0...(.max))).sock"
        let address = try #require(UnixAddress(path: path))
        let listener = try Descriptor.unixStream(isBlocking: true)
        try address.bind(listener.number)
        defer { _ = unsafe unlink(path) }
        #expect(listen(listener.number, 4) == 0)
        let client = try Descriptor.unixStream(isBlocking: true)
        try address.connect(client.number)
        let served = Descriptor(owning: accept(listener.number, nil, nil))
        #expect(served.number >= 0)
        let found = try UnixConnection.all().filter { $0.path == path }
        #expect(found.map { UInt64($0.peer) } == [UInt64(try client.status().inode)])
        // As /proc names it, which is where a program is found by it.
        #expect(FileSystem.link("/proc/self/fd/\(client.number)") == "socket:[\(found.first?.peer ?? 0)]")
    }

    /// nlmsghdr and unix_diag_msg of one socket with a name and a peer, as the kernel has sent it.
    private static func message(_ path: String, peer: UInt32) -> [UInt8] {
        func native(_ number: some FixedWidthInteger) -> [UInt8] {
            unsafe withUnsafeBytes(of: number) { unsafe Array($0) }
        }
        func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
            let bytes = native(UInt16(4 + value.count)) + native(type) + value
            return bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
        }
        let body =
            [1, 1, 1, 0] + native(UInt32(21_588)) + native(UInt64(1))
            + attribute(0, Array(path.utf8)) + attribute(2, native(peer)) + attribute(5, [0])
        return native(UInt32(16 + body.count)) + native(UInt16(20)) + native(UInt16(2)) + native(UInt64(1)) + body
    }

    @Test func `several sockets in one datagram are told apart, and one without a name or a peer is none`() throws {
        let datagram =
            Self.message("/run/a", peer: 7) + Self.message("", peer: 8) + Self.message("/run/abc", peer: 0)
            + Self.message("/run/ab\0", peer: 9)
        let (found, isLast) = try UnixConnection.parse(datagram)
        #expect(found == [UnixConnection(path: "/run/a", peer: 7), UnixConnection(path: "/run/ab", peer: 9)])
        #expect(!isLast)
    }

    @Test func `what is cut off or wrong anywhere never traps`() throws {
        let whole = Self.message("/run/pcscd/pcscd.comm", peer: 0x0102_0304)
        for length in 0...whole.count { _ = try UnixConnection.parse(Array(whole.prefix(length))) }
        for index in whole.indices {
            for value: UInt8 in [0, 1, 0x7F, 0xFF] {
                var wrong = whole
                wrong[index] = value
                _ = try? UnixConnection.parse(wrong)
            }
        }
        #expect(try UnixConnection.parse([]).isLast)
    }
}
