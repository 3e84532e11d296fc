// SPDX-License-Identifier: Apache-2.0
package import Linux
public import Settings

/// The configuration file of `nfc-tap-gateway`, in TOML. Every key may be missing.
public struct GatewayFile: Sendable {
    /// The daemon's socket for points of sale.
    public var socket = "/run/nfc-tap/pos.sock"
    /// Where it listens, if the service manager has handed no sockets over. Loopback only.
    package var listen: [TCPAddress] = []
    /// Names by which a reverse proxy on this machine is reached: `pos.shop.example`, `pos.shop.example:8443`.
    public var hosts: Set<String> = []
    /// Pages of others that may use the gateway, as their browsers name them: `https://pos.example`.
    public var origins: Set<String> = []
    /// The folder of its own pages.
    public var pages = "/usr/share/nfc-tap/till"
    /// Requests of one till in a second.
    public var requestsPerSecond = 10
    /// New transactions of one till in a second.
    public var createsPerSecond = 1

    package static let port = 8716

    public init() {
        listen = ["127.0.0.1:\(Self.port)", "[::1]:\(Self.port)"].compactMap { TCPAddress($0) }
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
        self.init()
        var top = try ConfigurationTable(file: file, text: text, host: host)
        if let socket = top.absolutePath("socket") { self.socket = socket }
        if let pages = top.absolutePath("pages") { self.pages = pages }
        if top.has("listen") { listen = top.texts("listen").compactMap { Self.address($0, &top) } }
        hosts = Set(top.texts("hosts"))
        if let wrong = hosts.first(where: { !Self.isHost($0) }) {
            top.report(
                "hosts", "has \(wrong), which is no name in lower case", "write it as browsers do: pos.shop.example")
        }
        origins = Set(top.texts("origins"))
        if let wrong = origins.first(where: { !Self.isOrigin($0) }) {
            top.report(
                "origins", "has \(wrong), which is no origin",
                "write scheme and name only: https://pos.example, without a slash, * or the usual port; http for this machine only"
            )
        }
        requestsPerSecond = top.number("requests-per-second", in: 1...1_000) ?? requestsPerSecond
        createsPerSecond = top.number("creates-per-second", in: 1...1_000) ?? createsPerSecond
        top.finish()
        if let first = top.faults.first { throw first }
    }

    private static func address(_ text: String, _ table: inout ConfigurationTable) -> TCPAddress? {
        guard let address = TCPAddress(text) else {
            return table.report("listen", "has \(text), which is no address with a port", "write 127.0.0.1:\(port)")
        }
        guard address.isLoopback else { return table.report("listen", beyondLoopback.problem, beyondLoopback.remedy) }
        return address
    }

    /// What is wrong with an address that other machines reach: tokens would cross the network in the clear.
    package static let beyondLoopback = (
        problem: "is reached from other machines, and there is no TLS here",
        remedy: "listen on 127.0.0.1 and put a reverse proxy with TLS before it, see docs/integrating/gateway.md"
    )

    /// Whether a page can have this origin: scheme, name in lower case and a port that is not the usual one (RFC 6454 §6.1).
    /// Plain HTTP on this machine only: elsewhere anybody on the way could be the page.
    package static func isOrigin(_ text: String) -> Bool {
        let (host, usual): (Substring, String)
        if text.hasPrefix("https://") {
            (host, usual) = (text.dropFirst(8), ":443")
        } else if text.hasPrefix("http://") {
            (host, usual) = (text.dropFirst(7), ":80")
            let name = String(host.prefix { $0 != ":" })
            let isAddress = TCPAddress.normalized(host: name) == name && TCPAddress.isLoopback(name)
            guard name == "localhost" || isAddress || host.hasPrefix("[::1]") else { return false }
        } else {
            return false
        }
        return isHost(String(host)) && !host.hasSuffix(usual)
    }

    /// A name or an address in lower case, with a port or without.
    package static func isHost(_ text: String) -> Bool {
        guard (1...255).contains(text.utf8.count) else { return false }
        var name = Substring(text)
        if let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") {
            let port = text[text.index(after: colon)...]
            guard let number = UInt16(port), number > 0, String(number) == port else { return false }
            name = text[..<colon]
        }
        if name.hasPrefix("[") {
            guard name.hasSuffix("]") else { return false }
            let bare = String(name.dropFirst().dropLast())
            return bare.contains(":") && TCPAddress.normalized(host: bare) == bare
        }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        return labels.allSatisfy { label in
            !label.isEmpty && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D }
        }
    }
}
