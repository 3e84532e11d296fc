// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// Scripts build, install, measure and release; those that judge are tests, and lie there.
struct ScriptTests {
    private static func names(_ folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: Checkout.file(folder).path)
            .filter { [".sh", ".py", ".supp"].contains(where: $0.hasSuffix) }.map { "\(folder)/\($0)" }.sorted()
    }

    /// Paths of scripts that a text names from the checkout's root.
    private static func paths(_ text: String) -> Set<String> {
        let pattern =
            #/\b(?:scripts|clients|packaging|Tests/(?:Checks|Contract|Browser|Till|Rigs))\/[A-Za-z0-9_\/.-]+\.(?:sh|py|supp)\b/#
        return Set(text.matches(of: pattern).map { String($0.output) })
    }

    /// What names scripts: recipes, pages, scripts, and the texts and comments of code.
    private static func texts() throws -> [String] {
        let files = FileManager.default
        let listed = try ["Sources", "Tests", "docs", "packaging", "scripts", "clients", "systemd"].flatMap { folder in
            try files.subpathsOfDirectory(atPath: Checkout.file(folder).path).map { "\(folder)/\($0)" }
        }
        let ends = [".swift", ".md", ".sh", ".py", ".service", "/rules"]
        return listed.filter { path in ends.contains { path.hasSuffix($0) } && !path.contains("/node_modules/") }
            + ["Makefile", ".ci/run", "README.md", "CONTRIBUTING.md", "SECURITY.md", "Package.swift"]
    }

    @Test func `there are at most 25 scripts, and none of them is a check`() throws {
        let scripts = try Self.names("scripts")
        #expect(scripts.count <= 25, "\(scripts)")
        #expect(scripts.count > 10)
        #expect(!scripts.contains { $0.contains("/check-") }, "a check is a test: put it into Tests/Checks")
    }

    @Test func `each script that is named is there, and each that is there is named`() throws {
        var named: Set<String> = []
        for file in try Self.texts() where file != "Tests/ArchitectureTests/ScriptTests.swift" {
            guard FileManager.default.fileExists(atPath: Checkout.file(file).path) else { continue }
            let text = try Checkout.text(file)
            for path in Self.paths(text) where path != file {
                named.insert(path)
                #expect(FileManager.default.fileExists(atPath: Checkout.file(path).path), "\(file) names \(path)")
            }
        }
        let checks = try Self.names("Tests/Checks")
        // Modules of Python are named by those that import them.
        let modules = Set(
            try checks.flatMap {
                try Checkout.text($0).matches(of: #/(?m)^from (\w+) import/#).map { "/\($0.output.1).py" }
            })
        for script in try Self.names("scripts") + checks {
            let isNamed = named.contains(script) || modules.contains(where: script.hasSuffix)
            #expect(isNamed, "nobody names \(script): delete it")
        }
    }

    @Test func `a path of a script is recognised in a recipe, a page and a comment`() {
        #expect(Self.paths("\t@scripts/test.sh \"$$(scripts/lib.sh)\"") == ["scripts/test.sh", "scripts/lib.sh"])
        #expect(Self.paths("(`Tests/Checks/Books/check-books.py FOLDER`).") == ["Tests/Checks/Books/check-books.py"])
        #expect(Self.paths("Tests/Vectors/kernel-scripts/scripts.jsonl") == [])
    }
}
