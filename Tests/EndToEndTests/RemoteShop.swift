// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// A shop whose payments are ordered by the backend of docs/examples, over a line that can be cut.
final class RemoteShop {
    let shop: Shop
    private let port: Int
    private var bridge: Process?
    private var door: Process?
    private var interpreters: [Process] = []
    /// Of the bridge and its group: nobody's, with a folder of its own.
    private static let user: UInt32 = 65_534
    private var ledger: URL { shop.folder.appending(path: "remote") }

    init() throws {
        // The lane has no display.
        shop = try Shop(
            configuration: """
                [pos]
                group = "\(Self.user)"
                [remote]
                group = "\(Self.user)"
                lanes = ["kiosk"]
                limits = { EUR = 5000 }
                unseen = true
                [[lane]]
                name = "kiosk"
                reader = "virtual:FOLDER/reader.sock"

                """)
        port = try TillShop.freePort()
        try shop.awaitReader()
        let folder = shop.folder.path
        try FileManager.default.createDirectory(at: ledger, withIntermediateDirectories: false)
        guard unsafe chown(ledger.path, Self.user, Self.user) == 0 else {
            throw Trouble.refused("run the tests as root")
        }
        let keys = try Peer.run(
            Peer.python,
            [
                "-c",
                """
                import json; from joserfc.jwk import ECKey
                key = ECKey.generate_key("P-256", {"kid": "pos-1"}, private=True)
                json.dump(key.as_dict(private=True), open("\(folder)/key.json", "w"))
                json.dump({"keys": [key.as_dict(private=False)]}, open("\(folder)/keys.jwks", "w"))
                """,
            ])
        guard keys.status == 0 else { throw Trouble.refused(keys.errors) }
        try Data("secret\n".utf8).write(to: shop.folder.appending(path: "token"))
        let text = """
            socket = "\(shop.posSocket)"
            directory = "\(ledger.path)"
            status = "\(ledger.path)/status.json"
            [[backend]]
            name = "shop"
            socket = "\(ledger.path)/line.sock"
            authority = "pos.example"
            token = "\(folder)/token"
            [[sender]]
            name = "https://pos.example"
            keys = "\(folder)/keys.jwks"
            lanes = ["kiosk"]
            limits = { EUR = 5000 }
            """
        try Data(text.utf8).write(to: shop.folder.appending(path: "remote.toml"))
        let installation = try shop.get("/v1/status")["support"] as? String ?? ""
        _ = try python(
            [
                Checkout.file("docs/examples/remote-backend.py").path, "\(port)", "\(folder)/key.json", installation,
                "secret",
            ])
        try shop.eventually("the backend") { try self.backend("/orders/none").isEmpty }
        try openLine()
        try startBridge()
    }

    /// Interpreters inherit signals that are blocked here, and hear of no other end.
    deinit { for process in interpreters { kill(process.processIdentifier, SIGKILL) } }

    private func python(_ arguments: [String]) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: Peer.python)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        // A poll whose client has died is no news.
        process.standardError = FileHandle.nullDevice
        try process.run()
        interpreters.append(process)
        shop.keep(process)
        return process
    }

    func openLine() throws {
        let line = ledger.appending(path: "line.sock").path
        try? FileManager.default.removeItem(atPath: line)
        door = try python([TillShop.file("socket-door.py"), line, "\(port)"])
        // The socket is root's, as its door is.
        try shop.eventually("the line") { unsafe chmod(line, 0o666) == 0 }
    }

    func startBridge() throws {
        let bridge = Process()
        bridge.executableURL = URL(filePath: "/usr/bin/setpriv")
        bridge.arguments =
            Shop.becoming(Self.user) + [
                Program.remote.url.path, "--config", shop.folder.appending(path: "remote.toml").path,
            ]
        bridge.standardInput = FileHandle.nullDevice
        let log = shop.folder.appending(path: "nfc-tap-remote.err")
        if !FileManager.default.fileExists(atPath: log.path) { try Data().write(to: log) }
        let end = try FileHandle(forWritingTo: log)
        try end.seekToEnd()
        bridge.standardError = end
        try bridge.run()
        self.bridge = bridge
        shop.keep(bridge)
    }

    func cutLine() { end(door) }
    func killBridge() { end(bridge) }

    /// Foundation notices the end of a process only when those started after it have ended too: the kernel is asked.
    private func end(_ process: Process?) {
        guard let number = process?.processIdentifier else { return }
        kill(number, SIGKILL)
        while let state = try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8), !state.contains(") Z ")
        {
            usleep(2_000)
        }
    }

    /// Asks the backend, as the shop's own software would.
    func backend(_ path: String, post body: String? = nil) throws -> [String: Any] {
        var arguments = ["-sS", "--max-time", "60", "http://127.0.0.1:\(port)\(path)"]
        if let body { arguments += ["--data", body] }
        let answer = try Peer.run("/usr/bin/curl", arguments)
        guard answer.status == 0 else { throw Trouble.refused(answer.errors) }
        return try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any] ?? [:]
    }

    /// - Returns: the order's id.
    func order(_ value: Int, on lane: String = "kiosk") throws -> String {
        let body =
            #"{"lane":"\#(lane)","request":{"type":"purchase","amount":{"value":\#(value),"currency":"EUR"}},"life":120}"#
        return try backend("/orders", post: body)["id"] as? String ?? ""
    }

    func reaches(_ order: String, _ state: String) throws {
        try shop.eventually("\(order) \(state)") { try self.backend("/orders/\(order)")["state"] as? String == state }
    }

    /// What the backend heard of an order, in order.
    func told(_ order: String) throws -> [String] {
        let results = try backend("/orders/\(order)")["results"] as? [[String: Any]] ?? []
        return results.map { ($0["transaction"] as? [String: Any])?["state"] as? String ?? "\($0)" }
    }

    /// What the daemon has under an order's id.
    func found(_ order: String) throws -> [String: Any]? {
        let text = try Peer.run(
            "/usr/bin/setpriv",
            Shop.becoming(Self.user) + [
                "/usr/bin/curl", "-sS", "--max-time", "60", "--unix-socket", shop.posSocket,
                "-H", "NFC-Tap-On-Behalf-Of: remote-shop", "-H", "NFC-Tap-Roles: cashier",
                "http://localhost/v1/transactions?key=\(order)",
            ]
        ).output
        let json = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        return (json?["transactions"] as? [[String: Any]])?.first
    }
}
