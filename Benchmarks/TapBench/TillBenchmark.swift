// SPDX-License-Identifier: Apache-2.0
import Foundation
import Linux
import POSAPI
import PaymentValues
import TapClient

/// What a sale costs by ZVT through nfc-tap-ecr, beside the same sale on the daemon's socket: one of each in turn.
enum TillBenchmark {
    static func run(taps: Int) async throws {
        Table.section("One sale by ZVT over TCP through nfc-tap-ecr (own processes; \(taps) sales each)")
        let programs = try Programs()
        defer { programs.stop() }
        let address = try freeAddress()
        _ = try start(programs, [table("zvt", "listen = \"\(address)\"", programs.laneName(0))])
        let client = try await TapClient.connect(to: programs.posSocket)
        let till = try BenchTill.zvt(address)
        var plain: [Double] = []
        var bridged: [Double] = []
        for number in -10..<taps {
            let first = try await sale(client, programs.readerSocket)
            try DaemonBenchmark.present(programs.readerSocket)
            let start = Stopwatch.wallTime()
            try till(number)
            let second = Double(Stopwatch.wallTime() - start)
            guard number >= 0 else { continue }
            plain.append(first)
            bridged.append(second)
        }
        plain.sort()
        bridged.sort()
        Table.yardstick(
            "the same sale on the socket, from request to confirmation", p50: plain.percentile(50),
            p99: plain.percentile(99))
        Table.row(
            "command to completion", p50: bridged.percentile(50), p99: bridged.percentile(99),
            beside: plain.percentile(50))
        Table.row("median by ZVT", ratio: bridged.percentile(50) / plain.percentile(50), target: 1.25)
        try await memory(taps: taps)
    }

    /// While nothing happens and after so many sales within seconds: of a bridge with one till, by each protocol, and of one with
    /// a till of each, which has sold so often by all of them.
    private static func memory(taps: Int) async throws {
        Table.section("Memory of nfc-tap-ecr (release, own processes; \(taps) sales by each protocol)")
        let programs = try Programs(lanes: 4)
        defer { programs.stop() }
        let client = try await TapClient.connect(to: programs.posSocket)
        while try await !client.status().ready { usleep(1_000) }
        for kind in kinds { try memory(programs, [kind], taps, kind) }
        try memory(programs, kinds, taps, "all four")
        try memory(programs, kinds, taps, "all four, with 10,000 payments each before", kept: 10_000)
    }

    private static let kinds = ["zvt", "caisse-ap", "hw-proxy", "caisse-e-plus"]

    private static func memory(
        _ programs: Programs, _ tills: [String], _ taps: Int, _ name: String, kept: Int? = nil
    ) throws {
        let line = try SerialEnd()
        let addresses = try tills.map { _ in try freeAddress() }
        let tables = tills.enumerated().map { lane, kind in
            let place = kind == "caisse-e-plus" ? "device = \"\(line.device)\"" : "listen = \"\(addresses[lane])\""
            return table(kind, place, programs.laneName(lane))
        }
        if let kept {
            for (lane, kind) in tills.enumerated() {
                try BenchLedger.write(
                    "\(programs.path)/\(kind).ledger", kind: kind, lane: programs.laneName(lane), payments: kept)
            }
            // Once to bring the ledgers into the form of now.
            try open(programs, tables, addresses[0], "ledgers of before are opened")
        }
        let bridge =
            kept == nil
            ? try start(programs, tables)
            : try open(programs, tables, addresses[0], "ledgers of now are opened", ends: false)
        defer { end(bridge) }
        let sells = try zip(tills, addresses).map { kind, address in
            switch kind {
            case "zvt": try BenchTill.zvt(address)
            case "caisse-ap": BenchTill.caisse(address)
            case "hw-proxy": BenchTill.proxy(address)
            default: BenchTill.ePlus(line)
            }
        }
        usleep(rest)
        try show("\(name), at rest", bridge)
        for (lane, sell) in sells.enumerated() {
            for number in 0..<taps {
                try DaemonBenchmark.present(programs.readerSocket(lane))
                try sell(number)
            }
        }
        try show("\(name), after the sales", bridge)
    }

