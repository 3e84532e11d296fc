// SPDX-License-Identifier: Apache-2.0
import Envelope
import Hub
import PaymentValues
public import Settings
import StrictJSON

/// The configuration file of `nfc-tap-remote`, in TOML: `[[backend]]` for each that is asked, `[[sender]]` for each who may order.
public struct RemoteFile: Sendable {
    public struct Backend: Sendable {
        /// 1 to 25 small letters, digits and dashes: the name of its ledger, and of it in the log.
        public var name: String
        /// Of a proxy on this machine, which finds the backend and adds TLS.
        public var socket: String
        /// For the field Host.
        public var authority: String
        /// Where polls and results go: `/nfc-tap/`.
        package var path: String
        package var token: String?
        /// Seconds that the backend may leave a poll open.
        package var wait: Int
        package var senders: [OrderSender] = []
    }

    /// The daemon's socket for points of sale.
    public var socket = "/run/nfc-tap/pos.sock"
    /// Where the ledgers are.
    public var directory = Self.ownDirectory
    /// As the unit makes it.
    private static let ownDirectory = "/var/lib/nfc-tap-remote"
    /// Where it says how it goes.
    public var status = "/run/nfc-tap-remote/status.json"
    public var backends: [Backend] = []

    /// What keeps the ledgers from being written, and what to do; `nil` where nothing is to be seen.
    public var folderFault: String? {
        StateFolder.fault(
            directory, files: backends.map { BackendPort.ledger(of: $0.name) },
            isMadeByUnit: directory == Self.ownDirectory)
    }

    /// - Throws: the first thing that is wrong, with what to do about it.
    public init(path: String, host: ConfigurationHost = ConfigurationHost()) throws(ConfigurationError) {
        try self.init(file: path, text: try host.text(of: path), host: host)
    }

    /// - Parameter file: name of the file, for errors.
    /// - Throws: the first thing that is wrong, with what to do about it.
    public init(
        file: String, text: String, host: ConfigurationHost = ConfigurationHost()
    ) throws(ConfigurationError) {
        var top = try ConfigurationTable(file: file, text: text, host: host)
        if let socket = top.absolutePath("socket") { self.socket = socket }
        if let directory = top.absolutePath("directory") { self.directory = directory }
        if let status = top.absolutePath("status") { self.status = status }
        let entries = top.subtables("backend")
        if entries.isEmpty {
            top.report("backend", "is missing", "write [[backend]] with name, socket and authority")
        }
        for (index, var entry) in entries.enumerated() {
            if let backend = Backend(&entry) {
                if backends.contains(where: { $0.name == backend.name }) {
                    top.report("backend[\(index)].name", "is used twice", "give every backend a name of its own")
                }
                backends.append(backend)
            }
            entry.finish()
        }
        let senders = top.subtables("sender")
        if senders.isEmpty { top.report("sender", "is missing", "write [[sender]] with name, keys, lanes and limits") }
        for (index, var entry) in senders.enumerated() {
            readSender(&entry, "sender[\(index)]", &top)
            entry.finish()
        }
        for (index, backend) in backends.enumerated() where backend.senders.isEmpty && !senders.isEmpty {
            top.report(
                "backend[\(index)].name", "has no sender", "write backend = \"\(backend.name)\" into an [[sender]]")
        }
        top.finish()
        if let first = top.faults.first { throw first }
    }

    private mutating func readSender(_ table: inout ConfigurationTable, _ path: String, _ top: inout ConfigurationTable)
    {
        let name = table.text("backend") ?? (backends.count == 1 ? backends[0].name : "")
        let index = backends.firstIndex { $0.name == name }
        if index == nil { table.report("backend", "names no backend", "write the name of a [[backend]]") }
        let till = "remote-" + (table.text("till") ?? name)
        if TillName(till) == nil {
            table.report("till", "is not 1 to 25 small letters, digits and dashes", "write till = \"kiosks\"")
        }
        guard let sender = OrderSender(&table, till: till), let index else { return }
        let all = backends.flatMap(\.senders)
        if all.contains(where: { $0.name == sender.name }) {
            top.report("\(path).name", "is used twice", "write each sender once")
        }
        if all.contains(where: { $0.till == sender.till }) {
            // Ids of two senders would be one payment at the daemon.
            top.report("\(path).till", "is another sender's", "write till = \"…\" with a name of its own")
        }
        backends[index].senders.append(sender)
    }
}

