import Glibc
import TOMLKit

/// One table of the configuration file, asked for key after key. A key that nobody asked for is an error, so that a typo
/// never goes unnoticed.
public struct ConfigurationTable {
    private let table: TOMLTable?
    private let path: String
    private var known: Set<String> = []

    init(_ table: TOMLTable?, path: String) {
        self.table = table
        self.path = path
    }

    /// The whole file.
    ///
    /// - Throws: where in the text it is no TOML.
    public init(file: String, text: String) throws(ConfigurationError) {
        do {
            self.init(try TOMLTable(string: text), path: "")
        } catch let error as TOMLParseError {
            var wrong = ConfigurationError(
                file, "no TOML at \(error.source.begin.debugDescription)", remedy: "correct that line")
            wrong.line = Int(exactly: error.source.begin.line)
            throw wrong
        } catch {
            throw ConfigurationError(file, "no TOML", remedy: "see docs/examples/nfc-tapd.toml")
        }
    }

    /// Whether the key is there, whatever its value.
    public mutating func has(_ key: String) -> Bool { value(key) != nil }

    /// The keys that are there, in alphabetical order.
    public var keys: [String] { (table?.keys ?? []).sorted() }

    public func name(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    public mutating func text(_ key: String) throws(ConfigurationError) -> String? {
        guard let value = value(key) else { return nil }
        guard let text = value.string, !text.isEmpty else { throw wrong(key, "is no text", "write it in quotes") }
        return text
    }

    /// A path that does not depend on the folder the daemon was started in.
    public mutating func absolutePath(_ key: String) throws(ConfigurationError) -> String? {
        guard let text = try text(key) else { return nil }
        guard text.hasPrefix("/") else { throw wrong(key, "is no absolute path", "begin it with /") }
        return text
    }

    /// A list of texts; empty where there is none.
    public mutating func texts(_ key: String) throws(ConfigurationError) -> [String] {
        guard let value = value(key) else { return [] }
        guard let array = value.array else { throw wrong(key, "is no list", "write it in square brackets") }
        var texts: [String] = []
        for index in 0..<array.count {
            guard let text = array[index].string, !text.isEmpty else {
                throw wrong(key, "has an entry that is no text", "write each in quotes")
            }
            texts.append(text)
        }
        return texts
    }

    public mutating func number(_ key: String, in range: ClosedRange<Int>) throws(ConfigurationError) -> Int? {
        guard let value = value(key) else { return nil }
        guard let number = value.int, range.contains(number) else {
            throw wrong(
                key, "is no whole number from \(range.lowerBound) to \(range.upperBound)", "write one without quotes")
        }
        return number
    }

    public mutating func subtable(_ key: String) throws(ConfigurationError) -> ConfigurationTable {
        guard let value = value(key) else { return ConfigurationTable(nil, path: name(of: key)) }
        guard let table = value.table else { throw wrong(key, "is no table", "write [\(name(of: key))]") }
        return ConfigurationTable(table, path: name(of: key))
    }

    public mutating func subtables(_ key: String) throws(ConfigurationError) -> [ConfigurationTable] {
        guard let value = value(key) else { return [] }
        guard let array = value.array else { throw wrong(key, "is no list of tables", "write [[\(name(of: key))]]") }
        var tables: [ConfigurationTable] = []
        for index in 0..<array.count {
            guard let table = array[index].table else {
                throw wrong(key, "is no list of tables", "write [[\(name(of: key))]]")
            }
            tables.append(ConfigurationTable(table, path: "\(name(of: key))[\(index)]"))
        }
        return tables
    }

    /// - Throws: for the first key, in alphabetical order, that nobody asked for.
    public func finish() throws(ConfigurationError) {
        let unknown = (table?.keys ?? []).filter { !known.contains($0) }.min()
        guard let unknown else { return }
        throw ConfigurationError(
            name(of: unknown), "is no setting",
            remedy: known.isEmpty ? "remove it" : "use one of \(known.sorted().joined(separator: ", "))")
    }

    public func wrong(_ key: String, _ problem: String, _ remedy: String) -> ConfigurationError {
        ConfigurationError(name(of: key), problem, remedy: remedy)
    }

    /// Up to 1 MiB of a file; `nil` where it cannot be read or is longer.
    public static func contents(_ path: String) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { _ = close(descriptor) }
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 * 1_024)
        while true {
            let count = unsafe read(descriptor, &piece, piece.count)
            if count == 0 { return all }
            guard count > 0, all.count + count <= 1_024 * 1_024 else { return nil }
            all += piece.prefix(count)
        }
    }

    private mutating func value(_ key: String) -> (any TOMLValueConvertible)? {
        known.insert(key)
        return table?[key]
    }
}
