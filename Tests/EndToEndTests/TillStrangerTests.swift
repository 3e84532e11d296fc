// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// Somebody who reaches the tills' network, and wants money, a sale or a stop.
@Suite("Strangers on the tills' network", .timeLimit(.minutes(5)))
struct TillStrangerTests {
    private typealias Booking = TillShop.Booking

    @Test("Floods, half lines, rubbish and frames that are played again cost nobody a sale and no memory")
    func hostile() throws {
        let tills = try TillShop()
        let before = try tills.bridgeMemory()
        let result = try Peer.run(
            "/usr/bin/env",
            [
                "python3", "-c",
                """
                import os, random, socket, struct, sys, time
                dice = random.Random(7)
                lines = [b"CZ0040300CJ012", b"CZ0040300CJ012012345678901CA00201CE003978CD0010CB9991", b"\\x06\\x01\\xff\\xff\\xff",
                         b"\\x80\\x00\\x00" * 50, b"\\x06\\x01\\x07\\x04\\x00\\x00\\x00\\x00\\x12", b"POST /hw_proxy/hello HTTP/1.1\\r\\nHost: x",
                         b"GET / HTTP/1.1\\r\\n\\r\\n" * 40]
                for port in map(int, sys.argv[1:]):
                    left = []
                    for _ in range(150):
                        guest = socket.socket()
                        guest.settimeout(2)
                        try:
                            guest.connect(("127.0.0.1", port))
                            kind = dice.randrange(4)
                            if kind == 0:
                                guest.sendall(dice.choice(lines))
                                left.append(guest)
                                continue
                            guest.sendall(dice.randbytes(dice.randrange(1, 60000)) if kind == 1 else dice.choice(lines))
                            if kind == 2:
                                guest.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        except OSError:
                            pass
                        guest.close()
                    for guest in left:
                        guest.close()
                """,
            ] + tills.ports.values.map(String.init))
        #expect(result.status == 0, "\(result.errors)")
        // What was half said is forgotten after five seconds at most.
        try tills.shop.eventually("a sale by Caisse-AP") {
            try tills.caisse("12.50").first?["payment_status"] as? String == "success"
        }
        try tills.shop.eventually("a sale by ZVT") {
            try tills.zvt("register -- sale 1250").last?["result"] as? Int == 0
        }
        let paid = try tills.proxy(order: "Order 1", payment: "1", "12.5")
        #expect(paid["result"] as? Bool == true, "\(paid)")
        #expect(try tills.bridgeMemory() < before + 16 << 10)
        for lane in ["caisse-ap", "zvt", "hw-proxy"] {
            #expect(try tills.books(lane) == [Booking("approved", 1_250, isConfirmed: true)], "\(lane)")
        }
    }

    @Test(
        "Whoever floods a till's port, says half lines and plays a paid sale again gets nothing, and the other tills sell meanwhile",
        arguments: ["caisse-ap", "zvt", "hw-proxy"])
    func replayed(victim: String) throws {
        let tills = try TillShop()
        func isPaid(_ lane: String, _ number: Int) throws -> Bool {
            switch lane {
            case "caisse-ap": try tills.caisse("12.50").first?["payment_status"] as? String == "success"
            case "zvt": try tills.zvt("register -- sale 1250").last?["result"] as? Int == 0
            default: try tills.proxy(order: "Order \(number)", payment: "\(number)", "12.5")["result"] as? Bool == true
            }
        }
        let port = tills.ports[victim] ?? 0
        let frames = tills.shop.folder.appending(path: "frames").path
        let recorder = try Stranger("record", port, frames)
        let recording: Int = try #require(Int(recorder.word))
        tills.ports[victim] = recording
        #expect(try isPaid(victim, 1))
        recorder.end()
        tills.ports[victim] = port
        #expect(try Data(contentsOf: URL(filePath: frames)).count > 50)
        // Nobody pays there while the stranger is at work.
        try tills.clear(victim)
        let stranger = try Stranger("attack", port, frames)
        for number in 2..<5 {
            for lane in tills.ports.keys.sorted() where lane != victim {
                #expect(try isPaid(lane, number), "\(lane), sale \(number)")
            }
        }
        stranger.end()
        let paid = Booking("approved", 1_250, isConfirmed: true)
        try tills.shop.eventually("ends") {
            let books = try tills.books(victim)
            return books.filter { $0.state == "approved" } == [paid]
                && books.allSatisfy { ["approved", "cancelled", "declined", "failed"].contains($0.state) }
        }
        try tills.present("visa", on: victim)
        try tills.shop.eventually("a sale") { try isPaid(victim, 5) }
        for lane in tills.ports.keys {
            let books = try tills.books(lane).filter { $0.state == "approved" }
            #expect(books == Array(repeating: paid, count: lane == victim ? 2 : 3), "\(lane)")
        }
    }

