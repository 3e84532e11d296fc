// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The checkout the tests were built from; paths are given from its root.
public enum Checkout {
    public static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    public static func file(_ path: String) -> URL { root.appending(path: path) }

    public static func text(_ path: String) throws -> String { try String(contentsOf: file(path), encoding: .utf8) }

    /// What a unit under `systemd` says for a key that it has once; `nil` where that is no number.
    public static func number(_ key: String, ofUnit unit: String) throws -> Int? {
        let lines = try text("systemd/\(unit)").split(separator: "\n").filter { $0.hasPrefix("\(key)=") }
        return lines.count == 1 ? Int(lines[0].dropFirst(key.count + 1)) : nil
    }
}

/// The JSON Lines files under `Tests/Vectors`: one object a line. A line that cannot be read is an error; it is never left out.
public enum VectorFile {
    /// No line of the file is of this kind: a test over all of them would pass without having looked at any.
    public struct NothingOfThisKind: Error {
        public let file: String
        public let kind: String
    }

    public static func lines(_ file: String) throws -> [Substring] {
        try Checkout.text("Tests/Vectors/\(file)").split(separator: "\n")
    }

    public static func rows<Row: Decodable>(_ file: String, as row: Row.Type = Row.self) throws -> [Row] {
        let decoder = JSONDecoder()
        return try lines(file).map { try decoder.decode(row, from: Data($0.utf8)) }
    }

    public static func objects(_ file: String) throws -> [[String: Any]] {
        try lines(file).map { line in
            let value = try JSONSerialization.jsonObject(with: Data(line.utf8))
            guard let object = value as? [String: Any] else { throw CocoaError(.coderReadCorrupt) }
            return object
        }
    }

    /// The objects whose `kind` is this; at least one.
    public static func objects(_ file: String, kind: String) throws -> [[String: Any]] {
        let found = try objects(file).filter { $0["kind"] as? String == kind }
        guard !found.isEmpty else { throw NothingOfThisKind(file: file, kind: kind) }
        return found
    }
}
