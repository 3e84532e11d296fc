// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMVCrypto
import Settings

extension ConfigurationFile {
    /// `[deny-list]`: accounts that this merchant refuses, by keyed hashes.
    ///
    /// - Returns: `nil` where the table is missing or wrong.
    static func denied(_ top: inout ConfigurationTable) -> DenyList? {
        guard top.has("deny-list") else { return nil }
        var table = top.subtable("deny-list")
        let path = table.absolutePath("entries")
        let key = SecretFile(&table)
        table.finish()
        guard let path else {
            return table.report("entries", "is missing", "name the file with the entries, 64 hexadecimal digits a line")
        }
        return table.attempt { () throws(ConfigurationError) in
            let entries = try entries(of: path, table)
            guard let list = DenyList(key: try key.read(table), entries: entries) else {
                throw table.wrong(
                    key.setting, "names a key that is too short",
                    "make one of \(DenyList.shortestKey) bytes: openssl rand \(DenyList.shortestKey)")
            }
            return list
        }
    }

    /// A result of HMAC-SHA-256 a line, in hexadecimal digits; lines that begin with # and empty ones do not count.
    private static func entries(of path: String, _ table: ConfigurationTable) throws(ConfigurationError) -> Set<[UInt8]>
    {
        var entries: Set<[UInt8]> = []
        let lines = try table.contents(of: path, for: "entries").split(
            separator: 0x0A, omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let text = String(decoding: line, as: UTF8.self)[...].trimmed
            if text.isEmpty || text.hasPrefix("#") { continue }
            let entry: [UInt8]?
            do throws(HexError) { entry = try Hex.bytes(text) } catch { entry = nil }
            guard let entry, entry.count == DenyList.entryLength else {
                throw table.wrong(
                    "entries", "names a file whose line \(index + 1) does not have 64 hexadecimal digits",
                    "correct \(path)")
            }
            entries.insert(entry)
        }
        return entries
    }
}
