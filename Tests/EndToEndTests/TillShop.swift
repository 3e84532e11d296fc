// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// A shop whose tills speak their own protocols to nfc-tap-ecr: one of each, with a lane of its own and a card on it.
final class TillShop {
    let shop: Shop
    private var bridge: Process?
    private let environment: [String: String]
    var ports: [String: Int]

    private static let lanes = ["caisse-ap", "zvt", "hw-proxy"]
    private var cable: (process: Process, input: Pipe)?

    /// - Parameters:
    ///   - serial: a protocol that one more till speaks on a serial line, and what else its table says. Its lane is `serial`.
    ///   - zvt: what else the table of the ZVT till says.
    ///   - daemon: what the daemon's configuration begins with.
    ///   - timeZone: of the bridge, as TZ has it.
    ///   - bridge: what else is in the bridge's environment.
    init(
        test: Bool = true, serial: (protocol: String, more: String)? = nil, zvt: String = "", daemon: String = "",
        timeZone: String = "UTC", bridge: [String: String] = [:]
    ) throws {
        let names = Self.lanes + (serial == nil ? [] : ["serial"])
        let lanes = names.map { "[[lane]]\nname = \"\($0)\"\nreader = \"virtual:FOLDER/\($0).sock\"\n" }
        shop = try Shop(configuration: daemon + lanes.joined())
        environment = ["TZ": timeZone].merging(bridge) { $1 }
        ports = try Dictionary(uniqueKeysWithValues: Self.lanes.map { ($0, try Self.freePort()) })
        var tills = Self.lanes.map { lane in
            """
            [[till]]
            name = "\(lane)"
            protocol = "\(lane)"
            listen = "127.0.0.1:\(ports[lane] ?? 0)"
            lane = "\(lane)"
            test = \(test)
            language = "de"
            \(lane == "hw-proxy" ? "origins = [\"https://shop.example\"]" : "refund-limit = 5000\nrefund-limit-day = 7000")
            \(lane == "zvt" ? zvt : "")

            """
        }
        if let serial {
            let line = shop.folder.appending(path: "terminal-end").path
            tills.append(
                """
                [[till]]
                name = "serial"
                protocol = "\(serial.protocol)"
                device = "\(line)"
                lane = "serial"
                test = \(test)
                \(serial.more)

                """)
            cable = try Self.cable(line, shop.folder.appending(path: "till-end").path)
        }
        let head = "socket = \"\(shop.posSocket)\"\ndirectory = \"\(shop.folder.path)\"\n"
        try Data((head + tills.joined()).utf8).write(to: shop.folder.appending(path: "ecr.toml"))
        try shop.eventually("ready lanes") {
            let lanes = try shop.get("/v1/status")["lanes"] as? [[String: Any]] ?? []
            return lanes.count == names.count && lanes.allSatisfy { $0["state"] as? String == "ready" }
        }
        for lane in names { try present("visa", on: lane) }
        try startBridge()
    }

    deinit {
        stopBridge(SIGTERM)
        try? cable?.input.fileHandleForWriting.close()
    }

    private static func cable(_ ends: String...) throws -> (Process, Pipe) {
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", file("serial-cable.py")] + ends
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        guard try output.fileHandleForReading.read(upToCount: 6) == Data("ready\n".utf8) else {
            throw Trouble.missing("a serial line")
        }
        return (process, input)
    }

    /// - Returns: a port that nobody listens at just now.
    static func freePort() throws -> Int {
        let result = try Peer.run(
            "/usr/bin/python3",
            ["-c", "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])"])
        guard let port = Int(result.output.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw Trouble.missing("a free port")
        }
        return port
    }

    func startBridge() throws {
        bridge = try Program.bridge.launch(
            ["--config", shop.folder.appending(path: "ecr.toml").path, "--verbose"], in: shop.folder,
            environment: environment)
        for port in ports.values {
            try shop.eventually("a till's port") {
                try Peer.run("/bin/bash", ["-c", "exec 3<>/dev/tcp/127.0.0.1/\(port)"]).status == 0
            }
        }
    }

