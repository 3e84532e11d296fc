// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

/// Programs that listen, with fewer file descriptors than their connections may want: getrlimit(2), accept(2).
@Suite(.serialized, .timeLimit(.minutes(15))) final class FewDescriptorsTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "few-\(UUID().uuidString.prefix(8))")
    private var running: Process?

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit {
        if let running, running.isRunning {
            kill(running.processIdentifier, SIGKILL)
            running.waitUntilExit()
        }
        try? FileManager.default.removeItem(at: folder)
    }

    /// A program that listens, and where.
    struct Server: CustomTestStringConvertible, Sendable {
        let program: Program
        /// File descriptors that it may have.
        let limit: Int
        var testDescription: String { program.rawValue }
    }

    private static let servers = [
        Server(program: .gateway, limit: 64), Server(program: .bridge, limit: 34), Server(program: .sandbox, limit: 64),
    ]

    private func file(_ name: String) -> String { folder.appending(path: name).path }

    private var errors: String {
        let files = [".err"].map { (try? String(contentsOfFile: file("server\($0)"), encoding: .utf8)) ?? "" }
        return files.joined()
    }

    /// Arguments of a program that listens at `port`, or at a socket in the folder.
    private func arguments(_ program: Program, _ port: Int) throws -> [String] {
        switch program {
        case .gateway:
            try Data("socket = \"\(file("pos.sock"))\"\npages = \"\(folder.path)\"\n".utf8)
                .write(to: folder.appending(path: "gateway.toml"))
            return [
                "--config", file("gateway.toml"), "--listen", "127.0.0.1:\(port)", "--state-directory", folder.path,
                "--runtime-directory", folder.path,
            ]
        case .bridge:
            let text = """
                socket = "\(file("pos.sock"))"
                directory = "\(folder.path)"
                [[till]]
                name = "bar"
                protocol = "zvt"
                listen = "127.0.0.1:\(port)"
                lane = "main"
                currency = "EUR"

                """
            try Data(text.utf8).write(to: folder.appending(path: "ecr.toml"))
            return ["--config", file("ecr.toml")]
        case .profile:
            return ["serve", "--socket", file("psp.sock"), "--store", folder.path, "--merchant", "m"]
        case .acquirer: return ["serve", "--listen", "127.0.0.1:\(port)"]
        default: return ["--sandbox", "--socket", file("psp.sock")]
        }
    }

    /// Runs a program with a limit of descriptors that it cannot raise.
    private func start(_ server: Server, _ arguments: [String]) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments =
            ["-c", "ulimit -n \(server.limit); exec \"$0\" \"$@\"", server.program.url.path] + arguments
        _ = FileManager.default.createFile(atPath: file("server.err"), contents: nil)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: folder.appending(path: "server.err"))
        try process.run()
        return process
    }

    /// Hundredths of a second that a process has worked: fields 14 and 15 of proc(5)'s stat.
    private func work(_ process: Process) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)
        let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
        return fields[12...13].reduce(0) { $0 + (Int($1) ?? 0) }
    }

    private func descriptors(_ process: Process) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.processIdentifier)/fd").count
    }

    /// Python that connects, with `place` as its first argument.
    private static let connect = """
        import socket, sys
        def connection(place):
            s = socket.socket(socket.AF_UNIX if '/' in place else socket.AF_INET)
            s.settimeout(3)
            s.connect(place if '/' in place else ('127.0.0.1', int(place)))
            return s

        """

    /// Connects so often, and stays.
    private func crowd(_ place: String, _ count: Int) throws -> (process: Process, end: Pipe) {
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = [
            "-c",
            Self.connect + """
                held = []
                for _ in range(int(sys.argv[2])):
                    try: held.append(connection(sys.argv[1]))
                    except OSError: pass
                print('there', flush=True)
                sys.stdin.read()
                """, place, "\(count)",
        ]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        _ = output.fileHandleForReading.availableData
        return (process, input)
    }

    /// What a till's registration, or a request for a path that is not there, is answered with; empty for nothing.
    private func ask(_ program: Program, _ place: String) throws -> String {
        let words =
            program == .bridge
            ? "060006000000000978"
            : Data("GET /x HTTP/1.1\r\nHost: x\r\n\r\n".utf8).map { byte in
                String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
            }.joined()
        let result = try Peer.run(
            "/usr/bin/python3",
            [
                "-c",
                Self.connect + """
                    try:
                        s = connection(sys.argv[1])
                        s.sendall(bytes.fromhex(sys.argv[2]))
                        print(s.recv(99).hex())
                    except OSError: pass
                    """, place, words,
            ])
        return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func eventually(_ what: String, _ condition: () throws -> Bool) throws {
        for _ in 0..<6_000 {
            if try condition() { return }
            usleep(50_000)
        }
        Issue.record("\(what): \(errors)")
    }

    @Test(
        "A6: with its descriptors used up no program spins, fills the log, takes the last ones, or stays deaf",
        arguments: servers)
    func usedUp(_ server: Server) throws {
        let port = try TillShop.freePort()
        let place = server.program == .sandbox ? file("psp.sock") : "\(port)"
        let process = try start(server, try arguments(server.program, port))
        running = process
        try eventually("an answer") { try !ask(server.program, place).isEmpty }
        // It said at its start that they are too few, with the number and the remedy.
        #expect(errors.firstMatch(of: /need \d+ file descriptors/) != nil, "\(errors)")
        #expect(
            errors.contains("this process may have \(server.limit)") && errors.contains("LimitNOFILE="), "\(errors)")
        let lines = errors.split(separator: "\n").count
        let crowd = try crowd(place, 100)
        // Until those that were let in have come to rest.
        usleep(1_000_000)
        let before = try work(process)
        var most = 0
        for _ in 0..<50 {
            most = max(most, try descriptors(process))
            usleep(100_000)
        }
        let worked = try work(process) - before
        // In five seconds a loop without a pause works for some hundreds, and on a busy machine for fifty at least.
        #expect(worked < 40, "\(worked) hundredths of a second")
        #expect(most <= server.limit - server.limit / 4 + 3, "\(most) descriptors")
        #expect(process.isRunning)
        #expect(errors.split(separator: "\n").count - lines <= 4, "\(errors)")
        try crowd.end.fileHandleForWriting.close()
        crowd.process.waitUntilExit()
        try eventually("an answer afterwards") { try !ask(server.program, place).isEmpty }
    }

    /// Servers for trying things out have no unit that a limit could be written into.
    @Test(
        "A6: the server of profiles and the acquirer's simulator say that their descriptors are too few, and keep some",
        arguments: [Server(program: .profile, limit: 64), Server(program: .acquirer, limit: 64)])
    func helpers(_ server: Server) throws {
        let port = try TillShop.freePort()
        let place = server.program == .profile ? file("psp.sock") : "\(port)"
        let process = try start(server, try arguments(server.program, port))
        running = process
        try eventually("a word about descriptors") {
            errors.firstMatch(of: /need \d+ file descriptors, and this process may have 64: raise ulimit -n/) != nil
        }
        try eventually("a listener") { errors.contains("listening at") }
        let crowd = try crowd(place, 100)
        for _ in 0..<10 {
            #expect(try descriptors(process) <= server.limit - server.limit / 4 + 3)
            usleep(50_000)
        }
        #expect(process.isRunning)
        try crowd.end.fileHandleForWriting.close()
        crowd.process.waitUntilExit()
    }

    @Test(
        "A6: a check refuses more connections than there are descriptors, with the number and the remedy",
        arguments: servers.filter { $0.program != .sandbox })
    func check(_ server: Server) throws {
        let process = try start(server, try arguments(server.program, 20_007) + ["--check"])
        process.waitUntilExit()
        #expect(process.terminationStatus == 1)
        #expect(errors.firstMatch(of: /need \d+ file descriptors, and this process may have \d+/) != nil, "\(errors)")
        #expect(errors.contains("raise LimitNOFILE= of \(server.program.rawValue).service to "), "\(errors)")
        let enough = try start(
            Server(program: server.program, limit: 1_024), try arguments(server.program, 20_007) + ["--check"])
        enough.waitUntilExit()
        #expect(enough.terminationStatus == 0, "\(errors)")
    }

    @Test("D10: a program that cannot have its place or its file names that, says the cause in words, and what to do")
    func places() throws {
        let port = try TillShop.freePort()
        let taken = try crowdServer(port)
        defer { taken.terminate() }
        let missing = file("nowhere/x")
        let runs: [(program: String, arguments: [String], place: String)] = [
            (
                "nfc-tapd",
                ["--state-directory", file("s"), "--runtime-directory", file("r"), "--pos-socket", missing], missing
            ),
            ("nfc-tap-psp-sandbox", ["--sandbox", "--socket", missing], missing),
            ("nfc-tap-psp-sandbox", ["--key", missing, "--socket", file("a.sock")], missing),
            ("nfc-tap-psp-sandbox", ["--sandbox", "--store", missing, "--socket", file("a.sock")], missing),
            ("nfc-tap-gateway", try arguments(.gateway, port), "127.0.0.1:\(port)"),
            ("nfc-tap-ecr", try arguments(.bridge, port), "127.0.0.1:\(port)"),
        ]
        for run in runs {
            let program = Program(rawValue: run.program) ?? .tap
            let end = try program.run(run.arguments, in: folder)
            #expect(end.status != 0, "\(run.program)")
            let line = end.errors.split(separator: "\n").last { $0.contains(run.place) } ?? ""
            #expect(!line.isEmpty, "\(run.program): \(end.errors)")
            #expect(line.firstMatch(of: /error \d|errno|failed with|chown/) == nil, "\(line)")
            #expect(line.split(separator: ": ").count >= 3, "\(line)")
        }
    }

    /// Somebody else's server at a port.
    private func crowdServer(_ port: Int) throws -> Process {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = [
            "-c",
            "import socket, time; s = socket.create_server(('127.0.0.1', \(port))); print('there', flush=True); time.sleep(600)",
        ]
        process.standardOutput = output
        try process.run()
        _ = output.fileHandleForReading.availableData
        return process
    }
}