    private static func end(_ bridge: pid_t) {
        kill(bridge, SIGTERM)
        usleep(rest / 5)
    }

    @discardableResult
    private static func open(
        _ programs: Programs, _ tables: [String], _ address: TCPAddress, _ what: String, ends: Bool = true
    ) throws -> pid_t {
        let begun = Stopwatch.wallTime()
        let bridge = try start(programs, tables)
        while (try? Descriptor.connected(to: address)) == nil {
            guard Stopwatch.wallTime() - begun < 600_000_000_000 else { throw BenchmarkError.failed("not ready") }
            usleep(5_000)
        }
        Table.note("\(what): \(Table.duration(Double(Stopwatch.wallTime() - begun))) until the first port is open")
        if ends { end(bridge) }
        return bridge
    }

    private static let rest: useconds_t = 5_000_000

    private static func show(_ when: String, _ bridge: pid_t) throws {
        Table.row(
            "\(when): resident", bytes: try FootprintBenchmark.memoryOf(bridge, "VmRSS:"), target: 20_000_000)
        Table.row(
            "  of it not a copy of a file: heap, stacks, relocated data",
            bytes: try FootprintBenchmark.memoryOf(bridge, "RssAnon:"))
    }

    /// Till and customer are done when the daemon has heard of it.
    private static func sale(_ client: TapClient, _ reader: String) async throws -> Double {
        try DaemonBenchmark.present(reader)
        guard let euro = Currency("EUR") else { throw BenchmarkError.failed("no currency EUR") }
        var request = TransactionRequest(type: .purchase, amount: Money(value: 1_200, currency: euro))
        request.confirmWithin = 120
        let start = Stopwatch.wallTime()
        let tap = try await client.start(request, idempotencyKey: "bench-\(UInt64.random(in: .min ... .max))")
        let transaction = try await tap.settled()
        guard transaction.state == .approved else { throw BenchmarkError.wrongResult("ended \(transaction.state)") }
        _ = try await client.confirm(transaction.id)
        return Double(Stopwatch.wallTime() - start)
    }

    private static func freeAddress() throws -> TCPAddress {
        for _ in 0..<100 {
            guard let address = TCPAddress("127.0.0.1:\(Int.random(in: 20_000...60_000))"),
                (try? Descriptor.listening(at: address)) != nil
            else { continue }
            return address
        }
        throw BenchmarkError.failed("no port free")
    }

    private static func table(_ kind: String, _ place: String, _ lane: String) -> String {
        """
        [[till]]
        name = "\(kind)"
        protocol = "\(kind)"
        \(place)
        lane = "\(lane)"
        test = true
        \(kind == "hw-proxy" ? "origins = [\"https://shop.example\"]" : "")

        """
    }

    private static func start(_ programs: Programs, _ tables: [String]) throws -> pid_t {
        let head = "socket = \"\(programs.posSocket)\"\ndirectory = \"\(programs.path)\"\n"
        let file = programs.folder.appending(path: "ecr.toml")
        try Data((head + tables.joined()).utf8).write(to: file)
        return try programs.start("nfc-tap-ecr", ["--config", file.path], try unitEnvironment())
    }

    /// What the unit of the package sets: with it the heap gives back what was read.
    private static func unitEnvironment() throws -> [String: String] {
        let unit = URL(filePath: #filePath).appending(path: "../../../systemd/nfc-tap-ecr.service").standardizedFileURL
        let lines = try String(contentsOf: unit, encoding: .utf8).split(separator: "\n")
        let words = lines.filter { $0.hasPrefix("Environment=") }
            .flatMap { $0.dropFirst("Environment=".count).split(separator: " ") }
        var environment: [String: String] = [:]
        for word in words {
            let pair = word.split(separator: "=", maxSplits: 1).map(String.init)
            guard pair.count == 2 else { throw BenchmarkError.failed("Environment= of the unit: \(word)") }
            environment[pair[0]] = pair[1]
        }
        return environment
    }
}
