// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Glibc
import Linux
import Settings

/// The key that `file` or `credential` of a table names, the latter in systemd's `$CREDENTIALS_DIRECTORY`.
struct SecretFile {
    private let file: String?
    private let credential: String?
    /// Longest key there can be, in bytes.
    private static let longest = 16 * 1_024

    /// The setting that is there, for errors.
    var setting: String { file == nil ? "credential" : "file" }

    init(_ table: inout ConfigurationTable) {
        file = table.absolutePath("file")
        credential = table.text("credential")
    }

    func read(_ table: ConfigurationTable) throws(ConfigurationError) -> SecretBytes {
        let path = try path(table)
        let secret: SecretBytes?
        do throws(SystemError) { secret = try SecretFile.protected(path) } catch {
            throw ConfigurationError(
                table.name(of: setting), "names a key that cannot be read", remedy: "check its name and permissions",
                isUnreadable: true)
        }
        guard let secret else {
            throw table.wrong(setting, "names a key that everybody can read", "run chmod o= on it")
        }
        return secret
    }

    private func path(_ table: ConfigurationTable) throws(ConfigurationError) -> String {
        switch (file, credential) {
        case (let file?, nil): return table.host.root + file
        case (nil, let name?):
            guard let credentials = table.host.credentials, !name.contains("/") else {
                throw ConfigurationError(
                    table.name(of: "credential"), "cannot be found",
                    remedy: "add LoadCredential=\(name) to nfc-tapd.service", isUnreadable: !name.contains("/"))
            }
            return "\(credentials)/\(name)"
        case (nil, nil), (.some, .some):
            throw table.wrong("file", "is not the only source of the key", "write either file or credential")
        }
    }

    /// `nil` where others than owner and group have rights to the file.
    private static func protected(_ path: String) throws(SystemError) -> SecretBytes? {
        let file = try Descriptor.reading(path)
        guard try file.status().mode & 0o007 == 0 else { return nil }
        let secret = try SecretBytes(capacity: 4_096) { (writer) throws(SystemError) in
            try file.readSecret(atMost: longest) { writer.append($0) }
        }
        guard secret.count > 0 else { throw SystemError(code: ENODATA) }
        return secret
    }
}
