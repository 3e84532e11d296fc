// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// A newcomer finds each page from README, and what a page leads to is there.
struct PageTests {
    /// The targets of a page's links that are no address of the web, without what stands behind `#`.
    private static func links(_ page: String) throws -> [String] {
        let folder = (page as NSString).deletingLastPathComponent
        return try Checkout.text(page).components(separatedBy: "](").dropFirst().compactMap { rest in
            let target = rest.prefix { $0 != ")" && $0 != "#" && $0 != "\n" }
            guard !target.isEmpty, !target.hasPrefix("http") else { return nil }
            return (("/" + folder + "/" + target) as NSString).standardizingPath
        }
    }

    private static func pages() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: Checkout.file("docs").path)
            .filter { $0.hasSuffix(".md") && $0 != "README.md" }.sorted()
    }

    @Test func `each page of docs has one line in docs README`() throws {
        let named = try Self.links("docs/README.md")
        let pages = try Self.pages()
        for page in pages {
            #expect(named.count { $0 == "/docs/\(page)" } <= 2, "docs/README.md names \(page) too often")
            #expect(named.contains("/docs/\(page)"), "docs/README.md does not name \(page)")
        }
        #expect(pages.count > 20)
    }

    @Test func `what a page leads to is in the checkout`() throws {
        let pages =
            try Self.pages().map { "docs/\($0)" } + [
                "docs/README.md", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md",
            ]
        var links = 0
        for page in pages {
            for link in try Self.links(page) {
                links += 1
                #expect(FileManager.default.fileExists(atPath: Checkout.root.path + link), "\(page) leads to \(link)")
            }
        }
        #expect(links > 200)
    }

    @Test func `README fits two screens and leads to rooms that are there`() throws {
        let readme = try Checkout.text("README.md")
        #expect(readme.split(separator: "\n", omittingEmptySubsequences: false).count <= 101)
        #expect(try Checkout.text("CHANGELOG.md").split(separator: "\n", omittingEmptySubsequences: false).count <= 121)
        let floors = readme.matches(of: #/(?m)^\| `([A-Z][a-z]+)` \| [^|]+ \| (.+) \|$/#)
        #expect(floors.count == 10)
        for floor in floors {
            for room in floor.output.2.matches(of: #/`([A-Za-z0-9\/-]+)`/#) {
                let path = "Sources/\(floor.output.1)/\(room.output.1)"
                #expect(FileManager.default.fileExists(atPath: Checkout.file(path).path), "README names \(path)")
            }
        }
    }
}
