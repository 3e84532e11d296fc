import Foundation
import Testing

struct ArchitectureTests {
    @Test func `each room imports only what the table names`() throws {
        for file in try SourceTree.swiftFiles() {
            let allowed = try #require(AllowedImports.table[file.module], "\(file.module) is not in the table")
            for line in file.lines {
                guard let module = Self.importedModule(line) else { continue }
                #expect(
                    allowed.contains(module) || AllowedImports.standardLibrary.contains(module),
                    "\(file.path) imports \(module)")
            }
        }
    }

    @Test func `every room on disk is in the table`() throws {
        for module in try SourceTree.modules() {
            #expect(AllowedImports.table[module] != nil || AllowedImports.interop.contains(module), "\(module)")
        }
    }

    @Test func `the table has no cycles and no sideways imports`() {
        var finished: Set<String> = []
        func visit(_ module: String, path: [String]) {
            #expect(!path.contains(module), "cycle: \((path + [module]).joined(separator: " → "))")
            guard !path.contains(module), !finished.contains(module) else { return }
            for next in AllowedImports.table[module] ?? [] { visit(next, path: path + [module]) }
            finished.insert(module)
        }
        for module in AllowedImports.table.keys { visit(module, path: []) }
        for (one, other) in [("EMV", "Loyalty"), ("ReaderPCSC", "ReaderNFC")] {
            #expect(AllowedImports.table[one]?.contains(other) == false)
            #expect(AllowedImports.table[other]?.contains(one) == false)
        }
    }

    @Test func `libnfc is loaded by its worker process alone`() {
        var loading: Set<String> = ["CNFC"]
        var before = 0
        while before != loading.count {
            before = loading.count
            loading.formUnion(AllowedImports.table.filter { !$0.value.isDisjoint(with: loading) }.keys)
        }
        #expect(loading == ["CNFC", "ReaderNFCWorker", "nfc-tap-libnfc-worker"])
    }

    @Test func `client messages cannot name a type that holds card data`() {
        let cardModules: Set<String> = ["CardBytes", "EMV", "EMVCrypto", "Loyalty", "ReaderCore", "Envelope"]
        #expect(AllowedImports.table["Wire"]?.isDisjoint(with: cardModules) == true)
    }

    @Test func `no source file forces, traps or escapes the checker`() throws {
        let forbidden = [
            "try!", " as! ", "fatalError(", "nonisolated(unsafe)", "@unchecked Sendable", "preconditionFailure(",
        ]
        let wrappers: Set<String> = ["ReaderPCSC", "ReaderNFC", "Journal"]
        for file in try SourceTree.swiftFiles() {
            for (number, line) in file.lines.enumerated() where !line.drop(while: { $0 == " " }).hasPrefix("//") {
                for word in forbidden where line.contains(word) {
                    if word == "@unchecked Sendable", wrappers.contains(file.module) { continue }
                    Issue.record("\(file.path):\(number + 1) has \(word)")
                }
            }
        }
    }

    @Test func `files stay within four hundred lines, tables excepted`() throws {
        for file in try SourceTree.swiftFiles() + SourceTree.swiftFiles(under: "Tests") {
            let isTable = file.path.hasSuffix("+Table.swift")
            #expect(isTable || file.lines.count <= 401, "\(file.path): \(file.lines.count) lines")
        }
    }

    private static func importedModule(_ line: Substring) -> String? {
        var words = line.split(separator: " ")
        while let first = words.first,
            ["public", "internal", "package", "private", "fileprivate"].contains(first) || first.hasPrefix("@")
        {
            words.removeFirst()
        }
        guard words.first == "import", words.count >= 2 else { return nil }
        let kinds: Set<Substring> = ["struct", "class", "enum", "func", "protocol", "typealias", "let", "var"]
        let name = kinds.contains(words[1]) && words.count > 2 ? words[2] : words[1]
        return String(name.prefix { $0 != "." && $0 != ";" })
    }
}
