import Foundation
import LocalHTTP
import Testing

@testable import TapDaemon

@Suite("docs/examples/alerts.yml", .timeLimit(.minutes(1)))
struct AlertRulesTests {
    /// Metrics with their labels, as the rules' expressions name them.
    private static func selectors() throws -> [(name: String, label: String, values: [String])] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/examples/alerts.yml"), encoding: .utf8)
        let selector = /(nfc_tap_[a-z_]+)(\{([a-z]+)=~?"([a-z|]+)"\})?/
        return text.split(separator: "\n").filter { $0.contains("expr:") }.flatMap { line in
            line.matches(of: selector).map { match in
                let values = match.4.map { $0.split(separator: "|").map(String.init) } ?? []
                return (String(match.1), match.3.map(String.init) ?? "", values)
            }
        }
    }

    @Test("Every metric and label value that a rule asks for is served")
    func served() async throws {
        let selectors = try Self.selectors()
        try #require(selectors.count >= 8)
        let folder = try TestFolder()
        try await Shop.open(in: folder) { shop in
            let series = try await Scrape(shop.get("/metrics").text).values.keys
            for (name, label, values) in selectors {
                #expect(series.contains { $0 == name || $0.hasPrefix("\(name){") }, "\(name)")
                for value in values {
                    #expect(
                        series.contains { $0.hasPrefix(name) && $0.contains("\(label)=\"\(value)\"") },
                        "\(name) \(label)=\(value)")
                }
            }
        }
    }
}
