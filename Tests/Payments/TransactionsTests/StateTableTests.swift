// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import Transactions

/// The table of docs/internals/architecture.md is what the machine does, found by going through it.
struct StateTableTests {
    /// What a state knows, in the words of the table. What it does is found.
    private static let knows: [(state: String, text: String)] = [
        ("created", "what was asked for"),
        ("preparing", "that its lanes are being made ready"),
        ("armed", "its lanes, failed reads, who wants it cancelled"),
        ("reading", "the lane that has the card"),
        ("sealed", "the sealed read; the journal has still `reading`"),
        ("sealed, PIN awaited", "the same, and which device asks the customer; the journal has `sealed`"),
        (
            "sealed, claim awaited",
            "the sealed read, until a machine claims it; the journal has `sealed`, and nothing of the read"
        ),
        ("sent", "the request, its question's number, when to give up"),
        ("sent, PIN awaited", "the issuer's decline, and which device asks the customer; the journal has `sent`"),
        ("unknown", "what `sent` knows, and that an answer was lost"),
        ("approved, unconfirmed", "until when it has to be confirmed"),
        ("reversing", "attempts so far and the next one"),
        ("stored", "that a signed record waits in the queue"),
    ]

    @Test func `the table of states in docs is the machine's`() throws {
        let file = Checkout.file("docs/internals/architecture.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let (begin, end) = ("<!-- states -->\n", "<!-- /states -->")
        let head = try #require(text.range(of: begin))
        let tail = try #require(text.range(of: end))
        let table = Self.table()
        if ProcessInfo.processInfo.environment["NFC_TAP_BLESS"] != nil {
            let new = text.replacingCharacters(in: head.upperBound..<tail.lowerBound, with: table)
            try new.write(to: file, atomically: true, encoding: .utf8)
        } else {
            #expect(text[head.upperBound..<tail.lowerBound] == table, "NFC_TAP_BLESS=1 writes it anew")
        }
    }

    private static func table() -> String {
        var edges: Set<Orders.Edge> = []
        var asksAgain: Set<String> = []
        var timers: [String: Set<Int64>] = [:]
        for scenario in Scenario.allCases {
            let orders = scenario.orders(depth: 2)
            edges.formUnion(orders.edges)
            asksAgain.formUnion(orders.asksAgain)
            timers.merge(orders.timers) { $0.union($1) }
        }
        var lines = ["| state | knows | continues on its own | leads to |", "|---|---|---|---|"]
        for (state, text) in knows {
            let from = edges.filter { $0.from == state && $0.to != state }
            let times = (timers[state] ?? []).filter { $0 > 0 }
            let byTime = Set(from.filter(\.byTime).map(\.to)).sorted()
            let all = Set(from.map(\.to)).sorted()
            let after = [times.min(), times.max()].compactMap(\.self).map(words)
            let span = Set(after).count == 1 ? after[0] : after.joined(separator: " to ")
            let ways = (asksAgain.contains(state) ? ["asks again"] : []) + (byTime.isEmpty ? [] : [list(byTime)])
            let time = ways.isEmpty ? "–" : "\(span) → \(ways.joined(separator: ", "))"
            lines.append("| `\(state)` | \(text) | \(time) | \(list(all)) |")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func list(_ states: [String]) -> String { states.map { "`\($0)`" }.joined(separator: ", ") }

    private static func words(_ milliseconds: Int64) -> String {
        milliseconds < 1_000 ? "\(milliseconds) ms" : "\(milliseconds / 1_000) s"
    }
}
