// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// The files of the package as they are in the checkout the tests were built from.
enum SourceTree {
    struct File {
        let room: String
        let path: String
        let lines: [Substring]
    }

    private static let products = Result { try read("Sources") }
    private static let tests = Result { try read("Tests") }

    /// Each file is read once for all rules.
    static func swiftFiles(under folder: String = "Sources") throws -> [File] {
        switch folder {
        case "Sources": try products.get()
        case "Tests": try tests.get()
        default: try products.get().filter { $0.path.hasPrefix(folder + "/") }
        }
    }

    private static func read(_ folder: String) throws -> [File] {
        let base = Checkout.file(folder)
        return try FileManager.default.subpathsOfDirectory(atPath: base.path)
            .filter { $0.hasSuffix(".swift") && $0.contains("/") }
            .map { path in
                let text = try String(contentsOf: base.appending(path: path), encoding: .utf8)
                return File(
                    room: String(path.prefix { $0 != "/" }), path: "\(folder)/\(path)",
                    lines: text.split(separator: "\n", omittingEmptySubsequences: false))
            }
    }

    static func rooms() throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: Checkout.file("Sources").path))
    }

    /// What each target of Package.swift depends on, as the package manager understands the file.
    static func dependencies() throws -> [String: Set<String>] {
        struct Package: Decodable {
            var targets: [Target]
        }
        struct Target: Decodable {
            var name: String
            var dependencies: [[String: [Part]]]
        }
        /// `{"byName": ["EMV", null]}`: the name stands first, and conditions after it do not matter here.
        enum Part: Decodable {
            case name(String)
            case other

            init(from decoder: any Decoder) throws {
                self = (try? decoder.singleValueContainer().decode(String.self)).map(Part.name) ?? .other
            }
        }

        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        // With a scratch path of its own it does not wait for the `swift test` it was started by.
        let scratch = FileManager.default.temporaryDirectory.appending(path: "architecture-\(getpid())")
        process.arguments = [
            "swift", "package", "--package-path", Checkout.root.path, "--scratch-path", scratch.path, "dump-package",
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let json = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let package = try JSONDecoder().decode(Package.self, from: json)
        return package.targets.reduce(into: [:]) { table, target in
            table[target.name] = Set(
                target.dependencies.flatMap(\.values).compactMap { parts in
                    if case .name(let name)? = parts.first { name } else { nil }
                })
        }
    }
}
