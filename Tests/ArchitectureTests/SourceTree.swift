// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// The files of the package as they are in the checkout the tests were built from.
enum SourceTree {
    struct File {
        /// The room's module: a folder of a floor.
        let room: String
        let path: String
        let text: String
        let lines: [Substring]

        /// Whether one of the words stands anywhere in it: by bytes, for a search in each line of each file takes long.
        func mentions(_ words: String...) -> Bool {
            words.contains { word in unsafe strstr(text, word) != nil }
        }
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

    /// The files of a target that is no room.
    static func swiftFiles(in path: String) throws -> [File] { try read(path) }

    private static func read(_ folder: String) throws -> [File] {
        let base = Checkout.file(folder)
        return try FileManager.default.subpathsOfDirectory(atPath: base.path)
            .filter { $0.hasSuffix(".swift") }
            .map { path in
                let text = try String(contentsOf: base.appending(path: path), encoding: .utf8)
                return File(
                    room: String(path.split(separator: "/").dropFirst().first ?? ""), path: "\(folder)/\(path)",
                    text: text,
                    lines: text.split(separator: "\n", omittingEmptySubsequences: false))
            }
    }

    /// The lines of each room, in Swift and in C.
    static func lines() throws -> [String: Int] {
        let base = Checkout.file("Sources")
        return try FileManager.default.subpathsOfDirectory(atPath: base.path).reduce(into: [:]) { lines, path in
            let folders = path.split(separator: "/")
            guard folders.count > 2, [".swift", ".c", ".h"].contains(where: path.hasSuffix) else { return }
            lines[String(folders[1]), default: 0] += try Data(contentsOf: base.appending(path: path)).count {
                $0 == 0x0A
            }
        }
    }

    /// The rooms of each floor, as they lie on the disk.
    static func floors() throws -> [String: Set<String>] {
        let files = FileManager.default
        return try files.contentsOfDirectory(atPath: Checkout.file("Sources").path).reduce(into: [:]) { floors, floor in
            floors[floor] = Set(try files.contentsOfDirectory(atPath: Checkout.file("Sources/\(floor)").path))
        }
    }
}