extension RemoteFile.Backend {
    fileprivate init?(_ table: inout ConfigurationTable) {
        let name = table.text("name") ?? ""
        if TillName("remote-\(name)") == nil {
            table.report("name", "is missing or not 1 to 25 small letters, digits and dashes", "write name = \"shop\"")
        }
        let socket = table.absolutePath("socket")
        if socket == nil {
            table.report("socket", "is missing", "name the socket of a proxy on this machine that adds TLS")
        }
        let authority = table.text("authority") ?? ""
        if !authority.isPlainText {
            table.report("authority", "is missing or no host", "write authority = \"pos.example\"")
        }
        let path = table.text("path") ?? "/nfc-tap/"
        if !path.hasPrefix("/") || !path.hasSuffix("/") || !path.isPlainText || path.contains("?") {
            table.report("path", "does not begin and end with /", "write path = \"/nfc-tap/\"")
        }
        let token = table.secret("token")
        if let token, !token.isPlainText {
            table.report(
                "token", "names a file with other characters than visible ASCII", "write the token alone into it")
        }
        let wait = table.number("wait", in: 1...25) ?? 25
        guard let socket else { return nil }
        self.init(name: name, socket: socket, authority: authority, path: path, token: token, wait: wait)
    }
}

extension OrderSender {
    fileprivate init?(_ table: inout ConfigurationTable, till: String) {
        let name = table.text("name") ?? ""
        if !name.isPlainText || name.utf8.count > 256 {
            table.report("name", "is missing or not visible ASCII", "write iss as the backend has it in its orders")
        }
        let lanes = table.texts("lanes")
        if lanes.isEmpty || !lanes.allSatisfy({ $0.isReference(upTo: 32) }) {
            table.report(
                "lanes", "is missing or not a list of lanes", "name lanes of nfc-tapd.toml: lanes = [\"kiosk\"]")
        }
        let types = table.texts("types")
        let known = ["purchase", "verification"]
        if !types.allSatisfy(known.contains) {
            table.report("types", "has an entry that is not possible", "write some of \(known.joined(separator: ", "))")
        }
        let limits = table.limits("limits")
        if limits.isEmpty {
            table.report("limits", "is missing", "write the most for one payment: limits = { EUR = 5000 }")
        }
        let day = table.limits("limit-day")
        if let unknown = day.keys.sorted().first(where: { limits[$0] == nil }) {
            table.report("limit-day", "has \(unknown), which limits has not", "write it in both")
        }
        let telling = table.text("tell").map { text in
            Telling(rawValue: text) ?? table.report("tell", "is unknown", "write outcome or transaction")
        }
        let keys = Self.keys(&table)
        guard let keys else { return nil }
        self.init(name: name, till: till, keys: keys, lanes: Set(lanes), limits: limits)
        if !types.isEmpty { self.types = Set(types) }
        dayLimits = day
        self.telling = telling.flatMap { $0 } ?? .outcome
    }

    /// Up to four public keys of a JWKS (RFC 7517 §5), each with its `kid`.
    private static func keys(_ table: inout ConfigurationTable) -> [VerificationKey]? {
        guard let path = table.absolutePath("keys") else {
            return table.report("keys", "is missing", "name a file with the sender's public keys, a JWKS")
        }
        return table.attempt { () throws(ConfigurationError) in
            let bytes = try table.contents(of: path, for: "keys")
            guard let keys = keys(in: bytes), (1...4).contains(keys.count), Set(keys.map(\.keyID)).count == keys.count
            else {
                throw table.wrong(
                    "keys",
                    "names a file that has no JWKS with 1 to 4 public keys on P-256, each with a kid of its own",
                    "write {\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":…,\"x\":…,\"y\":…}]}")
            }
            return keys
        }
    }

    private static func keys(in bytes: [UInt8]) -> [VerificationKey]? {
        let span = bytes.span
        guard let index = try? JSONIndex(span), let list = index.index(of: "keys", in: 0, span) else { return nil }
        var keys: [VerificationKey] = []
        for child in index.children(of: list) {
            guard index.index(of: "kid", in: child, span) != nil,
                let key = try? VerificationKey(jwk: Array(bytes[index.nodes[child].value]))
            else { return nil }
            keys.append(key)
        }
        return keys
    }
}

extension ConfigurationTable {
    /// Amounts in minor units, by currency.
    fileprivate mutating func limits(_ key: String) -> [String: Int64] {
        guard has(key) else { return [:] }
        var table = subtable(key)
        var limits: [String: Int64] = [:]
        for code in table.keys {
            if Currency(code) == nil { report("\(key).\(code)", "is no currency", "write a code of ISO 4217") }
            guard let most = table.number(code, in: 1...999_999_999_999) else { continue }
            limits[code] = Int64(most)
        }
        return limits
    }

    /// A text in a file, without what stands around it.
    fileprivate mutating func secret(_ key: String) -> String? {
        guard let path = absolutePath(key) else { return nil }
        let table = self
        return attempt { () throws(ConfigurationError) in
            let text = String(decoding: try table.contents(of: path, for: key), as: UTF8.self)
            let trimmed = text.drop { $0.isWhitespace }
            guard let end = trimmed.lastIndex(where: { !$0.isWhitespace }), trimmed.utf8.count <= 4_096 else {
                throw table.wrong(key, "names a file that is empty or long", "write the secret alone into it")
            }
            return String(trimmed[...end])
        }
    }
}

extension String {
    fileprivate var isPlainText: Bool { !isEmpty && utf8.allSatisfy { (0x21...0x7E).contains($0) } }
}
