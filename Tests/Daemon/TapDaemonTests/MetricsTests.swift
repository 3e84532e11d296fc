// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHTTP
import POSAPI
import PaymentValues
import ReaderVirtual
import Testing

@testable import TapDaemon

/// What a scraper reads, held against the rules of the format.
struct Scrape {
    var types: [String: String] = [:]
    /// Value by name with labels, as it stands there.
    var values: [String: Double] = [:]

    init(_ text: String) throws {
        try #require(text.hasSuffix("\n"))
        let sample =
            /([a-zA-Z_:][a-zA-Z0-9_:]*)(\{([a-zA-Z_][a-zA-Z0-9_]*="([^"\\]|\\.)*",?)*\})? ([0-9.e+-]+|\+Inf|NaN)/
        var current = ""
        for line in text.split(separator: "\n", omittingEmptySubsequences: true).map(String.init) {
            let words = line.split(separator: " ")
            if line.hasPrefix("# HELP ") {
                current = String(words[2])
                #expect(types[current] == nil, "\(current) is there twice")
            } else if line.hasPrefix("# TYPE ") {
                #expect(words[2] == current)
                #expect(["counter", "gauge", "histogram"].contains(words[3]))
                types[current] = String(words[3])
            } else {
                let match = try #require(try sample.wholeMatch(in: line), "\(line)")
                let suffix = String(match.1).dropFirst(current.count)
                #expect(match.1.hasPrefix(current) && ["", "_bucket", "_sum", "_count"].contains(suffix), "\(line)")
                let series = String(line.dropLast(match.5.count + 1))
                #expect(values[series] == nil, "\(series) is there twice")
                values[series] = match.5 == "+Inf" ? .infinity : Double(match.5)
            }
        }
    }
}

@Suite("GET /metrics (requirements §10.9)", .timeLimit(.minutes(5)))
struct MetricsTests {
    @Test("It is in Prometheus' format and tells of a payment: states, phases, events, lanes, process")
    func scraped() async throws {
        try await Shop.withSandbox { shop, _ in
            try shop.reader.obey("present visa-afl")
            #expect(try await shop.post(purchase(1_000), wait: 20).transaction().state == .approved)
            let answer = try await shop.get("/metrics")
            #expect(answer.status == 200)
            #expect(answer.fields.only("Content-Type") == "text/plain; version=0.0.4; charset=utf-8")
            let scrape = try Scrape(answer.text)
            for state in ["reading", "sealed", "sent", "approved"] {
                #expect(
                    scrape.values["nfc_tap_transactions_total{type=\"purchase\",state=\"\(state)\"}"] == 1,
                    "\(state)")
            }
            for phase in TapPhase.allCases {
                let count = scrape.values["nfc_tap_phase_seconds_count{phase=\"\(phase.rawValue)\"}"]
                let last = scrape.values["nfc_tap_phase_seconds_bucket{phase=\"\(phase.rawValue)\",le=\"+Inf\"}"]
                #expect(count == 1 && last == 1, "\(phase)")
            }
            #expect(scrape.values["nfc_tap_events_total{event=\"payment.approved\"}"] == 1)
            #expect(scrape.values["nfc_tap_lanes{state=\"ready\"}"] == 1)
            #expect(scrape.values["nfc_tap_reversals_open"] == 0)
            #expect(scrape.values["nfc_tap_connections"] == 1)
            #expect(scrape.values["process_resident_memory_bytes"] ?? 0 > 1_000_000)
            #expect(scrape.values["process_open_fds"] ?? 0 > 3)
            #expect(scrape.types["nfc_tap_phase_seconds"] == "histogram")
        }
    }

    @Test("The number of series does not depend on what clients send or how many taps there were")
    func bounded() async throws {
        try await Shop.withSandbox { shop, _ in
            let before = try Scrape(try await shop.get("/metrics").text).values.keys.sorted()
            for value in [1_000, 1_051] as [Int64] {
                try shop.reader.obey("present visa")
                try await shop.post(purchase(value, order: "ORDER-\(value)"), wait: 20)
                try shop.reader.obey("remove")
            }
            _ = try await shop.get("/v1/nothing")
            let after = try Scrape(try await shop.get("/metrics").text).values.keys.sorted()
            #expect(before == after)
        }
    }

    @Test("Role monitor may read it")
    func monitor() async throws {
        let folder = try TestFolder()
        var wish = Shop.Wish()
        wish.access = Access(groups: [.monitor: getgid()], owner: getuid() &+ 1)
        try await Shop.open(in: folder, wish) { shop in
            let statuses = [try await shop.get("/metrics").status, try await shop.get("/metrics?x=1").status]
            #expect(statuses == [200, 400])
        }
    }

    @Test("A user without a role may not read it")
    func nobody() async throws {
        let folder = try TestFolder()
        var wish = Shop.Wish()
        wish.access = Access(groups: [:], owner: getuid() &+ 1)
        try await Shop.open(in: folder, wish) { shop in
            // Root has every role, whatever is configured, and asks as another.
            if getuid() == 0 {
                let socket = folder.path + "/pos.sock"
                try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: socket)
                #expect(try await curl(folder, groups: "", ["http://d/metrics"]).status == "403")
            } else {
                #expect(try await shop.get("/metrics").status == 403)
            }
        }
    }
}
