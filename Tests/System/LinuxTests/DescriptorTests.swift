// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Linux
import Testing

@Suite struct DescriptorTests {
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = try FileSystem.makeTemporaryFolder("/tmp/nfc-tap-linux-")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    private func write(_ count: Int, to path: String) throws {
        try Descriptor(opening: path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600).write(
            [UInt8](repeating: 7, count: count))
    }

    @Test func `a file is read whole up to the limit, and not at all beyond it`() throws {
        try withFolder { folder in
            let path = folder + "/file"
            try write(200_000, to: path)
            #expect(try FileSystem.bytes(of: path, atMost: 200_000).count == 200_000)
            #expect(throws: SystemError(code: EFBIG)) { try FileSystem.bytes(of: path, atMost: 199_999) }
            #expect(try FileSystem.beginning(of: path, 16) == [UInt8](repeating: 7, count: 16))
            #expect(try FileSystem.beginning(of: path, 300_000).count == 200_000)
        }
    }

    /// ECMA-48 §5.2 and §5.3: the sets C0 and C1.
    @Test("A10: a text for people takes no command to the terminal along, whoever wrote it")
    func shown() throws {
        try withFolder { folder in
            let path = folder + "/terminal"
            let terminal = try Descriptor(opening: path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            for number in Array(UInt32(0)...0x1F) + [0x7F] + Array(0x80...0x9F) {
                let scalar = try #require(Unicode.Scalar(number))
                try Descriptor.write("a\(Character(scalar))b", to: terminal.number)
            }
            try Descriptor.write("Zoë\t1 €\n", to: terminal.number)
            // Bytes are a program's own.
            try Descriptor.write([0x1B], to: terminal.number)
            let text = String(decoding: try FileSystem.bytes(of: path, atMost: 4_096), as: UTF8.self)
            let controls = text.unicodeScalars.filter { $0.properties.generalCategory == .control }
            #expect(controls.map(\.value).sorted() == [0x09, 0x09, 0x0A, 0x0A, 0x1B])
            #expect(text.count { $0 == "\u{FFFD}" } == 63 && text.hasSuffix("Zoë\t1 €\n\u{1B}"))
        }
    }

    @Test func `a secret is handed on byte by byte, no byte more than the limit`() throws {
        try withFolder { folder in
            let path = folder + "/secret"
            try write(100, to: path)
            var taken: [UInt8] = []
            try Descriptor(opening: path, O_RDONLY).readSecret(atMost: 100) { taken.append($0) }
            #expect(taken == [UInt8](repeating: 7, count: 100))
            taken = []
            #expect(throws: SystemError(code: EFBIG)) {
                try Descriptor(opening: path, O_RDONLY).readSecret(atMost: 99) { taken.append($0) }
            }
            #expect(taken.count == 99)
        }
    }

    /// fifo(7): an open for reading waits for a writer, who may never come.
    @Test("A10: a pipe with a name and a device are no files to read, and what a shell hands over as a path is")
    func pipes() throws {
        try withFolder { folder in
            let path = folder + "/pipe"
            try #require(unsafe mkfifo(path, 0o600) == 0)
            for other in [path, "/dev/zero"] {
                #expect(throws: SystemError(code: ESPIPE), "\(other)") { try FileSystem.bytes(of: other, atMost: 100) }
            }
            // Who has no file gives this one: an empty configuration.
            #expect(try FileSystem.bytes(of: "/dev/null", atMost: 100).isEmpty)
            #expect(throws: SystemError(code: EISDIR)) { try FileSystem.bytes(of: folder, atMost: 100) }
            #expect(try !FileSystem.bytes(of: "/proc/self/maps", atMost: 4 << 20).isEmpty)
            var pair: [Int32] = [-1, -1]
            try #require(unsafe pipe(&pair) == 0)
            defer { for end in pair { _ = close(end) } }
            // It comes later than it is asked for.
            let (reading, writing) = (pair[0], pair[1])
            let late = Thread {
                usleep(50_000)
                _ = unsafe Glibc.write(writing, "later", 5)
            }
            late.start()
            #expect(try Descriptor.reading("/dev/fd/\(reading)").read(atMost: 10) == Array("later".utf8))
        }
    }

    @Test func `what is not there is said by its number`() {
        #expect(throws: SystemError(code: ENOENT)) { try FileSystem.bytes(of: "/nowhere/file", atMost: 1) }
        #expect(throws: SystemError(code: ENOENT)) { try FileStatus(of: "/nowhere/file") }
        #expect(throws: SystemError(code: ENOENT)) { try FileSystem.remove("/nowhere/file") }
        #expect(
            !FileSystem.exists("/nowhere") && FileSystem.entries("/nowhere") == nil && FileSystem.link("/tmp") == nil)
    }

    @Test func `the status of a file tells its kind and who may do what`() throws {
        try withFolder { folder in
            try write(1, to: folder + "/file")
            try FileSystem.setMode(0o640, of: folder + "/file")
            let file = try FileStatus(of: folder + "/file")
            #expect(file.kind == .file && file.mode == 0o640 && file.userID == geteuid())
            #expect(try FileStatus(of: folder).kind == .folder)
            #expect(FileSystem.entries(folder) == ["file"])
            #expect(throws: SystemError(code: EEXIST)) { try FileSystem.makeFolder(folder) }
        }
    }

    @Test func `a socket's address is that of its peer, and longer than the kernel takes is refused`() throws {
        try withFolder { folder in
            let path = folder + "/socket"
            let address = try #require(UnixAddress(path: path))
            let server = try Descriptor.unixStream()
            try address.bind(server.number)
            try #require(listen(server.number, 1) == 0)
            let client = try Descriptor.unixStream(isBlocking: true)
            try address.connect(client.number)
            #expect(UnixAddress.path(ofPeer: client.number) == path)
            #expect(UnixAddress.path(ofPeer: server.number) == nil)
            #expect(try FileStatus(of: path).kind == .socket)
        }
        #expect(UnixAddress(path: String(repeating: "x", count: 107)) != nil)
        #expect(UnixAddress(path: String(repeating: "x", count: 108)) == nil)
        #expect(UnixAddress(path: "") == nil && UnixAddress(path: "a\u{0}b") == nil)
    }
}
