// SPDX-License-Identifier: Apache-2.0
import AcquirerSimulator
import Foundation
import TestSupport
import Testing

/// The program on a port of its own, and a switch in Python before it: pyiso8583 4.0.1 (MIT) and pyemv 1.5.0 (MIT).
@Suite(.serialized)
struct ProgramTests {
    private struct Running {
        let process: Process
        let port: Int
        let folder: URL

        var book: String { folder.appending(path: "book").path }
    }

    private static var program: URL {
        let folder =
            ProcessInfo.processInfo.environment["NFC_TAP_BIN"].map { URL(filePath: $0) }
            ?? URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        return folder.appending(path: "nfc-tap-acquirer-sim")
    }

    private func freshFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "acquirer-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    /// Starts it on a free port, and waits until it says that it listens.
    private func start(_ folder: URL, _ arguments: [String] = []) async throws -> Running {
        for _ in 0..<20 {
            let port = Int.random(in: 20_000...39_999)
            let process = Process()
            process.executableURL = Self.program
            process.arguments =
                ["serve", "--listen", "127.0.0.1:\(port)", "--book", folder.appending(path: "book").path] + arguments
            let log = folder.appending(path: "log-\(port)")
            _ = FileManager.default.createFile(atPath: log.path, contents: nil)
            process.standardError = try FileHandle(forWritingTo: log)
            try process.run()
            let isListening = try await eventually("the acquirer") { () -> Bool? in
                let text = try String(contentsOf: log, encoding: .utf8)
                if text.contains("listening") { return true }
                return process.isRunning ? nil : false
            }
            if isListening { return Running(process: process, port: port, folder: folder) }
        }
        throw Hung(description: "no free port")
    }

    private func talk(_ running: Running, _ dialect: String, _ messages: [[String: Any]]) throws -> [[[String: String]]]
    {
        let run = try Peer.run(
            Peer.python,
            [
                Checkout.file("Tests/Sandbox/AcquirerSimulatorTests/peer.py").path,
                Checkout.file("Sources/Service/ISO8583/Packagers").path, dialect, "\(running.port)",
            ], input: JSONSerialization.data(withJSONObject: messages))
        try #require(run.status == 0, "\(run.errors)")
        let answers = try JSONSerialization.jsonObject(with: run.bytes) as? [[[String: String]]]
        return try #require(answers)
    }

    private func run(_ arguments: [String]) throws -> Finished { try Peer.run(Self.program.path, arguments) }

    private func end(_ running: Running) async throws {
        running.process.terminate()
        try await ended(running.process)
        #expect(running.process.terminationStatus == 0)
    }

    // MARK: - Messages

    private func network(_ code: String, trace: Int, is1993: Bool = false) -> [String: Any] {
        let stan = String(format: "%06d", trace)
        return [
            "fields": is1993
                ? ["t": "1804", "7": "1123143005", "11": stan, "12": "261123143005", "24": code]
                : ["t": "0800", "7": "1123143005", "11": stan, "70": code]
        ]
    }

    private func payment(_ type: String, _ amount: Int, trace: Int, _ more: [String: String] = [:]) -> [String: String]
    {
        let stan = String(format: "%06d", trace)
        var fields = [
            "t": type, "2": "4761739001010119", "3": "000000", "4": String(format: "%012d", amount), "11": stan,
            "32": "12345678901", "37": "632714" + stan, "41": "TERM0001", "42": "M-4711         ", "49": "978",
        ]
        if type.hasPrefix("1") { fields["12"] = "261123143005" } else { fields["7"] = "1123143005" }
        fields.merge(more) { $1 }
        return fields
    }

    private func visa(_ atc: String, cvn: Int = 18) -> [String: Any] {
        ["imk": "8CD5CECB32256840A14FDA15BF58FB57", "pan": "4761739001010119", "psn": "01", "atc": atc, "cvn": cvn]
    }

