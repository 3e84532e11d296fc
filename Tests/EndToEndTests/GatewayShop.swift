// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// A shop with a gateway before its daemon, and tills that reach it by TCP.
final class GatewayShop {
    let shop: Shop
    private(set) var port = 0
    private var gateway: Process?
    private let configuration: URL
    static let origin = "https://pos.example"

    struct Answer {
        var status: Int
        /// Names in lower case.
        var fields: [String: String]
        var text: String

        var json: [String: Any] { (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:] }
        var code: String? { (json["error"] as? [String: Any])?["code"] as? String }
        var id: String? { json["id"] as? String }
        var state: String? { json["state"] as? String }
    }

    /// - Parameters:
    ///   - lanes: names beside `main`; each has a reader of its own.
    ///   - pace: requests and sales of a till in a second.
    init(lanes: [String] = [], pace: Int = 1_000, sandbox: [String] = []) throws {
        let tables = (["main"] + lanes).map { "[[lane]]\nname = \"\($0)\"\nreader = \"virtual:FOLDER/\($0).sock\"\n" }
        // One user runs the whole system here: its own group stands for the gateway's.
        shop = try Shop(
            sandboxArguments: sandbox, configuration: "[gateway]\ngroup = \"\(getegid())\"\n" + tables.joined())
        configuration = shop.folder.appending(path: "gateway.toml")
        let folder = shop.folder.path
        let text = """
            socket = "\(shop.posSocket)"
            pages = "\(folder)/pages"
            origins = ["\(Self.origin)"]
            requests-per-second = \(pace)
            creates-per-second = \(pace)

            """
        try Data(text.utf8).write(to: configuration)
        let pages = shop.folder.appending(path: "pages/messages")
        try FileManager.default.createDirectory(at: pages, withIntermediateDirectories: true)
        for page in ["till", "display"] {
            try Data("<!doctype html><title>\(page)</title>".utf8)
                .write(to: shop.folder.appending(path: "pages/\(page).html"))
        }
        try Data("{}".utf8).write(to: pages.appending(path: "en.json"))
        port = try TillShop.freePort()
        try shop.eventually("ready lanes") {
            let lanes = try shop.get("/v1/status")["lanes"] as? [[String: Any]] ?? []
            return lanes.count == tables.count && lanes.allSatisfy { $0["state"] as? String == "ready" }
        }
        try start()
    }

    deinit { stop(SIGTERM) }

    func start() throws {
        gateway = try Program.gateway.launch(
            [
                "--config", configuration.path, "--listen", "127.0.0.1:\(port)", "--state-directory", shop.folder.path,
                "--runtime-directory", shop.folder.path, "--verbose",
            ], in: shop.folder)
        // Events are there once the daemon was reached.
        try shop.eventually("the gateway's port") { try self.call("GET", "/till/").status != 0 }
    }

    func stop(_ signal: Int32) {
        guard let gateway, gateway.isRunning else { return }
        kill(gateway.processIdentifier, signal)
        while gateway.isRunning { usleep(2_000) }
    }

    func present(_ card: String, on lane: String = "main") throws { try reader(lane, "present", card) }

    func reader(_ lane: String, _ words: String...) throws {
        let control = shop.folder.appending(path: "\(lane).sock").path
        let result = try Program.tap.run(["virtual", "--control", control] + words, in: shop.folder)
        guard result.status == 0 else { throw Trouble.refused(result.errors) }
    }

    // MARK: - The administrator

    func command(_ words: String...) throws -> Finished {
        try Program.gateway.run(words + ["--runtime-directory", shop.folder.path], in: shop.folder)
    }

    func code(_ till: String, _ options: [String]) throws -> String {
        let result = try Program.gateway.run(
            ["pair", "--till", till, "--runtime-directory", shop.folder.path] + options, in: shop.folder)
        guard let line = result.output.split(separator: "\n").first, let mark = line.range(of: ": ") else {
            throw Trouble.refused(result.errors)
        }
        return String(line[mark.upperBound...].prefix(9))
    }

    /// - Returns: the token of a new till: a cashier's, if nothing else is said.
    func pair(
        _ till: String, _ options: [String] = ["--lane", "main", "--role", "cashier", "--origin", origin]
    ) throws -> String {
        let answer = try redeem(try code(till, options))
        guard let token = answer.json["token"] as? String else { throw Trouble.refused(answer.text) }
        return token
    }

    func redeem(_ code: String) throws -> Answer {
        try call("POST", "/v1/pairings", body: "{\"code\":\"\(code)\"}")
    }

    // MARK: - Tills

    func call(
        _ method: String, _ path: String, token: String? = nil, key: String? = nil, body: String? = nil,
        _ more: [String] = []
    ) throws -> Answer {
        var arguments = ["-sS", "--path-as-is", "--max-time", "90", "-i", "-X", method]
        if let token { arguments += ["-H", "Authorization: Bearer \(token)"] }
        if let key { arguments += ["-H", "Idempotency-Key: \(key)"] }
        if let body { arguments += ["-d", body] }
        // The last one counts.
        if body != nil, !more.contains(where: { $0.hasPrefix("Content-Type") }) {
            arguments += ["-H", "Content-Type: application/json"]
        }
        let result = try Peer.run("/usr/bin/curl", arguments + more + ["http://127.0.0.1:\(port)\(path)"])
        let text = result.output.replacing("\r\n", with: "\n")
        guard result.status == 0, let end = text.range(of: "\n\n") else { throw Trouble.refused(result.errors) }
        let lines = text[..<end.lowerBound].split(separator: "\n")
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            fields[parts[0].lowercased()] = parts.last.map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return Answer(status: status, fields: fields, text: String(text[end.upperBound...]))
    }

    static func sale(_ value: Int, order: String, lane: String? = nil) -> String {
        let lane = lane.map { ",\"lane\":\"\($0)\"" } ?? ""
        return
            "{\"type\":\"purchase\",\"amount\":{\"value\":\(value),\"currency\":\"EUR\"},\"order\":\"\(order)\"\(lane)}"
    }

    /// A sale up to its end.
    func sell(_ token: String, _ value: Int, order: String, key: String, lane: String? = nil) throws -> Answer {
        try call(
            "POST", "/v1/transactions", token: token, key: key, body: Self.sale(value, order: order, lane: lane),
            ["-H", "Prefer: wait=60"])
    }

    /// A stream that is left open, until its process ends. What comes is in the file.
    func stream(_ path: String, _ token: String) throws -> (process: Process, file: URL) {
        let file = shop.folder.appending(path: "stream-\(UUID().uuidString.prefix(8))")
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/curl")
        process.arguments = [
            "-sSN", "-H", "Authorization: Bearer \(token)", "-o", file.path, "http://127.0.0.1:\(port)\(path)",
        ]
        try process.run()
        shop.keep(process)
        return (process, file)
    }

    func text(_ file: URL) -> String { (try? String(contentsOf: file, encoding: .utf8)) ?? "" }

    /// Lines of the daemon's audit chain.
    func audit() throws -> String {
        let result = try Program.tap.run(
            ["audit", "export", "--file", shop.folder.appending(path: "state/journal.sqlite").path], in: shop.folder)
        return result.output + result.errors
    }
}
