// SPDX-License-Identifier: Apache-2.0
import Foundation
import Linux
import LocalHTTP
import POSAPI
import PaymentValues
import Synchronization
import TapClient

/// What a sale costs through nfc-tap-gateway, beside the same sale on the daemon's socket: pairs of one after the other, each
/// pair the other way round, so that what else the machine does is in both.
enum GatewayBenchmark {
    static func run(taps: Int) async throws {
        Table.section("One sale through nfc-tap-gateway over TCP (own processes; \(taps) sales each)")
        let programs = try Programs(configuration: "[gateway]\ngroup = \"\(getegid())\"\n", lanes: tillsAtOnce)
        defer { programs.stop() }
        let (port, gateway) = try begin(programs)
        let till = try Till(port: port, code: try pair(programs, 0))
        let socket = try await HTTPClient(path: programs.posSocket).connect()
        var plain: [Double] = []
        var through: [Double] = []
        var ratios: [Double] = []
        for number in -10..<taps {
            var pair = (plain: 0.0, through: 0.0)
            for isThrough in number.isMultiple(of: 2) ? [false, true] : [true, false] {
                try DaemonBenchmark.present(programs.readerSocket)
                if isThrough { pair.through = try till.sell() } else { pair.plain = try await sale(on: socket) }
            }
            guard number >= 0 else { continue }
            plain.append(pair.plain)
            through.append(pair.through)
            ratios.append(pair.through / pair.plain)
        }
        plain.sort()
        through.sort()
        ratios.sort()
        Table.yardstick(
            "the same sale on the socket, from request to answer", p50: plain.percentile(50), p99: plain.percentile(99))
        Table.row(
            "request to answer", p50: through.percentile(50), p99: through.percentile(99), beside: plain.percentile(50))
        Table.row(
            "through the gateway, the median of the pairs", ratio: ratios.percentile(50), target: 1.25)
        Table.row(
            "nfc-tap-gateway, resident memory after \(taps) sales",
            bytes: try FootprintBenchmark.memoryOf(gateway, "VmRSS:"))
        try sellAtOnce(programs, port, gateway, with: till)
    }

    /// Each till on a lane of its own, with a stream of events beside its sales, as a page has it.
    private static func sellAtOnce(_ programs: Programs, _ port: UInt16, _ gateway: pid_t, with first: Till) throws {
        var tills = [first]
        for number in 1..<tillsAtOnce { tills.append(try Till(port: port, code: try pair(programs, number))) }
        let before = try FootprintBenchmark.memoryOf(gateway, "RssAnon:")
        let streams = try tills.map { try $0.listen() }
        let perStream = (try FootprintBenchmark.memoryOf(gateway, "RssAnon:") - before) / Double(tillsAtOnce)
        for lane in 0..<tillsAtOnce {
            try DaemonBenchmark.present(lane == 0 ? programs.readerSocket : programs.readerSocket(lane))
        }
        let failures = Mutex<[String]>([])
        let start = Stopwatch.wallTime()
        let threads = tills.enumerated().map { number, till in
            let thread = Thread {
                for sale in 0..<salesAtOnce {
                    do { try till.sell(number, sale) } catch { failures.withLock { $0.append("\(error)") } }
                }
            }
            thread.start()
            return thread
        }
        while threads.contains(where: { !$0.isFinished }) { usleep(1_000) }
        let time = Double(Stopwatch.wallTime() - start)
        guard failures.withLock({ $0.isEmpty }) else {
            throw BenchmarkError.wrongResult(failures.withLock { $0.joined(separator: "; ") })
        }
        let mean = Table.duration(time / Double(tillsAtOnce * salesAtOnce))
        Table.note(
            "\(tillsAtOnce) tills at once, \(salesAtOnce) sales each: every one approved and its till's own, one in \(mean)"
        )
        Table.row(
            "nfc-tap-gateway, resident memory with \(streams.count) tills and their streams",
            bytes: try FootprintBenchmark.memoryOf(gateway, "VmRSS:"), target: 25_000_000)
        Table.row(
            "  of it not a copy of a file: heap, stacks, relocated data",
            bytes: try FootprintBenchmark.memoryOf(gateway, "RssAnon:"))
        Table.note("of it each stream of events took \(Int(perStream / 1_000)) KB as it was opened")
        // It gives its code back every ten seconds in which it worked.
        sleep(milliseconds: 12_000)
        Table.row(
            "nfc-tap-gateway, resident memory with the same streams, twelve seconds later",
            bytes: try FootprintBenchmark.memoryOf(gateway, "VmRSS:"))
    }

    private static let tillsAtOnce = 50
    private static let salesAtOnce = 4

    private static let body = Array(
        "{\"type\":\"purchase\",\"lane\":\"main\",\"amount\":{\"value\":1200,\"currency\":\"EUR\"}}".utf8)

    private static func sale(on connection: HTTPClientConnection) async throws -> Double {
        let request = HTTPClientRequest(
            .post, "/v1/transactions",
            fields: [
                "Content-Type": "application/json", "Prefer": "wait=30",
                "Idempotency-Key": "bench-\(UInt64.random(in: .min ... .max))",
            ], body: body)
        let start = Stopwatch.wallTime()
        let answer = try await connection.send(request, answerWithin: .seconds(40))
        let time = Double(Stopwatch.wallTime() - start)
        try check(answer.status, answer.body)
        return time
    }

    private static func check(_ status: Int, _ body: [UInt8]) throws {
        guard status == 201, try WireJSON.decode(Transaction.self, from: body).state == .approved else {
            throw BenchmarkError.wrongResult("\(status) \(String(decoding: body, as: UTF8.self))")
        }
    }

