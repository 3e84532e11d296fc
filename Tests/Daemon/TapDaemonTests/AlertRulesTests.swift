// SPDX-License-Identifier: Apache-2.0
import Foundation
import LocalHTTP
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
        let selector = /(nfc_tap_[a-z_]+)(\{([a-z]+)=~?"([a-z|]+)"\})?/
        var selectors: [Selector] = []
        for line in text.split(separator: "\n") where line.contains("expr:") {
            for match in line.matches(of: selector) {
                let values = match.4?.split(separator: "|").map { String($0) } ?? []
                selectors.append(
                    Selector(name: String(match.1), label: match.3.map { String($0) } ?? "", values: values))
            }
        }
        return selectors
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