    /// What the bridge has in memory, in KiB.
    func bridgeMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(bridge?.processIdentifier ?? 0)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line.flatMap { Int($0.split(separator: " ").dropLast().last ?? "") } ?? 0
    }

    func stopBridge(_ signal: Int32) {
        guard let bridge, bridge.isRunning else { return }
        kill(bridge.processIdentifier, signal)
        while bridge.isRunning { usleep(2_000) }
    }

    func present(_ card: String, on lane: String) throws { try reader(lane, "present", card) }

    /// Takes its card from a lane's reader.
    func clear(_ lane: String) throws { try reader(lane, "remove") }

    private func reader(_ lane: String, _ words: String...) throws {
        let control = shop.folder.appending(path: "\(lane).sock").path
        let result = try Program.tap.run(["virtual", "--control", control] + words, in: shop.folder)
        guard result.status == 0 else { throw Trouble.refused(result.errors) }
    }

    // MARK: - Tills

    /// What OCA's module for Odoo makes of its answers: `success`, `failure` or `issue`, and why.
    func caisse(_ amounts: String...) throws -> [[String: Any]] {
        try lines(
            Peer.python, [Self.file("oca-caisse.py"), "127.0.0.1", "\(ports["caisse-ap"] ?? 0)"] + amounts)
    }

    /// What OCA's point of sale shows.
    func proxy(order: String, payment: String, _ amount: String, _ more: String...) throws -> [String: Any] {
        let script = try Peer.run(
            Peer.python,
            [
                "-c",
                "import sysconfig; print(sysconfig.get_paths()['purelib'] + '/odoo/addons/pos_payment_terminal/static/src/app/payment_terminal.esm.js')",
            ])
        let url = "http://127.0.0.1:\(ports["hw-proxy"] ?? 0)"
        let answers = try lines(
            "/usr/bin/env",
            [
                "node", Self.file("oca-terminal.mjs"), script.output.trimmingCharacters(in: .whitespacesAndNewlines),
                url,
                "https://shop.example", order, payment, amount,
            ] + more)
        return answers.first ?? [:]
    }

    /// What a ZVT till makes of each of its commands.
    func zvt(_ words: String, isSerial: Bool = false) throws -> [[String: Any]] {
        let line = isSerial ? serialLine : "127.0.0.1:\(ports["zvt"] ?? 0)"
        return try lines(
            Peer.python, [Self.file("zvt-till.py"), line] + words.split(separator: " ").map(String.init))
    }

    /// Whether pypostelium says that each payment was taken.
    func telium(_ amounts: String...) throws -> [Bool?] {
        try lines(Peer.python, [Self.file("postelium.py"), serialLine] + amounts).map { $0["taken"] as? Bool }
    }

    /// What pyTeliumManager was told of each payment.
    func teliumManager(_ amounts: String...) throws -> [[String: Any]] {
        try lines(Peer.python, [Self.file("telium-manager.py"), serialLine, "60"] + amounts)
    }

    private var serialLine: String { shop.folder.appending(path: "till-end").path }

    /// What the bridge has written to its log.
    var bridgeLog: String {
        get throws { try String(contentsOf: shop.folder.appending(path: "nfc-tap-ecr.err"), encoding: .utf8) }
    }

    private func lines(_ program: String, _ arguments: [String]) throws -> [[String: Any]] {
        let result = try Peer.run(program, arguments)
        guard result.status == 0 else { throw Trouble.refused(result.output + result.errors) }
        return result.output.split(separator: "\n").compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
    }

    static func file(_ name: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Tills/\(name)").path
    }

    // MARK: - Books

    /// What the daemon has of a lane, oldest first.
    func books(_ lane: String) throws -> [Booking] {
        var list: [[String: Any]] = []
        var next: String?
        repeat {
            let page = try shop.get("/v1/transactions?lane=\(lane)&limit=100" + (next.map { "&after=\($0)" } ?? ""))
            list += page["transactions"] as? [[String: Any]] ?? []
            next = page["next"] as? String
        } while next != nil
        return list.reversed().map(Booking.init)
    }

    /// Of each payment that was held: what was booked of it, and what went back.
    func accounts(_ lane: String) throws -> [[Int?]] {
        let list = try shop.get("/v1/transactions?lane=\(lane)")["transactions"] as? [[String: Any]] ?? []
        return list.reversed().map { transaction in
            let account = transaction["account"] as? [String: Any]
            return ["captured", "released", "remaining"].map { account?[$0] as? Int }
        }
    }

    struct Booking: Equatable {
        var state: String
        var amount: Int
        var isConfirmed: Bool

        init(_ transaction: [String: Any]) {
            state = transaction["state"] as? String ?? ""
            amount = (transaction["amount"] as? [String: Any])?["value"] as? Int ?? 0
            isConfirmed = (transaction["confirmation"] as? [String: Any])?["confirmedAt"] != nil
        }

        init(_ state: String, _ amount: Int, isConfirmed: Bool = false) {
            (self.state, self.amount, self.isConfirmed) = (state, amount, isConfirmed)
        }
    }
}