    private static func begin(_ programs: Programs) throws -> (UInt16, pid_t) {
        let port = UInt16.random(in: 20_000...60_000)
        let text = "socket = \"\(programs.posSocket)\"\nrequests-per-second = 1000\ncreates-per-second = 1000\n"
        let file = programs.folder.appending(path: "gateway.toml")
        try Data(text.utf8).write(to: file)
        let gateway = try programs.start(
            "nfc-tap-gateway",
            [
                "--config", file.path, "--listen", "127.0.0.1:\(port)", "--state-directory", programs.path,
                "--runtime-directory", programs.path,
            ])
        return (port, gateway)
    }

    /// A code for a till, by the administrator's command.
    private static func pair(_ programs: Programs, _ lane: Int) throws -> String {
        guard let path = Programs.path(of: "nfc-tap-gateway") else {
            throw BenchmarkError.failed("nfc-tap-gateway is not built")
        }
        for _ in 0..<200 {
            let (process, output) = (Process(), Pipe())
            process.executableURL = URL(filePath: path)
            process.arguments = [
                "pair", "--till", "bench-\(lane)", "--lane", programs.laneName(lane), "--runtime-directory",
                programs.path,
            ]
            (process.standardOutput, process.standardError) = (output, FileHandle.nullDevice)
            try process.run()
            let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            process.waitUntilExit()
            if let mark = text.firstRange(of: ": ") { return String(text[mark.upperBound...].prefix(9)) }
            usleep(20_000)
        }
        throw BenchmarkError.failed("nfc-tap-gateway is not ready in time")
    }

    /// A program with a kept connection, as a till has it.
    private final class Till: Sendable {
        private let line: ByteLine
        private let host: String
        private let token: String

        init(port: UInt16, code: String) throws {
            host = "127.0.0.1:\(port)"
            line = try Till.connected(to: host)
            let answer = try Till.ask(
                line, host, "POST /v1/pairings", [], Array("{\"code\":\"\(code)\"}".utf8))
            guard answer.status == 201, let mark = answer.text.firstRange(of: "\"token\":\"") else {
                throw BenchmarkError.wrongResult(answer.text)
            }
            token = String(answer.text[mark.upperBound...].prefix { $0 != "\"" })
        }

        /// A sale, and nanoseconds from request to answer.
        func sell() throws -> Double {
            let start = Stopwatch.wallTime()
            let answer = try post("gate-\(UInt64.random(in: .min ... .max))", GatewayBenchmark.body)
            let time = Double(Stopwatch.wallTime() - start)
            try GatewayBenchmark.check(answer.status, Array(answer.text.utf8))
            return time
        }

        /// A sale with an amount and an order that no other till and no other sale has.
        func sell(_ till: Int, _ sale: Int) throws {
            let (value, order) = ((100 * till + sale + 1) * 100, "B\(till)-\(sale)")
            let amount = "{\"value\":\(value),\"currency\":\"EUR\"}"
            let lane = till == 0 ? "main" : "lane-\(till + 1)"
            let body = "{\"type\":\"purchase\",\"lane\":\"\(lane)\",\"amount\":\(amount),\"order\":\"\(order)\"}"
            let answer = try post(order, Array(body.utf8))
            try GatewayBenchmark.check(answer.status, Array(answer.text.utf8))
            let transaction = try WireJSON.decode(Transaction.self, from: Array(answer.text.utf8))
            guard transaction.till?.text == "bench-\(till)", transaction.amount.value == value else {
                throw BenchmarkError.wrongResult(answer.text)
            }
        }

        /// A stream of events, which stays open as long as its line is kept; nobody reads it.
        func listen() throws -> ByteLine {
            let stream = try Till.connected(to: host)
            let head = "GET /v1/events HTTP/1.1\r\nHost: \(host)\r\nAuthorization: Bearer \(token)\r\n\r\n"
            guard stream.send(Array(head.utf8)), case .bytes(let bytes) = stream.receive(),
                String(decoding: bytes, as: UTF8.self).hasPrefix("HTTP/1.1 200 ")
            else { throw BenchmarkError.failed("no events") }
            return stream
        }

        private func post(_ key: String, _ body: [UInt8]) throws -> (status: Int, text: String) {
            try Till.ask(
                line, host, "POST /v1/transactions",
                ["Authorization: Bearer \(token)", "Prefer: wait=30", "Idempotency-Key: \(key)"], body)
        }

        private static func ask(
            _ line: ByteLine, _ host: String, _ what: String, _ fields: [String], _ body: [UInt8]
        ) throws -> (status: Int, text: String) {
            let head =
                [
                    "\(what) HTTP/1.1", "Host: \(host)", "Content-Type: application/json",
                    "Content-Length: \(body.count)",
                ]
                + fields
            guard line.send(Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body) else {
                throw BenchmarkError.failed("the line was lost")
            }
            var text = ""
            while true {
                if let end = text.firstRange(of: "\r\n\r\n"), let length = Till.length(text[..<end.lowerBound]),
                    text[end.upperBound...].utf8.count >= length
                {
                    let status = Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0
                    return (status, String(text[end.upperBound...]))
                }
                guard case .bytes(let bytes) = line.receive() else { throw BenchmarkError.failed("the line was lost") }
                text += String(decoding: bytes, as: UTF8.self)
            }
        }

        private static func length(_ head: Substring) -> Int? {
            let field = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
            return field.flatMap { Int($0.split(separator: " ").last ?? "") }
        }

        private static func connected(to host: String) throws -> ByteLine {
            for _ in 0..<400 {
                if let address = TCPAddress(host), let line = try? Descriptor.connected(to: address) {
                    return ByteLine(socket: line)
                }
                usleep(10_000)
            }
            throw BenchmarkError.failed("nfc-tap-gateway is not ready in time")
        }
    }
}
