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

    @Test(
        "D5: whoever builds a kiosk is told which machines, disks, roots and readers, and what of it nobody has tried")
    func kiosks() throws {
        let page = try Checkout.text("docs/operating/kiosks.md")
        for word in [
            "Raspberry Pi", "arm64", "## Read-only root", "SD card", "Two readers of one model", "**not tried**",
        ] {
            #expect(page.contains(word), "\(word)")
        }
        // Each folder that a unit may write in, and none that no unit has.
        var folders: Set<String> = []
        for unit in try FileManager.default.contentsOfDirectory(atPath: Checkout.file("systemd").path)
        where unit.hasSuffix(".service") {
            for line in try Checkout.text("systemd/\(unit)").split(separator: "\n")
            where line.hasPrefix("StateDirectory=nfc-tap") {
                folders.formUnion(
                    line.dropFirst("StateDirectory=".count).split(separator: " ").map { "/var/lib/\($0)" })
            }
        }
        let named = Set(page.matches(of: #/(?m)^\| `(\/var\/lib\/[a-z-]+)`/#).map { String($0.output.1) })
        #expect(named.count > 4 && named.isSubset(of: folders), "\(named.subtracting(folders))")
        #expect(folders.subtracting(named).allSatisfy { $0.contains("switch") }, "\(folders.subtracting(named))")
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
