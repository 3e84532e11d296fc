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

    private static let shelves = ["docs/shop", "docs/integrating", "docs/operating", "docs/service", "docs/internals"]

    /// The pages of a folder, its list of them left out.
    private static func pages(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: Checkout.file(folder).path)
            .filter { $0.hasSuffix(".md") && $0 != "README.md" }.sorted().map { "\(folder)/\($0)" }
    }

    @Test func `each page has one line on its shelf, and each shelf one in docs README`() throws {
        let all = try Self.links("docs/README.md")
        for shelf in Self.shelves {
            #expect(all.count { $0 == "/\(shelf)/README.md" } == 1, "docs/README.md does not name \(shelf) once")
            let named = try Self.links("\(shelf)/README.md")
            let pages = try Self.pages(shelf)
            for page in pages {
                #expect(named.count { $0 == "/\(page)" } == 1, "\(shelf)/README.md does not name \(page) once")
            }
            #expect(pages.count > 4)
        }
        #expect(try Self.pages("docs") == ["docs/getting-started.md"], "a page stands on a shelf")
    }

    @Test func `names of pages differ by more than one letter`() throws {
        let names = try Self.shelves.flatMap(Self.pages).map { ($0 as NSString).lastPathComponent }
        for name in names {
            for other in names where other != name {
                #expect(!other.hasPrefix(name.dropLast(3)) || other.count > name.count + 1, "\(name), \(other)")
            }
        }
    }

    @Test func `what a page leads to is in the checkout`() throws {
        let pages =
            try Self.shelves.flatMap(Self.pages) + Self.shelves.map { "\($0)/README.md" } + Self.pages("docs") + [
                "docs/README.md", "docs/internals/decisions/README.md", "README.md", "CHANGELOG.md", "CONTRIBUTING.md",
                "SECURITY.md",
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
