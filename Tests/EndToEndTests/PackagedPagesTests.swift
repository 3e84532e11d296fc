// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// The pages as the package has them: all of docs beside README, and nothing else of the checkout.
@Suite struct PackagedPagesTests {
    /// What packaging/stage.sh copies, with the links that it makes.
    private func pages() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pages-\(UUID().uuidString.prefix(8))")
        let script = """
            cd "$0" && mkdir -p "$1" && cp -r docs/* "$1" && rm -r "$1"/internals/decisions "$1"/pictures &&
            mv "$1/README.md" "$1/pages.md" && cp README.md NOTICE "$1" &&
            (cd "$1" && printf '%s\\n' *.md */*.md) | xargs python3 packaging/package-links.py "$1" docs
            """
        let run = try Peer.run("/bin/sh", ["-c", script, Checkout.file(".").path, folder.path])
        try #require(run.status == 0, "\(run.errors)")
        return folder
    }

    @Test("D4: the package's pages link only to pages that are there")
    func links() throws {
        let folder = try pages()
        defer { try? FileManager.default.removeItem(at: folder) }
        var count = 0
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        for name in names where name.hasSuffix(".md") {
            let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            for match in text.matches(of: #/\]\(([^)\s]+)\)/#) {
                let target = String(match.1)
                guard target.firstMatch(of: #/^[a-z]+:/#) == nil, !target.hasPrefix("#") else { continue }
                let path = target.split(separator: "#").first.map(String.init) ?? ""
                let place = folder.appending(path: name).deletingLastPathComponent().appending(path: path)
                #expect(FileManager.default.fileExists(atPath: place.path), "\(name): \(target)")
                count += 1
            }
        }
        #expect(count > 200)
        let stage = try Checkout.text("packaging/stage.sh")
        #expect(stage.contains("package-links.py") && stage.contains("docs/README.md \"$share/doc/nfc-tap/pages.md\""))
        #expect(try String(contentsOf: folder.appending(path: "README.md"), encoding: .utf8).contains("](pages.md)"))
    }

    @Test("D4: the page that an error names is in the package as it is, with a heading for each code")
    func errors() throws {
        let body = try Checkout.text("Sources/Payments/PaymentValues/Errors/ErrorBody.swift")
        let named = try #require(body.firstMatch(of: #/docs = "([^#"]+)#/#)).1
        #expect(named == "/usr/share/doc/nfc-tap/integrating/errors.md")
        #expect(
            try Checkout.text("packaging/stage.sh").contains(
                #"install -D -m 0644 "$file" "$share/doc/nfc-tap/${file#docs/}""#))
        #expect(try Checkout.text("packaging/debian/rules").contains("dh_compress -X.md"), "else it is errors.md.gz")
        let codes = try Checkout.text("Sources/Payments/PaymentValues/Errors/ErrorCode.swift").matches(
            of: #/case \w+ = "([a-z_.]+)"/#)
        let page = try Checkout.text("docs/integrating/errors.md")
        #expect(codes.count > 100)
        for code in codes { #expect(page.contains("\n## \(code.1)\n"), "\(code.1)") }
    }

    @Test(
        "D4: gateway's and bridge's files have a manual page with every setting of their example",
        arguments: ["gateway", "ecr"])
    func manuals(name: String) throws {
        let example = "docs/examples/nfc-tap-\(name).toml"
        let page = try Peer.run(
            "/usr/bin/env",
            [
                "python3", Checkout.file("packaging/make-manual.py").path, "configuration", "nfc-tap-\(name)",
                Checkout.file(example).path,
            ])
        #expect(page.status == 0, "\(page.errors)")
        for match in try Checkout.text(example).matches(of: #/(?m)^(?:# )?([a-z-]+) = /#) {
            #expect(page.output.contains(match.1.replacing("-", with: #"\-"#)), "\(match.1)")
        }
        #expect(try Checkout.text("packaging/stage.sh").contains("nfc-tap-\(name)"))
    }

    @Test("D10: without a toolchain make says where it is to be had, before it installs or builds anything")
    func toolchain() throws {
        for goals in [["demo"], ["till"], ["test"], ["release"], ["lint"]] {
            let run = try Peer.run(
                "/usr/bin/make", ["-C", Checkout.file(".").path, "SWIFT=no-such-swift"] + goals)
            #expect(run.status != 0 && run.errors.contains("https://www.swift.org/install/linux/"), "\(run.errors)")
            #expect(!run.output.contains("Installing") && !(run.output + run.errors).contains("build.log"))
        }
        let build = try Peer.run("/usr/bin/env", ["SWIFT=no-such-swift", Checkout.file("scripts/build.sh").path])
        #expect(build.status == 69 && build.errors.contains("https://www.swift.org/install/linux/"), "\(build.errors)")
        let readme = try Checkout.text("README.md")
        #expect(readme.contains("https://www.swift.org/install/linux/") && readme.contains("](docs/README.md)"))
        #expect(try Checkout.text("docs/README.md").contains("\n## Help\n"))
        #expect(readme.contains("](docs/pictures/"))
    }
}
