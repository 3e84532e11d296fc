// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import PaymentValues
import TestSupport
import Testing

@testable import Gateway

@Suite("The file of the tills")
struct TillFileTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "tills-\(UUID().uuidString.prefix(8))")
    private var path: URL { folder.appending(path: "tills.json") }
    private var file: TillFile { TillFile(folder: folder.path) }
    private let now = DoorTests.now

    /// A till that was revoked, one whose token is being changed, and one in use.
    private func book() throws -> TillRegistry {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var book = TillRegistry()
        var system = SystemRandomNumberGenerator()
        for name in ["bar-1", "bar-2", "bar-3"] {
            let draft = TillDraft(till: name, roles: [.cashier], lanes: ["main"], types: [.purchase])
            book.pair(draft, TillToken(till: name, using: &system), at: now)
        }
        #expect(book.revoke("bar-1", at: now) == true)
        #expect(book.rotate("bar-2") == true)
        let renewal = TillToken(till: "bar-2", using: &system)
        #expect(book.renew(renewal, at: now) == true)
        return book
    }

    private func isDamaged() throws -> Bool {
        do throws(GatewayError) {
            _ = try file.load()
            return false
        } catch {
            guard case .tills(_, EBADMSG) = error else { throw error }
            return true
        }
    }

    @Test("W6: a till stays revoked: each bit that flips in the file of the tills is found")
    func everyBit() throws {
        let book = try book()
        defer { try? FileManager.default.removeItem(at: folder) }
        try file.save(book)
        #expect(try file.load() == book)
        let bytes = [UInt8](try Data(contentsOf: path))
        #expect((try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])?["tills"] is [Any])
        var unseen: [Int] = []
        for index in bytes.indices {
            var flipped = bytes
            flipped[index] ^= 1 << UInt8(index % 8)
            try Data(flipped).write(to: path)
            if try !isDamaged() { unseen.append(index) }
        }
        #expect(unseen.isEmpty)
        // Cut off anywhere, or longer than it was.
        for length in stride(from: 0, to: bytes.count, by: 7) {
            try Data(bytes.prefix(length)).write(to: path)
            #expect(try isDamaged(), "\(length) bytes")
        }
        try Data(bytes + bytes).write(to: path)
        #expect(try isDamaged())
    }

    @Test("W6: a file of before is read once and has its checksum then; its members are known ones")
    func fileOfBefore() throws {
        let book = try book()
        defer { try? FileManager.default.removeItem(at: folder) }
        let list = String(decoding: try WireJSON.encode(book.all), as: UTF8.self)
        for (member, other) in [
            ("revokedAt", "revokedAu"), ("\"rotating\"", "\"rotatinh\""), ("\"until\"", "\"untim\""),
        ] {
            try Data(list.replacing(member, with: other).utf8).write(to: path)
            #expect(try isDamaged(), "\(other)")
        }
        // One till twice: who of them is revoked?
        try Data(list.replacing("bar-3", with: "bar-1").utf8).write(to: path)
        #expect(try isDamaged())
        try Data(list.utf8).write(to: path)
        #expect(try file.load() == book)
        #expect(try String(contentsOf: path, encoding: .utf8).hasPrefix("{\"sha256\":\""))
        #expect(try file.load() == book)
    }
}
