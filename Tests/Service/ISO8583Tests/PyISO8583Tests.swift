// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import TestSupport
import Testing

@testable import ISO8583

/// A codec that nobody here wrote: pyiso8583 (PyPI, MIT), run by python3. It reads the packager files by a program of its own.
@Suite(.timeLimit(.minutes(15)))
struct PyISO8583Tests {
    private struct Exchanged: Codable {
        var hex: String
        var fields: [String: String]
    }

    private struct Request: Codable {
        var packager: String
        var seed: Int
        var count: Int
        var messages: [Exchanged]
    }

    private struct Answer: Codable {
        var packager: String
        var compared: Int
        var complaints: [String]
        var messages: [Exchanged]
    }

    private static let missing: Comment = "python3 with pyiso8583 4.0.1 is missing: scripts/install-peers.sh makes one"

    /// Whether the peer is there, or demanded (`NFC_TAP_REQUIRE_PEERS=1`), so that the test fails without it.
    private static func isToBeAsked() throws -> Bool {
        let isDemanded = ProcessInfo.processInfo.environment["NFC_TAP_REQUIRE_PEERS"] == "1"
        return try isDemanded || Peer.run(Peer.python, ["-c", "import iso8583"]).status == 0
    }

    // MARK: - Random messages

    private static func value(_ rule: FieldRule, _ random: inout SeededGenerator) -> [UInt8] {
        let count: Int
        switch rule.format.length {
        case .fixed(let fixed): count = fixed
        case .variable(_, let most): count = Int.random(in: 0...most, using: &random)
        }
        switch rule.format.content {
        case .binary: return random.bytes(count)
        case .track: return pick("0123456789D", count, &random)
        case .signed: return pick("CD", 1, &random) + pick("0123456789", count - 1, &random)
        case .text(let characters):
            let all = (UInt8(0x20)...0x7E).filter(characters.contains)
            return pick(String(decoding: all, as: UTF8.self), count, &random)
        }
    }

    private static func pick(_ characters: String, _ count: Int, _ random: inout SeededGenerator) -> [UInt8] {
        let units = Array(characters.utf8)
        return (0..<count).map { _ in units[Int.random(in: units.indices, using: &random)] }
    }

    private static func message(_ packager: Packager, _ random: inout SeededGenerator) throws -> ISOMessage {
        let number = UInt16.random(in: 0...999, using: &random) + UInt16(packager.version.rawValue) * 1000
        var message = ISOMessage(try #require(MessageType(number)))
        let numbers = packager.fields.keys.sorted().shuffled(using: &random)
        for number in numbers.prefix(Int.random(in: 1...30, using: &random)) {
            guard let rule = packager.fields[number] else { continue }
            message[number] = value(rule, &random)
        }
        return message
    }

    private static func fields(_ message: ISOMessage, _ packager: Packager) -> [String: String] {
        var fields = ["t": message.type.description]
        for number in message.fields {
            let isBinary = packager.fields[number]?.format.content == .binary
            fields["\(number)"] = isBinary ? Hex.string(message[number] ?? []) : message.text(number)
        }
        return fields
    }

    @Test(.enabled(missing) { try isToBeAsked() })
    func `pyiso8583 packs and reads random messages as we do, and we its own`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "nfc-tap-iso8583-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var random = SeededGenerator(seed: 8_583)
        let encoder = JSONEncoder()
        var lines: [Data] = []
        for builtIn in Packager.BuiltIn.allCases {
            let packager = try Packager(builtIn)
            var messages: [Exchanged] = []
            while messages.count < 500 {
                let message = try Self.message(packager, &random)
                // Only what has more than 8,192 bytes is refused; those that fit are enough.
                guard let bytes = try? packager.build(message) else { continue }
                messages.append(Exchanged(hex: Hex.string(bytes), fields: Self.fields(message, packager)))
            }
            lines.append(
                try encoder.encode(Request(packager: builtIn.rawValue, seed: 1987, count: 500, messages: messages)))
        }
        let (request, answer) = (folder.appending(path: "request"), folder.appending(path: "answer"))
        try Data(lines.joined(separator: Data("\n".utf8))).write(to: request)
        let script = Checkout.file("Tests/Service/ISO8583Tests/pyiso8583-peer.py").path
        let packagers = Checkout.file("Sources/Service/ISO8583/Packagers").path
        let run = try Peer.run(Peer.python, [script, packagers, request.path, answer.path])
        try #require(run.status == 0, "\(run.errors)")
        let answers = try String(contentsOf: answer, encoding: .utf8).split(separator: "\n")
            .map { try JSONDecoder().decode(Answer.self, from: Data($0.utf8)) }
        #expect(answers.map(\.packager) == Packager.BuiltIn.allCases.map(\.rawValue))
        for answer in answers {
            #expect(answer.complaints == [] && answer.compared == 500, "\(answer.packager)")
            let packager = try VectorTests.packager(answer.packager)
            #expect(answer.messages.count == 500)
            for theirs in answer.messages {
                let bytes = try Hex.bytes(theirs.hex)
                // A message beyond 8,192 bytes is theirs alone.
                if bytes.count > Packager.mostBytes { continue }
                let message = try VectorTests.message(theirs.fields, packager)
                #expect(try packager.parse(bytes) == message && packager.build(message) == bytes, "\(theirs.hex)")
            }
        }
    }
}
