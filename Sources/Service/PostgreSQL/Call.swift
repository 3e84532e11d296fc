// SPDX-License-Identifier: Apache-2.0
/// A value as it is bound: never a part of SQL text.
public enum DatabaseValue: Equatable, Sendable {
    case null
    case text(String)
    case number(Int64)
    case flag(Bool)
    case bytes([UInt8])
    /// An array.
    case list([DatabaseValue])

    /// In PostgreSQL's text form; bytes as `\x` and hexadecimal digits (8.4.1 of its manual).
    var encoded: String? {
        switch self {
        case .null: nil
        case .text(let text): text
        case .number(let number): String(number)
        case .flag(let flag): flag ? "t" : "f"
        case .bytes(let bytes): Self.hexadecimal(bytes)
        case .list(let elements): "{" + elements.map(\.element).joined(separator: ",") + "}"
        }
    }

    /// 8.15.2 of the manual: in quotes anything may stand, behind a backslash if it is one or a quote.
    private var element: String {
        guard let text = encoded else { return "NULL" }
        var quoted = "\""
        for unit in text.unicodeScalars {
            if unit == "\"" || unit == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(unit)
        }
        return quoted + "\""
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = [0x5C, 0x78]
        text.reserveCapacity(2 + 2 * bytes.count)
        for byte in bytes {
            text.append(digit(byte >> 4))
            text.append(digit(byte & 15))
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func digit(_ nibble: UInt8) -> UInt8 { nibble < 10 ? 0x30 + nibble : 0x57 + nibble }
}

extension DatabaseValue {
    public static func text(_ text: String?) -> DatabaseValue { text.map { .text($0) } ?? .null }
    public static func number(_ number: Int64?) -> DatabaseValue { number.map { .number($0) } ?? .null }
    public static func bytes(_ bytes: [UInt8]?) -> DatabaseValue { bytes.map { .bytes($0) } ?? .null }
}

/// A statement with its values. It is prepared once for each connection, under a name that its text gives it.
public struct Call: Equatable, Sendable {
    public let sql: String
    let values: [DatabaseValue]
    /// Of a statement for rows.
    var rows: [[DatabaseValue]] = []

    /// - Parameter sql: text of the program, with `$1`, `$2` … for the values; give a type where it stands first (`$1::uuid`).
    public init(_ sql: StaticString, _ values: [DatabaseValue] = []) {
        self.sql = sql.description
        self.values = values
    }

    /// A statement for rows: `$1`, `$2` … are arrays with one element for each row, for `unnest`.
    ///
    /// - Parameter rows: at least one, and all of as many values.
    public init(_ sql: StaticString, rows: [[DatabaseValue]]) {
        self.init(sql)
        self.rows = rows
    }

    var bound: [DatabaseValue] {
        guard let first = rows.first else { return values }
        return first.indices.map { column in .list(rows.map { $0[column] }) }
    }
}

/// One row of a result, every value in PostgreSQL's text form.
public struct Row: Equatable, Sendable {
    let names: [String]
    let values: [String?]

    public subscript(_ name: String) -> String? { names.firstIndex(of: name).flatMap { values[$0] } }

    public func text(_ name: String) -> String { self[name] ?? "" }
    public func number(_ name: String) -> Int64? { self[name].flatMap { Int64($0) } }

    /// A number that the tables never leave out: `.refused` with 22004 where it is null, no number or not in the row, so that no
    /// sum is taken for nothing.
    public func whole(_ name: String) throws(DatabaseError) -> Int64 {
        guard let number = number(name) else { throw .refused(state: "22004") }
        return number
    }

    public func flag(_ name: String) -> Bool { self[name] == "t" }

    /// `nil` for null, and for what is no `bytea`.
    public func bytes(_ name: String) -> [UInt8]? {
        guard let text = self[name], text.hasPrefix("\\x") else { return nil }
        var bytes: [UInt8] = []
        var high: UInt8?
        for unit in text.utf8.dropFirst(2) {
            guard let nibble = Self.nibble(unit) else { return nil }
            if let first = high {
                bytes.append(first << 4 | nibble)
                high = nil
            } else {
                high = nibble
            }
        }
        return high == nil ? bytes : nil
    }

    private static func nibble(_ unit: UInt8) -> UInt8? {
        switch unit {
        case 0x30...0x39: unit - 0x30
        case 0x61...0x66: unit - 0x57
        default: nil
        }
    }
}

/// What a statement brought.
public struct Rows: Equatable, Sendable, RandomAccessCollection {
    let rows: [Row]
    /// Rows that were inserted, changed or deleted; 0 for a query.
    public let changed: Int

    public var startIndex: Int { rows.startIndex }
    public var endIndex: Int { rows.endIndex }
    public subscript(index: Int) -> Row { rows[index] }
}