    @Test("A machine on the network that no table names gets not a byte, and one that is named gets its answer")
    func neighbours() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "lan-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // No daemon: what a till is told then is an answer, too.
        let tables = [(8888, "caisse-ap"), (20007, "zvt"), (8069, "hw-proxy")].map { port, kind in
            """
            [[till]]
            name = "\(kind)"
            protocol = "\(kind)"
            listen = "10.99.0.1:\(port)"
            allow = ["10.99.0.2"]
            lane = "\(kind)"
            test = true

            """
        }
        let head = "socket = \"\(folder.path)/pos.sock\"\ndirectory = \"\(folder.path)\"\n"
        try Data((head + tables.joined()).utf8).write(to: folder.appending(path: "ecr.toml"))
        let script = """
            ip link set lo up
            for host in 1 2 3; do ip address add 10.99.0.$host/24 dev lo; done
            "$0" --config "$1" 2>/dev/null &
            python3 -c '
            import socket, time
            greetings = {
                8888: b"CZ0040300CJ012012345678901CA00201CE003978CD0010CB0041250", 20007: bytes.fromhex("060006000000860978"),
                8069: b"GET /hw_proxy/hello HTTP/1.1\\r\\nHost: 10.99.0.1:8069\\r\\n\\r\\n"}
            for port, greeting in greetings.items():
                for host in ("10.99.0.2", "10.99.0.3", "10.99.0.2"):
                    for _ in range(200):
                        guest = socket.socket()
                        guest.settimeout(20)
                        guest.bind((host, 0))
                        try:
                            guest.connect(("10.99.0.1", port))
                            break
                        except ConnectionRefusedError:
                            time.sleep(0.05)
                    try:
                        guest.sendall(greeting)
                        print(port, host, guest.recv(1024).hex())
                    except OSError:
                        print(port, host, "")
                    guest.close()
            '
            kill %1
            """
        let isRoot = getuid() == 0
        let result = try Peer.run(
            "/usr/bin/unshare",
            (isRoot ? [] : ["--user", "--map-root-user"])
                + ["--net", "bash", "-c", script, Program.bridge.url.path, folder.appending(path: "ecr.toml").path])
        let lines = result.output.split(separator: "\n")
        try #require(lines.count == 9, "\(result.output)\(result.errors)")
        for (index, (port, answer)) in [("8888", "435a"), ("20007", "800000"), ("8069", "485454502f312e3120323030")]
            .enumerated()
        {
            #expect(lines[3 * index].hasPrefix("\(port) 10.99.0.2 \(answer)"))
            #expect(lines[3 * index + 1] == "\(port) 10.99.0.3 ")
            #expect(lines[3 * index + 2].hasPrefix("\(port) 10.99.0.2 \(answer)"))
        }
    }
}

/// A running Tills/hostile-guest.py.
private final class Stranger {
    private let process = Process()
    private let input = Pipe()
    /// The line that it has begun with.
    let word: String

    init(_ what: String, _ port: Int, _ file: String) throws {
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", TillShop.file("hostile-guest.py"), what, "\(port)", file]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) {
            line += byte
        }
        word = String(decoding: line, as: UTF8.self)
    }

    func end() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
