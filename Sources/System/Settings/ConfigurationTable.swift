// SPDX-License-Identifier: Apache-2.0
import Linux
import TOMLKit

/// One table of the configuration file, asked for key after key. A key that nobody asked for is an error, so that a typo
/// never goes unnoticed.
///
/// What is wrong is collected for the whole file: a value that cannot be used is reported, and then as if it were not
/// there.
package struct ConfigurationTable {
    /// What all tables of a file share.
    private final class Reading {
        let host: ConfigurationHost
        let text: String
        /// What is wrong with the file.
        var faults: [ConfigurationError] = []
        /// What the file says by a former name.
        var formerNames: [ConfigurationError] = []

        init(_ text: String, _ host: ConfigurationHost) {
            self.text = text
            self.host = host
        }
    }

    private let table: TOMLTable?
    private let path: String
    private let reading: Reading
    private var known: Set<String> = []
    /// Names that are read and that nobody is told to write.
    private var former: Set<String> = []

    private init(_ table: TOMLTable?, path: String, _ reading: Reading) {
        self.table = table
        self.path = path
        self.reading = reading
    }

    /// The whole file.
    ///
    /// - Throws: where in the text it is no TOML.
    package init(file: String, text: String, host: ConfigurationHost) throws(ConfigurationError) {
        do {
            self.init(try TOMLTable(string: text), path: "", Reading(text, host))
        } catch let error as TOMLParseError {
            var wrong = ConfigurationError(
                file, "not TOML at \(error.source.begin.debugDescription)", remedy: "correct that line")
            wrong.line = Int(exactly: error.source.begin.line)
            throw wrong
        } catch {
            throw ConfigurationError(file, "not TOML", remedy: "see docs/examples/nfc-tapd.toml")
        }
    }

    /// The machine that the file is read for.
    package var host: ConfigurationHost { reading.host }

    /// What is wrong with the whole file so far, in the order of reading.
    package var faults: [ConfigurationError] { reading.faults }

    /// Settings of the whole file that stand there by a former name, in the order of reading. None of them is a fault.
    package var formerNames: [ConfigurationError] { reading.formerNames }

    /// The name by which a setting is there: its own, or the one that it had before.
    package mutating func name(of key: String, formerly old: String) -> String {
        guard table?[old] != nil else { return key }
        former.insert(old)
        guard table?[key] == nil else {
            report(old, "is the former name of \(key), which is there too", "remove \(old)")
            return key
        }
        var note = wrong(old, "is the former name of \(key)", "write \(key)")
        note.line = ConfigurationPosition.line(of: note.key, in: reading.text)
        reading.formerNames.append(note)
        return old
    }

    /// Whether the key is there, whatever its value.
    package mutating func has(_ key: String) -> Bool { value(key) != nil }

    /// The keys that are there, in alphabetical order.
    package var keys: [String] { (table?.keys ?? []).sorted() }

    package func name(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    package mutating func text(_ key: String) -> String? {
        guard let value = value(key) else { return nil }
        guard let text = value.string, !text.isEmpty else { return report(key, "is no text", "write it in quotes") }
        return text
    }

    /// A path that does not depend on the folder the daemon was started in.
    package mutating func absolutePath(_ key: String) -> String? {
        guard let text = text(key) else { return nil }
        guard text.hasPrefix("/") else { return report(key, "is no absolute path", "begin it with /") }
        return text
    }

    /// A list of texts; empty where there is none.
    package mutating func texts(_ key: String) -> [String] {
        guard let value = value(key) else { return [] }
        guard let array = value.array else { return report(key, "is no list", "write it in square brackets") ?? [] }
        var texts: [String] = []
        for index in 0..<array.count {
            guard let text = array[index].string, !text.isEmpty else {
                return report(key, "has an entry that is not text", "write each in quotes") ?? []
            }
            texts.append(text)
        }
        return texts
    }

    /// `nil` where the key is not there.
    package mutating func flag(_ key: String) -> Bool? {
        guard let value = value(key) else { return nil }
        guard let flag = value.bool else { return report(key, "is neither true nor false", "write it without quotes") }
        return flag
    }

    /// Text, or a number in its place.
    package mutating func nameOrNumber(_ key: String) -> String? { value(key)?.int.map(String.init) ?? text(key) }

    /// A group by its name or number; `nil` where the key is not there, or what it names does not exist.
    package mutating func group(_ key: String) -> UInt32? {
        guard let text = nameOrNumber(key) else { return nil }
        // The largest number stands for no group in chown(2).
        if let number = UInt32(text) ?? host.groupNumber(text), number != .max { return number }
        let remedy = Int(text) == nil ? "create it: groupadd -r \(text)" : "write its name or number"
        return report(key, "names a group that does not exist", remedy)
    }

    package mutating func number(_ key: String, in range: ClosedRange<Int>) -> Int? {
        guard let value = value(key) else { return nil }
        guard let number = value.int, range.contains(number) else {
            return report(
                key, "is not a whole number from \(range.lowerBound) to \(range.upperBound)", "write one without quotes"
            )
        }
        return number
    }

    package mutating func subtable(_ key: String) -> ConfigurationTable {
        let table = value(key).flatMap { value in
            value.table ?? report(key, "is no table", "write [\(name(of: key))]")
        }
        return ConfigurationTable(table, path: name(of: key), reading)
    }

    package mutating func subtables(_ key: String) -> [ConfigurationTable] {
        guard let value = value(key) else { return [] }
        let tables = value.array.map { array in (0..<array.count).map { array[$0].table } }
        guard let tables, tables.allSatisfy({ $0 != nil }) else {
            return report(key, "is no list of tables", "write [[\(name(of: key))]]") ?? []
        }
        return tables.enumerated().map { index, table in
            ConfigurationTable(table, path: "\(name(of: key))[\(index)]", reading)
        }
    }

    /// Reports every key that nobody asked for.
    package func finish() {
        let wanted = known.subtracting(former)
        for unknown in keys where !known.contains(unknown) && !former.contains(unknown) {
            report(
                ConfigurationError(
                    name(of: unknown), "is no setting",
                    remedy: wanted.isEmpty ? "remove it" : "use one of \(wanted.sorted().joined(separator: ", "))"))
        }
    }

    /// Reports what is wrong with a setting.
    ///
    /// - Returns: `nil`, for a setting that counts as missing then.
    package func report<Value>(_ key: String, _ problem: String, _ remedy: String) -> Value? {
        report(wrong(key, problem, remedy))
        return nil
    }

    /// The same without a value.
    package func report(_ key: String, _ problem: String, _ remedy: String) { report(wrong(key, problem, remedy)) }

    /// Only the first thing that is wrong with a setting: others follow from it. It gets the line of the setting.
    package func report(_ error: ConfigurationError) {
        guard !reading.faults.contains(where: { $0.key == error.key }) else { return }
        var error = error
        error.line = error.line ?? ConfigurationPosition.line(of: error.key, in: reading.text)
        reading.faults.append(error)
    }

    /// What `body` makes; where it cannot, that is reported.
    package func attempt<Value>(_ body: () throws(ConfigurationError) -> Value) -> Value? {
        do throws(ConfigurationError) { return try body() } catch {
            report(error)
            return nil
        }
    }

    package func wrong(_ key: String, _ problem: String, _ remedy: String) -> ConfigurationError {
        ConfigurationError(name(of: key), problem, remedy: remedy)
    }

    /// What the file holds that a setting names.
    package func contents(of path: String, for key: String) throws(ConfigurationError) -> [UInt8] {
        guard let contents = host.contents(path) else {
            throw ConfigurationError(
                name(of: key), "names a file that cannot be read", remedy: "check its name and permissions",
                isUnreadable: true)
        }
        return contents
    }

    private mutating func value(_ key: String) -> (any TOMLValueConvertible)? {
        known.insert(key)
        return table?[key]
    }
}
