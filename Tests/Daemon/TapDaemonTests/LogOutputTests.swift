// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Linux
import Logging
import Testing

@testable import LocalHTTP
@testable import TapDaemon

@Suite("Log messages") struct LogOutputTests {
    /// A file in the place of standard error, and a socket in that of the journal.
    private final class Place {
        let folder: TestFolder
        let output: Int32
        let socket: Int32

        init() throws {
            folder = try TestFolder()
            output = unsafe open(folder.path + "/stderr", O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0o600)
            socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            let address = try #require(UnixAddress(path: folder.path + "/journal"))
            try address.bind(socket)
        }

        deinit {
            _ = close(output)
            _ = close(socket)
        }

        func journal(at name: String) throws -> ServiceJournal? {
            var found = stat()
            try #require(unsafe fstat(output, &found) == 0)
            return ServiceJournal(
                stream: "\(found.st_dev):\(found.st_ino)", of: output, path: folder.path + "/" + name)
        }

        func logger(_ journal: ServiceJournal?) -> Logger {
            Logger(label: "t") { _ in LogOutput(level: .debug, journal: journal, descriptor: output) }
        }

        var written: String {
            get throws { try String(contentsOfFile: folder.path + "/stderr", encoding: .utf8) }
        }

        /// The fields of the next entry, read as the protocol says.
        func entry() throws -> [String: String] {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = unsafe recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            try #require(count > 0)
            var rest = buffer.prefix(count)
            var fields: [String: String] = [:]
            while let end = rest.firstIndex(of: 0x0A) {
                let line = rest[..<end]
                rest = rest[(end + 1)...]
                if let sign = line.firstIndex(of: UInt8(ascii: "=")) {
                    fields[String(decoding: line[..<sign], as: UTF8.self)] = String(
                        decoding: line[(sign + 1)...], as: UTF8.self)
                } else {
                    let length = rest.prefix(8).enumerated().reduce(0) { $0 + Int($1.element) << (8 * $1.offset) }
                    let value = rest.dropFirst(8).prefix(length)
                    fields[String(decoding: line, as: UTF8.self)] = String(decoding: value, as: UTF8.self)
                    rest = rest.dropFirst(8 + length + 1)
                }
            }
            return fields
        }
    }

    @Test("In the journal a message has its priority, the line that a person reads, and each part as a field")
    func fields() throws {
        let place = try Place()
        let logger = place.logger(try place.journal(at: "journal"))
        logger.warning("state changed", metadata: ["lane": "till 1", "transaction": "0197-a", "why": "two\nlines=2"])
        #expect(
            try place.entry() == [
                "MESSAGE": #"level=warning msg="state changed" lane="till 1" transaction=0197-a why="two\nlines=2""#,
                "PRIORITY": "4", "SYSLOG_IDENTIFIER": "nfc-tapd", "NFC_TAP_MESSAGE": "state changed",
                "NFC_TAP_LANE": "till 1", "NFC_TAP_TRANSACTION": "0197-a", "NFC_TAP_WHY": "two\nlines=2",
            ])
        #expect(try place.written.isEmpty)
    }

    @Test(
        "Each level has its priority",
        arguments: [
            (Logger.Level.debug, "7"), (.info, "6"), (.notice, "5"), (.warning, "4"), (.error, "3"), (.critical, "2"),
        ])
    func priority(level: Logger.Level, expected: String) throws {
        let place = try Place()
        place.logger(try place.journal(at: "journal")).log(level: level, "m")
        #expect(try place.entry()["PRIORITY"] == expected)
    }

    @Test("A journal that does not take it gets the line by standard error, with the priority in front")
    func fallback() throws {
        let place = try Place()
        place.logger(try place.journal(at: "none")).error("adapter \"x\" away", metadata: ["n": "1"])
        #expect(try place.written == "<3>level=error msg=\"adapter \\\"x\\\" away\" n=1\n")
    }

    @Test("Without the journal the line has the time in front, and is one line whatever is in it")
    func standardError() throws {
        let place = try Place()
        place.logger(nil).info("a\nb", metadata: ["k": "\u{1B}[0m", "e": ""])
        let written = try place.written
        #expect(
            try #/\d{4}-\d\d-\d\dT[0-9:.]+Z level=info msg="a\\nb" e="" k="\?\[0m"\n/#.wholeMatch(in: written) != nil)
    }
}
