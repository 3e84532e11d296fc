// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHTTP
import Metrics
import TestSupport
import Testing

@testable import TapDaemon

@Suite("docs/examples/alerts.yml", .timeLimit(.minutes(5)))
struct AlertRulesTests {
    /// A metric with its label, as a rule's expression names it.
    private struct Selector {
        let name: String
        let label: String
        let values: [String]
    }

    private static func selectors() throws -> [Selector] {
        let text = try Checkout.text("docs/examples/alerts.yml")
        let selector = /(nfc_tap_[a-z_]+)(\{([^}]*)\})?/
        let label = /([a-z]+)=(~?)"([a-z0-9.|]+)"/
        var selectors: [Selector] = []
        for expression in expressions(of: text) {
            for match in expression.matches(of: selector) {
                let name = String(match.1)
                let labels = (match.3 ?? "").matches(of: label)
                #expect(labels.isEmpty == (match.2 == nil), "\(expression)")
                if labels.isEmpty { selectors.append(Selector(name: name, label: "", values: [])) }
                for found in labels {
                    // Of a bound the two ways in which Prometheus writes it.
                    let values = found.3.split(separator: "|").filter { found.1 != "le" || !$0.contains(".") }
                    selectors.append(Selector(name: name, label: String(found.1), values: values.map { String($0) }))
                }
            }
        }
        return selectors
    }

    /// What each rule asks, also where it stands on several lines.
    private static func expressions(of text: String) -> [String] {
        text.split(separator: "- alert:").dropFirst().compactMap { rule in
            guard let begin = rule.firstRange(of: "expr:") else { return nil }
            let rest = rule[begin.upperBound...]
            return String(rest[..<(rest.firstRange(of: /\n *(for|labels):/)?.lowerBound ?? rest.endIndex)])
        }
    }

    /// `histogram_quantile` answers with the last bound at most (Prometheus, "Query functions"): a rule above it never fires.
    @Test(
        "K7: no rule compares a quantile with what no quantile can be", arguments: ["alerts.yml", "switch-alerts.yml"])
    func quantiles(_ file: String) throws {
        let last = try #require(Histogram.latencyBounds.last)
        let all = Self.expressions(of: try Checkout.text("docs/examples/\(file)"))
        try #require(all.count >= 16)
        for expression in all where expression.contains("histogram_quantile") {
            let limit = try #require(expression.firstMatch(of: />=? *([0-9.]+) *$/).flatMap { Double($0.1) })
            #expect(limit < last, "\(expression)")
        }
    }

    /// Of several machines one that is silent is missing among others: `absent` alone is quiet as long as any is there.
    @Test("K7: the rule for a daemon that is gone looks at each machine")
    func gone() throws {
        let all = Self.expressions(of: try Checkout.text("docs/examples/alerts.yml"))
        let gone = try #require(all.first { $0.contains("absent(nfc_tap_adapter_up)") })
        #expect(gone.contains("last_over_time(nfc_tap_adapter_up[1d]) unless nfc_tap_adapter_up or absent"))
    }

    @Test("Every metric and label value that a rule asks for is served")
    func served() async throws {
        let selectors = try Self.selectors()
        try #require(selectors.count >= 8)
        let folder = try TestFolder()
        try await Shop.open(in: folder) { shop in
            let answer = try await shop.get("/metrics")
            let series = try Scrape(answer.text).values.keys
            for selector in selectors {
                let ofMetric = series.filter { $0 == selector.name || $0.hasPrefix("\(selector.name){") }
                #expect(!ofMetric.isEmpty, "\(selector.name)")
                for value in selector.values {
                    #expect(
                        ofMetric.contains { $0.contains("\(selector.label)=\"\(value)\"") },
                        "\(selector.name) \(selector.label)=\(value)")
                }
            }
        }
    }
}