    @Test(arguments: ["1987-bcd", "1987-ascii-binbitmap", "1987-ascii-hexbitmap", "1993-ascii-binbitmap"])
    func `a switch in Python pays at it, byte for byte`(dialect: String) async throws {
        let folder = try freshFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let running = try await start(folder, ["--packager", dialect])
        let is1993 = dialect.hasPrefix("1993")
        let v = is1993 ? "1" : "0"
        let original =
            is1993
            ? ["56": "1200000005" + "261123143005" + "1112345678901", "24": "400"]
            : ["90": "0200000005" + "1123143005" + "12345678901" + "00000000000"]
        var mastercard = payment("\(v)100", 5_000, trace: 4)
        mastercard["2"] = "5413330089010012"
        let sums = [
            "t": "\(v)500", "11": "000020", "50": "978", "74": "0000000000", "75": "0000000000", "76": "0000000002",
            "77": "0000000001", "86": String(repeating: "0", count: 16), "87": String(repeating: "0", count: 16),
            "88": "0000000000005000", "89": "0000000000003000", "97": "D0000000000002000",
            is1993 ? "12" : "7": is1993 ? "261123143005" : "1123143005",
        ]
        let talk = try talk(
            running, dialect,
            [
                ["fields": payment("\(v)100", 1_500, trace: 1)],
                network(is1993 ? "801" : "001", trace: 2, is1993: is1993),
                ["fields": payment("\(v)100", 1_500, trace: 3), "arqc": visa("0001")],
                [
                    "fields": mastercard,
                    "arqc": [
                        "imk": "1F6D839ECDB53EC82334989B31A464B3", "pan": "5413330089010012", "psn": "00",
                        "atc": "0002", "cvn": 20,
                    ] as [String: Any],
                ],
                ["fields": payment("\(v)200", 3_000, trace: 5), "arqc": visa("0102", cvn: 10)],
                ["fields": payment("\(v)201", 3_000, trace: 5)],
                ["fields": payment("\(v)200", 1_251, trace: 6)],
                ["fields": payment("\(v)420", 3_000, trace: 7, original)],
                ["fields": payment("\(v)421", 3_000, trace: 7, original)],
                ["fields": payment("\(v)220", 2_000, trace: 8), "arqc": visa("0103").merging(["cid": "40"]) { $1 }],
                ["fields": payment("\(v)221", 2_000, trace: 8)],
                ["fields": sums],
                network(is1993 ? "831" : "301", trace: 9, is1993: is1993),
                network(is1993 ? "802" : "002", trace: 10, is1993: is1993),
            ])
        let codes = talk.map { $0.first?["39"] ?? $0.first?[""] ?? "-" }
        #expect(
            codes
                == (is1993
                    ? [
                        "907", "000", "000", "000", "000", "000", "116", "400", "400", "000", "000", "500", "000",
                        "000",
                    ]
                    : ["91", "00", "00", "00", "00", "00", "51", "00", "00", "00", "00", "00", "00", "00"]))
        #expect(talk.allSatisfy { $0.allSatisfy { $0["same"] == "True" } })
        for index in 2...4 { #expect(talk[index].first?["arpc"] == "True", "\(index)") }
        if !is1993 { #expect(talk[11].first?["66"] == "1") }
        #expect(
            talk[2].first?["t"] == "\(v)110" && talk[7].first?["t"] == "\(v)430" && talk[8].first?["t"] == "\(v)430")
        try await end(running)
        let printed = try run(["book", running.book])
        #expect(printed.status == 0 && printed.output.split(separator: "\n").count == 5)
        #expect(printed.output.contains(#""reference":"632714000005""#))
        #expect(try !String(contentsOfFile: running.book, encoding: .utf8).contains("4761739001010119"))
    }

    @Test func `it answers late, never, twice, half and with nonsense, as the amount says`() async throws {
        let folder = try freshFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let running = try await start(folder, ["--slow-seconds", "1"])
        let answers = try talk(
            running, "1987-bcd",
            [
                network("001", trace: 1), ["fields": payment("0200", 1_094, trace: 2), "await": 2],
                ["fields": payment("0200", 1_096, trace: 3)], ["fields": payment("0200", 1_097, trace: 4)],
                ["fields": payment("0200", 1_098, trace: 5), "within": 1],
                ["fields": payment("0200", 1_095, trace: 6)],
            ])
        #expect(answers[1].count == 2 && answers[1][0]["39"] == "00" && answers[1][0] == answers[1][1])
        #expect(answers[2].first?[""] == "garbage" && answers[3].first?["39"] == "00")
        #expect(answers[4].first?[""] == "silence" && answers[5].first?[""] == "closed")
        try await end(running)
    }

    @Test func `killed in the middle it goes on with its book`() async throws {
        let folder = try freshFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        var running = try await start(folder)
        _ = try talk(running, "1987-bcd", [network("001", trace: 1), ["fields": payment("0200", 1_500, trace: 2)]])
        kill(running.process.processIdentifier, SIGKILL)
        try await ended(running.process)
        // The line that it was writing.
        let book = try FileHandle(forWritingTo: URL(filePath: running.book))
        try book.seekToEnd()
        try book.write(contentsOf: Data(#"{"at":"2026"#.utf8))
        try book.close()
        running = try await start(folder)
        let original = ["90": "0200000002" + "1123143005" + "12345678901" + "00000000000"]
        let answers = try talk(
            running, "1987-bcd",
            [
                network("001", trace: 1), ["fields": payment("0200", 1_500, trace: 2)],
                ["fields": payment("0420", 1_500, trace: 3, original)],
            ])
        #expect(answers[1].first?["39"] == "00" && answers[2].first?["39"] == "00")
        let printed = try run(["book", running.book])
        #expect(printed.output.contains(#""isReversed":true"#) && printed.output.split(separator: "\n").count == 1)
        let other = try run(["serve", "--listen", "127.0.0.1:1", "--book", running.book])
        #expect(other.status == 1 && other.errors.contains("in use"))
        try await end(running)
    }

    @Test func `addresses that other machines reach, and books that are none, are refused`() throws {
        let open = try run(["serve", "--listen", "0.0.0.0:8583"])
        #expect(open.status == 1 && open.errors.contains("--allow-other-machines"))
        #expect(try run(["serve", "--listen", "example"]).errors.contains("127.0.0.1:8583"))
        #expect(try run(["serve", "--packager", "visa"]).errors.contains("1987-bcd"))
        let folder = try freshFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "notes")
        try Data("hello\n".utf8).write(to: file)
        let notes = try run(["book", file.path])
        #expect(notes.status == 1 && notes.errors.contains("line 1"))
        #expect(try run(["serve", "--listen", "127.0.0.1:1", "--book", file.path]).errors.contains("line 1"))
    }
}

/// Waits until a program has ended, on whatever thread: `waitUntilExit` comes back on the one alone that started it.
private func ended(_ process: Process) async throws {
    try await eventually("the end of a program") { !process.isRunning }
}
